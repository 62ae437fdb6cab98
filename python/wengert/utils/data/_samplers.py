"""Samplers: in which order a loader asks for samples, and which ones make up a batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import Any, Generic, TypeVar

import wengert as wg

T_co = TypeVar("T_co", covariant=True)


class Sampler(Generic[T_co]):
    """Base class of samplers: what ``__iter__`` yields are positions in a dataset, or lists of them.

    Parameters
    ----------
    data_source : object, optional
        Not used; kept for old programs.

    Examples
    --------
    >>> from wengert.utils.data import DataLoader, Sampler
    >>> class Backwards(Sampler):
    ...     def __init__(self, dataset):
    ...         self.dataset = dataset
    ...     def __iter__(self):
    ...         return reversed(range(len(self.dataset)))
    >>> list(DataLoader("abc", sampler=Backwards("abc"), batch_size=None))
    ['c', 'b', 'a']
    """

    def __init__(self, data_source: Any = None) -> None: ...

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError(f"{type(self).__name__} should define __iter__")


class SequentialSampler(Sampler[int]):
    """One position after another.

    Parameters
    ----------
    data_source : Dataset
        With a length.

    Examples
    --------
    >>> from wengert.utils.data import SequentialSampler
    >>> list(SequentialSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Positions in a random order, drawn anew by every iteration.

    Parameters
    ----------
    data_source : Dataset
        With a length.
    replacement : bool, default False
        Whether a position may come again before all others have come.
    num_samples : int, optional
        How many to draw; as many as there are if not given.
    generator : Generator, optional
        What draws. If not given, each iteration seeds one of its own from the default generator.

    Raises
    ------
    TypeError
        If `replacement` is not a bool.
    ValueError
        If `num_samples`, or the length of the data, is not positive.

    Examples
    --------
    >>> import wengert as wg
    >>> sampler = wg.utils.data.RandomSampler("abc", generator=wg.Generator().manual_seed(0))
    >>> sorted(sampler)
    [0, 1, 2]
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Any = None,
    ) -> None:
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        _require_positive("num_samples", self.num_samples)

    @property
    def num_samples(self) -> int:
        """How many positions one iteration draws."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        generator = wg.Generator().manual_seed(drawn_seed(None)) if self.generator is None else self.generator
        size, left = len(self.data_source), self.num_samples
        while left > 0:  # with replacement in pieces, as a loop may stop long before the last
            if self.replacement:
                drawn = wg.randint(0, size, (min(left, 1024),), generator=generator)
            else:
                drawn = wg.randperm(size, generator=generator)[:left]
            yield from drawn.tolist()
            left -= len(drawn)

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Given positions in a random order, drawn anew by every iteration.

    Parameters
    ----------
    indices : sequence of int
    generator : Generator, optional
        What draws; the default one if not given.

    Examples
    --------
    >>> from wengert.utils.data import SubsetRandomSampler
    >>> sorted(SubsetRandomSampler([7, 3, 5]))
    [3, 5, 7]
    """

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for position in wg.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[position]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Positions that are drawn with given probabilities.

    Parameters
    ----------
    weights : sequence of float
        One for each position; they need not sum to 1.
    num_samples : int
        How many to draw.
    replacement : bool, default True
        Whether a position may come more than once.
    generator : Generator, optional
        What draws; the default one if not given.

    Raises
    ------
    ValueError
        If `num_samples` is not positive, `replacement` not a bool, or `weights` not one-dimensional.

    Examples
    --------
    >>> from wengert.utils.data import WeightedRandomSampler
    >>> list(WeightedRandomSampler([0.0, 1.0, 0.0], 4))
    [1, 1, 1, 1]
    """

    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True, generator: Any = None
    ) -> None:
        _require_positive("num_samples", num_samples)
        _require_bool("replacement", replacement)
        self.weights = wg.as_tensor(weights, dtype=wg.float64)
        if self.weights.dim() != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}"
            )
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = wg.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """The positions of another sampler in lists.

    Parameters
    ----------
    sampler : Sampler, or iterable
    batch_size : int
    drop_last : bool
        Whether to leave out a last list that is shorter.

    Raises
    ------
    ValueError
        If `batch_size` is not positive, or `drop_last` not a bool.

    Examples
    --------
    >>> from wengert.utils.data import BatchSampler
    >>> list(BatchSampler(range(8), batch_size=3, drop_last=False))
    [[0, 1, 2], [3, 4, 5], [6, 7]]
    """

    def __init__(self, sampler: Iterable[Any], batch_size: int, drop_last: bool) -> None:
        _require_positive("batch_size", batch_size)
        _require_bool("drop_last", drop_last)
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        positions = iter(self.sampler)
        while batch := list(islice(positions, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield batch

    def __len__(self) -> int:
        full, rest = divmod(len(self.sampler), self.batch_size)  # type: ignore[arg-type]
        return full + (rest > 0 and not self.drop_last)


def drawn_seed(generator: Any) -> int:
    """Draw a seed, from the default generator if none is given."""
    return int(wg.empty((), dtype=wg.int64).random_(generator=generator).item())


def _require_positive(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={value}")


def _require_bool(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{name} should be a boolean value, but got {name}={value}")
