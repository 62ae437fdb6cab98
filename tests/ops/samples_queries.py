"""Samples of questions about tensors and dtypes."""

from __future__ import annotations

import wengert as wg

from .samples import Arguments, Entry, Maker, samples


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
