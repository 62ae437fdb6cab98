"""Samples of new tensors."""

from __future__ import annotations

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
