"""The share of one of several programs that train together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sized

import wengert as wg

from ._samplers import Sampler


class DistributedSampler(Sampler[int]):
    """Every `num_replicas`-th position, from `rank` on; all replicas get equally many.

    Parameters
    ----------
    dataset : Dataset
        With a length.
    num_replicas : int, optional
        How many programs share the data; by default the ranks of the process group (`wengert.distributed`).
    rank : int, optional
        The number of this one, by default its rank.
    shuffle : bool, default True
        Whether to draw an order first, the same in all replicas: call `set_epoch` before each epoch.
    seed : int, default 0
        The same in all replicas.
    drop_last : bool, default False
        Whether to leave out samples that do not go up evenly, in place of repeating some from the beginning.

    Raises
    ------
    RuntimeError
        If `num_replicas` or `rank` is not given, and there is no process group.
    ValueError
        If `rank` is out of range.

    Examples
    --------
    >>> from wengert.utils.data import DistributedSampler
    >>> [list(DistributedSampler("abcde", num_replicas=2, rank=rank, shuffle=False)) for rank in (0, 1)]
    [[0, 2, 4], [1, 3, 0]]
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            if not wg.distributed.is_initialized():
                raise RuntimeError(
                    "Requires distributed package to be available: call wengert.distributed.init_process_group, or "
                    "give num_replicas and rank"
                )
            num_replicas = wg.distributed.get_world_size() if num_replicas is None else num_replicas
            rank = wg.distributed.get_rank() if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.shuffle = shuffle
        self.seed = seed
        self.drop_last = drop_last
        self.epoch = 0
        count = len(dataset)
        self.num_samples = count // num_replicas if drop_last else math.ceil(count / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        order = list(range(len(self.dataset)))
        if self.shuffle:
            generator = wg.Generator().manual_seed(self.seed + self.epoch)
            order = wg.randperm(len(self.dataset), generator=generator).tolist()
        while len(order) < self.total_size:
            order += order[: self.total_size - len(order)]
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of an epoch.

        Parameters
        ----------
        epoch : int
        """
        self.epoch = epoch
