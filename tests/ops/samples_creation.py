"""Samples of new tensors and random numbers."""

from __future__ import annotations

import wengert as wg

from .samples import Arguments, Entry, Maker, samples


@samples("sizes")
def sizes(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"size": size} for size in ([2, 3], [], [0, 2])]


@samples("full")
def full(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"size": [2, 3], "fill_value": value} for value in (1.5, 2, True, 1 + 2j)]


@samples("size_and_stride")
def size_and_stride(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"size": [2, 3], "stride": [1, 2]}]


@samples("one_number")
def one_number(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"s": 1.5}, {"s": 2}]


@samples("eye")
def eye(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"n": 2}, {"n": 2, "m": 3}, {"n": 3, "m": 0}]


@samples("fill_value")
def fill_value(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "fill_value": 1.5}, {"self": make.tensor(), "fill_value": 2}]


@samples("new_size")
def new_size(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2), "size": [2, 3]}, {"self": make.tensor(), "size": []}]


@samples("new_full")
def new_full(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2), "size": [2, 3], "fill_value": 1.5}]


@samples("new_size_and_stride")
def new_size_and_stride(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2), "size": [2, 3], "stride": [1, 2]}]


@samples("arange")
def arange(make: Maker, entry: Entry) -> list[Arguments]:
    if entry["name"] == "arange":
        return [{"end": 4}, {"end": 2.5}, {"end": 0}]
    return [{"start": 1, "end": 6, "step": 2}, {"start": 2.0, "end": 0.5, "step": -0.25}, {"start": 1, "end": 3}]


@samples("range")
def range_(make: Maker, entry: Entry) -> list[Arguments]:
    if entry["name"] == "range_end":
        return [{"end": 4}]
    return [{"start": 1, "end": 6, "step": 2}, {"start": 2.0, "end": 0.5, "step": -0.25}, {"start": 1, "end": 3}]


@samples("linspace")
def linspace(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"start": -1, "end": 2.5, "steps": 4}, {"start": 1.0, "end": 1.0, "steps": 1}]


@samples("triangle_indices")
def triangle_indices(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"row": 3, "col": 4}, {"row": 4, "col": 2, "offset": -1}, {"row": 2, "col": 3, "offset": 9}]


@samples("window")
def window(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"window_length": 5}, {"window_length": 4, "periodic": False}, {"window_length": 1}]


@samples("frequencies")
def frequencies(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"n": 4}, {"n": 5, "d": 0.5}, {"n": 1}]


# --- Random numbers
@samples("randint")
def randint(make: Maker, entry: Entry) -> list[Arguments]:
    low = {"low": -2} if entry["name"].endswith("low") else {}
    where = {"self": make.tensor(2, 3)} if "like" in entry["name"] else {"size": [2, 3]}
    return [{**where, **low, "high": 5}]


@samples("randperm")
def randperm(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"n": 5}, {"n": 0}]


@samples("normal")
def normal(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"mean": 1.0, "std": 2.0, "size": [2, 3]}]


@samples("normal_around")
def normal_around(make: Maker, entry: Entry) -> list[Arguments]:
    mean, std = make.real(2, 3), make.real(3, low=0.5, high=1)
    return [{"mean": mean, "std": std}, {"mean": mean}, {"mean": 1.0, "std": std}]


@samples("probabilities")
def probabilities(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.real(2, 3, low=0, high=1)}, {"self": make.real(low=0, high=1)}]


@samples("one_probability")
def one_probability(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.real(2, 3), "p": 0.25}]


@samples("two_probabilities")
def two_probabilities(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.real(2, 3), "p": make.real(3, low=0, high=1)}]


@samples("multinomial")
def multinomial(make: Maker, entry: Entry) -> list[Arguments]:
    rows = make.real(2, 3, low=0.5, high=1)
    return [{"self": rows, "num_samples": 2}, {"self": rows[0], "num_samples": 4, "replacement": True}]


@samples("random_to")
def random_to(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.real(2, 3), "to": 5}]


@samples("random_from")
def random_from(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.real(2, 3), "from": -2, "to": 5}]


# --- Questions
@samples("a_dimension")
def a_dimension(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "dim": dim} for dim in (0, -1)]


@samples("one_element")
def one_element(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor()}, {"self": make.tensor(1, 1)}]


@samples("two_dtypes")
def two_dtypes(make: Maker, entry: Entry) -> list[Arguments]:
    names = [argument["name"] for argument in entry["arguments"]]
    pairs = [(wg.float32, wg.int64), (wg.uint8, wg.int8), (wg.complex64, wg.float64)]
    return [dict(zip(names, pair, strict=True)) for pair in pairs]


@samples("two_operands")
def two_operands(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"tensor1": make.tensor(2), "tensor2": 1}, {"tensor1": make.tensor(2), "tensor2": make.tensor()}]


# --- Compositions
@samples("vectors")
def vectors(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"tensors": [make.tensor(2), make.tensor(3)]}, {"tensors": [make.tensor(2)]}]


@samples("combinations")
def combinations(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.tensor(4)
    return [{"self": x}, {"self": x, "r": 3, "with_replacement": True}, {"self": x, "r": 4}, {"self": x, "r": 5}]
