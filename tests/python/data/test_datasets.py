"""Datasets, samplers and what makes batches, without workers."""

from collections import Counter, OrderedDict, UserDict, UserList
from itertools import chain
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wengert as wg
from wengert.utils.data import (
    BatchSampler,
    ChainDataset,
    ConcatDataset,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    default_convert,
    random_split,
)


class Stream(IterableDataset):
    def __init__(self, letters):
        self.letters = letters

    def __iter__(self):
        return iter(self.letters)

    def __len__(self):
        return len(self.letters)


class Together(Dataset):
    """Counts how often samples are asked for together."""

    calls = 0

    def __len__(self):
        return 4

    def __getitem__(self, index):
        raise AssertionError("one by one")

    def __getitems__(self, indices):
        self.calls += 1
        return [index * 10 for index in indices]


def test_tensors_side_by_side():
    dataset = TensorDataset(wg.arange(3), wg.ones(3, 2))
    assert len(dataset) == 3
    number, row = dataset[2]
    assert (number.item(), row.tolist()) == (2, [1.0, 1.0])
    with pytest.raises(AssertionError, match="Size mismatch between tensors: 3, 2"):
        TensorDataset(wg.arange(3), wg.arange(2))


def test_stacks():
    assert StackDataset("abc", range(3))[1] == ("b", 1)
    stack = StackDataset(a=Together(), b=range(4))
    assert stack.__getitems__([3, 1]) == [{"a": 30, "b": 3}, {"a": 10, "b": 1}]
    assert StackDataset(Together(), range(4)).__getitems__([2]) == [(20, 2)]
    for arguments, message in (((), "At least one"), (("ab", "abc"), "Size mismatch")):
        with pytest.raises(ValueError, match=message):
            StackDataset(*arguments)
    with pytest.raises(ValueError, match="both types are given"):
        StackDataset("ab", b="ab")


@given(st.lists(st.integers(0, 4), min_size=1, max_size=5))
def test_concatenations_are_those_of_lists(sizes):
    parts = [list(range(10 * i, 10 * i + size)) for i, size in enumerate(sizes)]
    everything, dataset = list(chain(*parts)), ConcatDataset(parts)
    assert len(dataset) == len(everything)
    for index in range(-len(everything), len(everything)):
        assert dataset[index] == everything[index]
    with pytest.raises(IndexError):
        dataset[len(everything)]
    with pytest.raises(ValueError, match="should not exceed"):
        dataset[-len(everything) - 1]


def test_sums():
    first, second = Together(), TensorDataset(wg.arange(2))
    assert isinstance(first + second, ConcatDataset)
    chain = Stream("ab") + Stream("c")
    assert isinstance(chain, ChainDataset)
    assert (list(chain), len(chain)) == (["a", "b", "c"], 3)
    with pytest.raises(AssertionError, match="does not support IterableDataset"):
        ConcatDataset([Stream("ab")])
    with pytest.raises(AssertionError, match="only supports IterableDataset"):
        list(ChainDataset(["ab"]))
    with pytest.raises(AssertionError, match="empty iterable"):
        ConcatDataset([])


def test_subsets():
    dataset = Together()
    subset = Subset(Subset(dataset, [3, 2, 1]), [0, 2])
    assert subset.__getitems__([1, 0]) == [10, 30]
    assert dataset.calls == 1
    assert Subset(np.arange(4) * 2, [3, 1])[[1, 0]].tolist() == [2, 6]

    class Half(Subset):
        def __getitem__(self, index):
            return 0

    with pytest.raises(NotImplementedError, match="overrides __getitem__ but not __getitems__"):
        Half("abc", [0])


@given(st.integers(0, 20), st.lists(st.floats(0.01, 1), min_size=1, max_size=4))
@pytest.mark.filterwarnings("ignore:Length of split")
def test_splits_take_every_sample_once(size, weights):
    shares = [weight / sum(weights) for weight in weights]
    shares[-1] = max(0.0, 1 - sum(shares[:-1]))
    parts = random_split(range(size), shares, generator=wg.Generator().manual_seed(1))
    assert sorted(sample for part in parts for sample in part) == list(range(size))
    for part, share in zip(parts, shares, strict=True):
        assert abs(len(part) - size * share) <= 1


def test_splits_by_length():
    generator = wg.Generator()
    first = random_split(range(10), [4, 6], generator.manual_seed(3))
    again = random_split(range(10), [4, 6], generator.manual_seed(3))
    assert [list(part) for part in first] == [list(part) for part in again]
    with pytest.raises(ValueError, match="Sum of input lengths"):
        random_split(range(10), [4, 5])
    with pytest.raises(ValueError, match="Fraction at index 0"):
        random_split(range(10), [-0.5, 1.5])
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        random_split(range(1), [0.5, 0.5])


def test_random_orders():
    def orders(**options):
        sampler = RandomSampler(range(50), generator=wg.Generator().manual_seed(5), **options)
        return list(sampler), list(sampler)

    first, second = orders()
    assert sorted(first) == sorted(second) == list(range(50))
    assert first != second
    assert orders() == (first, second)

    longer = orders(num_samples=120)[0]
    assert len(longer) == 120
    assert Counter(longer[:100]) == Counter(2 * list(range(50)))
    drawn = orders(num_samples=3000, replacement=True)[0]
    assert len(drawn) == 3000
    assert set(drawn) == set(range(50))
    assert max(Counter(drawn).values()) > min(Counter(drawn).values())


def test_random_orders_follow_the_global_seed():
    wg.manual_seed(1)
    first = list(RandomSampler(range(30)))
    wg.manual_seed(1)
    assert list(RandomSampler(range(30))) == first
    assert list(RandomSampler(range(30))) != first


def test_other_samplers():
    assert list(SequentialSampler("abc")) == [0, 1, 2]
    assert sorted(SubsetRandomSampler([7, 3])) == [3, 7]
    drawn = list(WeightedRandomSampler([1.0, 0.0, 3.0], 4000, generator=wg.Generator().manual_seed(0)))
    assert drawn.count(1) == 0
    assert drawn.count(2) == pytest.approx(3000, abs=150)
    assert sorted(WeightedRandomSampler([1.0, 1.0, 1.0], 3, replacement=False)) == [0, 1, 2]


@given(st.integers(0, 30), st.integers(1, 7), st.booleans())
def test_batches_of_positions(size, batch_size, drop_last):
    sampler = BatchSampler(range(size), batch_size, drop_last)
    batches = list(sampler)
    assert len(batches) == len(sampler)
    expected = [list(range(i, min(i + batch_size, size))) for i in range(0, size, batch_size)]
    assert batches == [batch for batch in expected if len(batch) == batch_size or not drop_last]


@given(st.integers(1, 30), st.integers(1, 6), st.booleans(), st.booleans())
def test_shares_of_replicas(size, replicas, shuffle, drop_last):
    shares = [
        DistributedSampler(range(size), replicas, rank, shuffle=shuffle, drop_last=drop_last)
        for rank in range(replicas)
    ]
    drawn = [list(share) for share in shares]
    assert {len(part) for part in drawn} == {len(shares[0])}
    counts = Counter(chain(*drawn))
    if drop_last:
        assert set(counts.values()) <= {1}
    else:
        assert set(counts) == set(range(size))
    shares[0].set_epoch(1)
    if shuffle and len(shares[0]) > 8:
        assert list(shares[0]) != drawn[0]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: RandomSampler("abc", replacement=1), TypeError, "replacement should be a boolean"),
        (lambda: RandomSampler("abc", num_samples=0), ValueError, "num_samples should be a positive integer"),
        (lambda: RandomSampler(""), ValueError, "num_samples should be a positive integer"),
        (lambda: WeightedRandomSampler([1.0], True), ValueError, "num_samples should be a positive integer"),
        (lambda: WeightedRandomSampler([[1.0]], 1), ValueError, "weights should be a 1d sequence"),
        (lambda: BatchSampler("abc", 0, False), ValueError, "batch_size should be a positive integer"),
        (lambda: BatchSampler("abc", 1, 0), ValueError, "drop_last should be a boolean"),
        (lambda: DistributedSampler("abc"), RuntimeError, "Requires distributed package"),
        (lambda: DistributedSampler("abc", 2, 2), ValueError, "Invalid rank 2"),
    ],
)
def test_samplers_check_their_arguments(make, error, message):
    with pytest.raises(error, match=message):
        make()


class Point(NamedTuple):
    x: object
    y: object


def described(value):
    """What a batch is made of, with dtypes."""
    if isinstance(value, wg.Tensor):
        return str(value.dtype).rpartition(".")[2], value.tolist()
    if isinstance(value, dict | UserDict):
        return type(value), {key: described(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list | UserList):
        return type(value), [described(entry) for entry in value]
    return value


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        ([1, 2], ("int64", [1, 2])),
        ([True, False], ("bool", [True, False])),
        ([0.5, 1.5], ("float64", [0.5, 1.5])),
        ([np.float32(1), np.float32(2)], ("float32", [1.0, 2.0])),
        ([np.ones(2, np.int32), np.zeros(2, np.int32)], ("int32", [[1, 1], [0, 0]])),
        ([wg.ones(1), wg.zeros(1)], ("float32", [[1.0], [0.0]])),
        (["a", "b"], (list, ["a", "b"])),
        ([b"a", b"b"], (list, [b"a", b"b"])),
        ([(1, "a"), (2, "b")], (list, [("int64", [1, 2]), (tuple, ["a", "b"])])),
        ([[1, [2]], [3, [4]]], (list, [("int64", [1, 3]), (list, [("int64", [2, 4])])])),
        ([{"x": 1, "y": 2}, {"y": 4, "x": 3}], (dict, {"x": ("int64", [1, 3]), "y": ("int64", [2, 4])})),
        ([OrderedDict(x=1), OrderedDict(x=2)], (OrderedDict, {"x": ("int64", [1, 2])})),
        ([UserDict(x=1)], (UserDict, {"x": ("int64", [1])})),
        ([UserList([1]), UserList([2])], (UserList, [("int64", [1, 2])])),
        ([Point(1, 2), Point(3, 4)], (Point, [("int64", [1, 3]), ("int64", [2, 4])])),
        ([range(2), range(2)], (list, [("int64", [0, 0]), ("int64", [1, 1])])),
    ],
)  # fmt: skip
def test_batches(batch, expected):
    assert described(default_collate(batch)) == expected


@pytest.mark.parametrize(
    ("batch", "error", "message"),
    [
        ([object()], TypeError, "batch must contain .* dicts or lists; found <class 'object'>"),
        ([None], TypeError, "found <class 'NoneType'>"),
        ([np.array(["a"])], TypeError, "found <U1"),
        ([[1], [1, 2]], RuntimeError, "each element in list of batch should be of equal size"),
        ([{"x": 1}, {"y": 1}], KeyError, "x"),
        ([wg.ones(1), wg.ones(2)], RuntimeError, "stack"),
    ],
)  # fmt: skip
def test_what_makes_no_batch(batch, error, message):
    with pytest.raises(error, match=message):
        default_collate(batch)


def test_conversion_of_samples():
    sample = {"a": np.arange(2), "b": (1, "x", np.float32(2)), "c": Point([np.ones(1)], None), "d": np.array(["s"])}
    converted = default_convert(sample)
    assert described(converted["a"]) == ("int64", [0, 1])
    assert described(converted["b"]) == (list, [1, "x", ("float32", 2.0)])
    assert described(converted["c"]) == (Point, [(list, [("float64", [1.0])]), None])
    assert converted["d"] is sample["d"]


def test_attributes_of_containers_stay():
    class Tagged(dict):
        tag = None

    sample = Tagged(x=1)
    sample.tag = "kept"
    assert default_collate([sample, sample]).tag == "kept"
    assert default_convert(sample).tag == "kept"
