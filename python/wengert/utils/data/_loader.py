"""Batches of a dataset, for a loop over epochs."""

from __future__ import annotations

import itertools
import math
import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sized
from functools import partial
from typing import Any, Generic, Literal, TypeVar, cast

from ._collating import default_collate, default_convert
from ._datasets import Dataset, IterableDataset
from ._fetching import EndOfData, Fetcher
from ._parallel import ParallelIterator
from ._processes import Processes
from ._samplers import BatchSampler, RandomSampler, SequentialSampler, drawn_seed
from ._threads import Threads
from ._worker import Plan

T_co = TypeVar("T_co", covariant=True)

_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class DataLoader(Generic[T_co]):
    """Iterates over the batches of a dataset, again and again.

    Parameters
    ----------
    dataset : Dataset
        Anything with ``__getitem__`` and ``__len__``, or an `IterableDataset`.
    batch_size : int or None, default 1
        Samples of a batch; None hands out samples as they are.
    shuffle : bool, optional
        Whether every iteration has its own random order.
    sampler : Sampler or iterable, optional
        Positions to load, in place of `shuffle`.
    batch_sampler : Sampler or iterable, optional
        Lists of positions, in place of `batch_size`, `shuffle`, `sampler` and `drop_last`.
    num_workers : int, default 0
        How many workers make batches ahead; with 0 the program makes each when it is asked for.
    collate_fn : callable, optional
        Makes a batch of a list of samples; `default_collate`, or `default_convert` without batches, if not given.
    pin_memory, pin_memory_device
        Accepted, without effect: all memory of the CPU is as good as pinned, see `Tensor.pin_memory`.
    drop_last : bool, default False
        Whether to leave out a last batch that is smaller.
    timeout : float, default 0
        Seconds to wait for a batch of a worker; 0 waits for ever.
    worker_init_fn : callable, optional
        Called in each worker with its number.
    multiprocessing_context : str or context, optional
        How to start processes, ``"fork"`` where there is fork. Other ways have to pickle the dataset.
    generator : Generator, optional
        What draws orders and the seeds of workers; the default one if not given.
    prefetch_factor : int, optional
        How many batches each worker makes ahead; 2 if not given.
    persistent_workers : bool, default False
        Whether workers stay from one iteration to the next.
    in_order : bool, default True
        Whether batches of several workers come in the order of the sampler, or as soon as they are made.
    workers : {"process", "thread"}
        Where workers run; PyTorch has processes only. A process has its own copy of the dataset and seeds
        ``wengert``, ``random`` and ``numpy.random`` with ``seed + number``; batches are copied on their way. Threads
        share the dataset and all generators with the program, start at once and copy nothing, but take turns where
        samples are made by Python itself.

    Raises
    ------
    ValueError
        If arguments exclude each other or are out of range.
    RuntimeError
        While iterating: if a worker dies, or `timeout` is over.
    Exception
        While iterating: what a worker has raised, of the same type, with the text of its traceback. The next batch
        can be asked for after that.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.utils.data import DataLoader, TensorDataset
    >>> x = wg.arange(5.0)
    >>> for inputs, targets in DataLoader(TensorDataset(x, x**2), batch_size=2):
    ...     print(inputs, targets)
    tensor([0., 1.]) tensor([0., 1.])
    tensor([2., 3.]) tensor([4., 9.])
    tensor([4.]) tensor([16.])
    """

    def __init__(
        self,
        dataset: Dataset[T_co] | Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
        workers: Literal["process", "thread"] = "process",
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers, workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = _checked_context(multiprocessing_context, num_workers)
        self.in_order = in_order
        self.workers = workers
        self.persistent_workers = persistent_workers
        self.generator = generator

        if isinstance(dataset, IterableDataset):
            _check_iterable(shuffle, sampler, batch_sampler)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")

        if sampler is None:
            if isinstance(dataset, IterableDataset):
                sampler = _Endless()
            elif shuffle:
                sampler = RandomSampler(cast(Sized, dataset), generator=generator)
            else:
                sampler = SequentialSampler(cast(Sized, dataset))
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate
        self.collate_fn = collate_fn
        self._iterator: ParallelIterator | None = None
        self._reported: int | None = None
        self._initialized = True
        _warn_if_too_many(num_workers)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED and vars(self).get("_initialized"):
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_iterator": None}

    def __iter__(self) -> Iterator[T_co]:
        seed = drawn_seed(self.generator)  # also where nobody needs it, so that the next draw is the same
        batches = self._parallel(seed) if self.num_workers else _Serial(self._make_fetcher(), self._positions)
        return _Counted(batches, self) if isinstance(self.dataset, IterableDataset) else batches

    def __len__(self) -> int:
        """How many batches an iteration has; of an iterable dataset with a length, how many it should have."""
        if not isinstance(self.dataset, IterableDataset):
            return len(self._positions)  # type: ignore[arg-type]
        length = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is not None:
            length = length // self.batch_size if self.drop_last else math.ceil(length / self.batch_size)
        self._reported = length
        return length

    @property
    def _positions(self) -> Iterable[Any]:
        """What to fetch, batch by batch or sample by sample."""
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    @property
    def _make_fetcher(self) -> Callable[[], Fetcher]:
        return partial(Fetcher, self.dataset, self.batch_sampler is not None, self.collate_fn, self.drop_last)

    def _parallel(self, seed: int) -> ParallelIterator:
        iterator = self._iterator
        if iterator is None or not iterator.stop.alive:
            plan = Plan(self.dataset, self._make_fetcher, self.worker_init_fn, self.num_workers, seed)
            workers = Threads(plan) if self.workers == "thread" else Processes(plan, self.multiprocessing_context)
            iterator = ParallelIterator(
                workers,
                self.num_workers,
                self.prefetch_factor or 1,
                self.timeout,
                self.in_order,
                self.persistent_workers,
            )
            self._iterator = iterator if self.persistent_workers else None
        iterator.start(self._positions)
        return iterator


class _Serial:
    """Batches that are made when they are asked for."""

    def __init__(self, fetcher: Fetcher, positions: Iterable[Any]) -> None:
        self.fetcher = fetcher
        self.positions = iter(positions)

    def __iter__(self) -> _Serial:
        return self

    def __next__(self) -> Any:
        try:
            return self.fetcher.fetch(next(self.positions))
        except EndOfData:
            raise StopIteration from None


class _Counted:
    """Batches of an iterable dataset, with a warning when there are more of them than its length said."""

    def __init__(self, batches: Iterator[Any], loader: DataLoader[Any]) -> None:
        self.batches = batches
        self.loader = loader
        self.count = 0
        self.warned = False

    def __iter__(self) -> _Counted:
        return self

    def __next__(self) -> Any:
        batch = next(self.batches)
        self.count += 1
        length = self.loader._reported
        if length is not None and not self.warned and self.count > length:
            self.warned = True
            message = (
                f"Length of IterableDataset {self.loader.dataset} was reported to be {length} batches (when accessing "
                f"len(dataloader)), but {self.count} have been fetched."
            )
            if self.loader.num_workers:
                message += " Each worker iterates over all of it unless its __iter__ asks get_worker_info()."
            warnings.warn(message, stacklevel=2)
        return batch


class _Endless:
    """Positions for an iterable dataset, which has none."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


def _check_workers(count: int, timeout: float, prefetch: int | None, persistent: bool, kind: str) -> None:
    if count < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing. "
            f"But got num_workers={count}"
        )
    if timeout < 0:
        raise ValueError(f"timeout option should be non-negative, but got timeout={timeout}")
    if count == 0 and prefetch is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing. "
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch is not None and prefetch < 1:
        raise ValueError(f"prefetch_factor option should be non-negative, and at least 1, but got {prefetch}")
    if persistent and count == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")
    if kind not in ("process", "thread"):
        raise ValueError(f"workers option should be 'process' or 'thread', but got workers={kind!r}")


def _check_iterable(shuffle: bool | None, sampler: Any, batch_sampler: Any) -> None:
    given = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
            )


def _checked_context(context: Any, num_workers: int) -> Any:
    """Return the multiprocessing context in which to start processes."""
    methods = multiprocessing.get_all_start_methods()
    if context is None:
        return multiprocessing.get_context("fork" if "fork" in methods else None)
    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > 0), "
            f"but got num_workers={num_workers}"
        )
    if isinstance(context, str):
        if context not in methods:
            raise ValueError(
                f"multiprocessing_context option should specify a valid start method in {methods!r}, "
                f"but got multiprocessing_context={context!r}"
            )
        return multiprocessing.get_context(context)
    if not isinstance(context, multiprocessing.context.BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string specifying the start method, "
            f"but got multiprocessing_context={context}"
        )
    return context


def _warn_if_too_many(num_workers: int) -> None:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if cores is not None and num_workers > cores:
        warnings.warn(
            f"This DataLoader will create {num_workers} worker processes in total. Our suggested max number of worker "
            f"in current system is {cores}, which is smaller than what this DataLoader is going to create: more "
            "workers than cores take turns, and take memory.",
            stacklevel=3,
        )
