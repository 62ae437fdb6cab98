"""Datasets: samples by position, or one after another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar

from wengert._C import Tensor

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Dataset(Generic[T_co]):
    """Samples that are found by position.

    A dataset defines ``__getitem__``, and ``__len__`` so that samplers know how many there are. It may define
    ``__getitems__(indices)``, which returns a list of samples, where many are found faster together. The sum of two
    datasets is a `ConcatDataset`.

    Examples
    --------
    >>> from wengert.utils.data import Dataset
    >>> class Squares(Dataset):
    ...     def __len__(self):
    ...         return 5
    ...     def __getitem__(self, index):
    ...         return index**2
    >>> (Squares() + Squares())[7]
    4
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError(f"{type(self).__name__} should define __getitem__")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset[Any]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co]):
    """Samples that come one after another, from a stream or a generator.

    A dataset defines ``__iter__``. With several workers each of them iterates over the whole dataset, so that
    ``__iter__`` has to choose the share of its worker, which `get_worker_info` tells. The sum of two is a
    `ChainDataset`.

    Examples
    --------
    >>> from wengert.utils.data import DataLoader, IterableDataset, get_worker_info
    >>> class Count(IterableDataset):
    ...     def __iter__(self):
    ...         worker = get_worker_info()
    ...         first, step = (0, 1) if worker is None else (worker.id, worker.num_workers)
    ...         return iter(range(first, 6, step))
    >>> [batch.tolist() for batch in DataLoader(Count(), batch_size=4)]
    [[0, 1, 2, 3], [4, 5]]
    >>> [batch.tolist() for batch in DataLoader(Count(), batch_size=2, num_workers=2, workers="thread")]
    [[0, 2], [1, 3], [4], [5]]
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError(f"{type(self).__name__} should define __iter__")

    def __add__(self, other: Dataset[Any]) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Tensors side by side: a sample is a tuple with an element of each, along their first dimension.

    Parameters
    ----------
    *tensors : Tensor
        Of one length.

    Raises
    ------
    AssertionError
        If their lengths differ.

    Examples
    --------
    >>> import wengert as wg
    >>> dataset = wg.utils.data.TensorDataset(wg.ones(3, 2), wg.arange(3))
    >>> dataset[1]
    (tensor([1., 1.]), tensor(1))
    """

    def __init__(self, *tensors: Tensor) -> None:
        if any(len(tensor) != len(tensors[0]) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors: " + ", ".join(str(len(tensor)) for tensor in tensors))
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class StackDataset(Dataset[Any]):
    """Datasets side by side: a sample is a tuple, or a dictionary, with a sample of each.

    Parameters
    ----------
    *args : Dataset
        Samples are tuples.
    **kwargs : Dataset
        Samples are dictionaries with these keys.

    Raises
    ------
    ValueError
        If there are none, some of both kinds, or their lengths differ.

    Examples
    --------
    >>> from wengert.utils.data import StackDataset
    >>> StackDataset(number=range(5), letter="abcde")[2]
    {'number': 2, 'letter': 'c'}
    """

    datasets: tuple[Any, ...] | dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError("Supported either tuples (via args) or dicts (via kwargs), but both types are given.")
        parts = args or tuple(kwargs.values())
        if not parts:
            raise ValueError("At least one dataset should be passed")
        self._length = len(parts[0])
        if any(len(part) != self._length for part in parts):
            raise ValueError("Size mismatch between datasets: " + ", ".join(str(len(part)) for part in parts))
        self.datasets = args or kwargs

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {key: dataset[index] for key, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        if isinstance(self.datasets, dict):
            columns = [many(dataset, indices) for dataset in self.datasets.values()]
            return [dict(zip(self.datasets, row, strict=True)) for row in zip(*columns, strict=True)]
        return list(zip(*(many(dataset, indices) for dataset in self.datasets), strict=True))

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T_co]):
    """Datasets one after another.

    Parameters
    ----------
    datasets : iterable of Dataset
        With lengths.

    Raises
    ------
    AssertionError
        If there are none, or one is an `IterableDataset`.

    Examples
    --------
    >>> from wengert.utils.data import ConcatDataset
    >>> dataset = ConcatDataset(["abc", "de"])
    >>> len(dataset), dataset[3], dataset[-1]
    (5, 'd', 'e')
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(accumulate(len(dataset) for dataset in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> T_co:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        which = bisect_right(self.cumulative_sizes, idx)
        if which == len(self.datasets):
            raise IndexError(f"index {idx} is out of range for a dataset of {len(self)} samples")
        sample: T_co = self.datasets[which][idx - (self.cumulative_sizes[which - 1] if which else 0)]
        return sample


class ChainDataset(IterableDataset[Any]):
    """Iterable datasets one after another.

    Parameters
    ----------
    datasets : iterable of IterableDataset

    Examples
    --------
    >>> from wengert.utils.data import ChainDataset, IterableDataset
    >>> class Letters(IterableDataset):
    ...     def __iter__(self):
    ...         return iter("ab")
    >>> list(ChainDataset([Letters(), Letters()]))
    ['a', 'b', 'a', 'b']
    """

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self._checked():
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self._checked())

    def _checked(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError(f"ChainDataset only supports IterableDataset, but got {type(dataset).__name__}")
            yield dataset


class Subset(Dataset[T_co]):
    """Some samples of a dataset.

    Parameters
    ----------
    dataset : Dataset
    indices : sequence of int
        Which ones.

    Raises
    ------
    NotImplementedError
        If a class that derives from it defines ``__getitem__`` but not ``__getitems__``, which loaders call.

    Examples
    --------
    >>> from wengert.utils.data import Subset
    >>> list(Subset("abcde", [4, 0]))
    ['e', 'a']
    """

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        cls = type(self)
        if cls.__getitem__ is not Subset.__getitem__ and cls.__getitems__ is Subset.__getitems__:
            raise NotImplementedError(
                f"{cls.__name__} overrides __getitem__ but not __getitems__, which loaders call; "
                "add: def __getitems__(self, indices): return [self[index] for index in indices]"
            )
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list[Any]:
        return many(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def many(dataset: Any, indices: list[Any]) -> list[Any]:
    """Return the samples at some positions, by one call if the dataset has one for that."""
    together = getattr(dataset, "__getitems__", None)
    if not callable(together):
        return [dataset[index] for index in indices]
    samples: list[Any] = together(indices)
    if len(samples) != len(indices):
        raise ValueError(
            f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(samples)} "
            f"from {type(dataset).__name__}.__getitems__"
        )
    return samples
