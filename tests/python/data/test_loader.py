"""Loaders without workers, and their arguments."""

import pickle
from itertools import chain

import numpy as np
import pytest

import wengert as wg
from wengert.utils.data import BatchSampler, DataLoader, IterableDataset, TensorDataset


class Stream(IterableDataset):
    def __init__(self, size, claimed=None):
        self.size = size
        self.claimed = size if claimed is None else claimed

    def __iter__(self):
        return iter(range(self.size))

    def __len__(self):
        return self.claimed


def lists(loader):
    return [batch.tolist() for batch in loader]


@pytest.mark.parametrize(
    "dataset", [list(range(7)), np.arange(7), wg.arange(7), Stream(7)], ids=lambda d: type(d).__name__
)
def test_batches(dataset):
    assert lists(DataLoader(dataset, batch_size=3)) == [[0, 1, 2], [3, 4, 5], [6]]
    loader = DataLoader(dataset, batch_size=3, drop_last=True)
    assert lists(loader) == lists(loader) == [[0, 1, 2], [3, 4, 5]]
    assert len(loader) == 2
    assert len(DataLoader(dataset, batch_size=3)) == 3


def test_without_batches():
    assert list(DataLoader(["a", "b"], batch_size=None)) == ["a", "b"]
    (array,) = DataLoader([np.ones(2)], batch_size=None)
    assert array.tolist() == [1.0, 1.0]
    assert isinstance(array, wg.Tensor)
    assert list(DataLoader(Stream(3), batch_size=None)) == [0, 1, 2]
    assert len(DataLoader(Stream(3), batch_size=None)) == 3
    assert lists(DataLoader(wg.arange(5), batch_size=None, sampler=[[0, 2], [4]])) == [[0, 2], [4]]


def test_orders_of_the_users_own():
    assert lists(DataLoader(range(5), sampler=[4, 0], batch_size=2)) == [[4, 0]]
    assert lists(DataLoader(range(5), batch_sampler=[[1], [2, 3]])) == [[1], [2, 3]]
    assert len(DataLoader(range(5), batch_sampler=BatchSampler(range(5), 2, True))) == 2


def test_shuffling_is_reproducible():
    def epochs(seed):
        loader = DataLoader(range(20), batch_size=4, shuffle=True, generator=wg.Generator().manual_seed(seed))
        return lists(loader), lists(loader)

    first, second = epochs(0)
    assert first != second
    assert sorted(chain(*first)) == list(range(20))
    assert epochs(0) == (first, second)
    assert epochs(1) != (first, second)


def test_functions_that_make_batches():
    assert list(DataLoader("abcd", batch_size=2, collate_fn="".join)) == ["ab", "cd"]
    assert list(DataLoader("ab", batch_size=None, collate_fn=str.upper)) == ["A", "B"]


def test_an_error_does_not_end_the_iteration():
    def picky(batch):
        if 2 in batch:
            raise KeyError("two")
        return batch

    batches = iter(DataLoader(range(6), batch_size=2, collate_fn=picky))
    assert next(batches) == [0, 1]
    with pytest.raises(KeyError, match="two"):
        next(batches)
    assert next(batches) == [4, 5]
    with pytest.raises(StopIteration):
        next(batches)


def test_a_training_loop():
    x = wg.linspace(-1, 1, 32)
    dataset = TensorDataset(x, 3 * x + 1)
    weight, bias = (wg.zeros((), requires_grad=True) for _ in range(2))
    optimizer = wg.optim.Adam([weight, bias], lr=0.1)
    for _ in range(60):
        for inputs, targets in DataLoader(dataset, batch_size=8, shuffle=True):
            optimizer.zero_grad()
            ((weight * inputs + bias - targets) ** 2).mean().backward()
            optimizer.step()
    assert weight.item() == pytest.approx(3, abs=0.01)
    assert bias.item() == pytest.approx(1, abs=0.01)


def test_a_length_that_is_wrong():
    loader = DataLoader(Stream(5, claimed=2))
    assert sum(1 for _ in loader) == 5  # nobody has asked
    assert len(loader) == 2
    with pytest.warns(UserWarning, match="Length of IterableDataset .* was reported to be 2"):
        list(loader)


def test_attributes_that_stay():
    loader = DataLoader(range(4), batch_size=2)
    for name in ("batch_size", "sampler", "dataset", "drop_last", "batch_sampler", "persistent_workers"):
        with pytest.raises(ValueError, match=f"{name} attribute should not be set after DataLoader is initialized"):
            setattr(loader, name, None)
    loader.collate_fn = sum
    assert list(loader) == [1, 5]
    assert list(pickle.loads(pickle.dumps(loader))) == [1, 5]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_workers": -1}, "num_workers option should be non-negative"),
        ({"timeout": -1}, "timeout option should be non-negative"),
        ({"prefetch_factor": 2}, "prefetch_factor option could only be specified in multiprocessing"),
        ({"num_workers": 1, "prefetch_factor": 0}, "prefetch_factor option should be non-negative"),
        ({"persistent_workers": True}, "persistent_workers option needs num_workers > 0"),
        ({"workers": "goblins"}, "workers option should be 'process' or 'thread'"),
        ({"sampler": [0], "shuffle": True}, "sampler option is mutually exclusive with shuffle"),
        ({"batch_sampler": [[0]], "batch_size": 2}, "batch_sampler option is mutually exclusive"),
        ({"batch_size": None, "drop_last": True}, "batch_size=None option disables auto-batching"),
        ({"batch_size": 0}, "batch_size should be a positive integer"),
        ({"multiprocessing_context": "fork"}, "multiprocessing_context can only be used with multi-process loading"),
        ({"num_workers": 1, "multiprocessing_context": "x"}, "should specify a valid start method"),
    ],
    ids=str,
)
def test_arguments_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        DataLoader(range(3), **options)


def test_more_arguments_are_checked():
    with pytest.raises(TypeError, match="multiprocessing_context option should be a valid context object"):
        DataLoader(range(3), num_workers=1, multiprocessing_context=3)
    for options in ({"shuffle": True}, {"sampler": [0]}, {"batch_sampler": [[0]]}):
        (name,) = options
        with pytest.raises(ValueError, match=f"DataLoader with IterableDataset: expected unspecified {name} option"):
            DataLoader(Stream(3), **options)
    with pytest.warns(UserWarning, match="This DataLoader will create 9999 worker processes"):
        DataLoader(range(3), num_workers=9999)
