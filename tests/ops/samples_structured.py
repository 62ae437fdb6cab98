"""Samples of operations that do not act element by element: shapes, reductions, products, decompositions.

A generator's name is what rows say in `samples:`; argument names are the schema's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .samples import Arguments, Entry, Maker, samples


def constant(name: str) -> Any:
    import wengert

    return getattr(wengert, name)


# --- Copies and views
@samples("any_tensor")
def any_tensor(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3)}, {"self": make.tensor()}]


@samples("any_tensor_in_format")
def any_tensor_in_format(make: Maker, entry: Entry) -> list[Arguments]:
    return [
        {"self": make.tensor(2, 3, 2, 2), "memory_format": constant("channels_last")},
        {"self": make.tensor(2, 3, 1, 2, 2), "memory_format": constant("channels_last_3d")},
        {"self": make.tensor(2, 3), "memory_format": constant("contiguous_format")},
        {"self": make.tensor(2, 0, 2, 2), "memory_format": constant("channels_last")},
    ]


@samples("copy")
def copy(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "src": make.tensor(2, 3)}, {"self": make.tensor(2, 3), "src": make.tensor(3)}]


@samples("fill")
def fill(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "value": 1.5}]


@samples("fill_with")
def fill_with(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "value": make.tensor()}]


@samples("to_dtype")
def to_dtype(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "dtype": constant("complex128" if make.is_complex else "float64")}]


@samples("on_device")
def on_device(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "device": "cpu"}]


@samples("as_strided")
def as_strided(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.tensor(6)
    return [
        {"self": x, "size": [2, 2], "stride": [3, 1]},
        {"self": x, "size": [2, 3], "stride": [1, 1], "storage_offset": 2},
    ]


@samples("as_strided_backward")
def as_strided_backward(make: Maker, entry: Entry) -> list[Arguments]:
    return [
        {
            "grad_output": make.tensor(2, 3),
            "sizes": [6],
            "strides": [1],
            "offset": 0,
            "size": [2, 3],
            "stride": [1, 1],
            "storage_offset": 2,
        }
    ]


@samples("expand")
def expand(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 1), "size": [2, 3]}, {"self": make.tensor(3), "size": [2, -1]}]


@samples("sum_to_size")
def sum_to_size(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "size": size} for size in ([1, 3], [3], [], [2, 3])]


@samples("permute")
def permute(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3, 1), "dims": [2, 0, 1]}, {"self": make.tensor(2, 3), "dims": [-1, 0]}]


@samples("transpose_axes")
def transpose_axes(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3, 1), "axes": [2, 0, 1]}, {"self": make.tensor(2, 3, 2), "axes": [-1, 0, 1]}]


@samples("transpose")
def transpose(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "dim0": 0, "dim1": 1}, {"self": make.tensor(2, 1, 2), "dim0": -1, "dim1": 0}]


@samples("unsqueeze")
def unsqueeze(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "dim": d} for d in (0, 1, -1)]


@samples("reshape")
def reshape(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "shape": s} for s in ([3, 2], [-1], [1, 6])]


@samples("select")
def select(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "dim": 1, "index": -1}, {"self": make.tensor(3), "dim": 0, "index": 0}]


@samples("select_backward")
def select_backward(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"grad_output": make.tensor(2), "sizes": [2, 3], "dim": 1, "index": 2}]


@samples("slice")
def slice_(make: Maker, entry: Entry) -> list[Arguments]:
    return [
        {"self": make.tensor(4), "start": 1, "end": 3},
        {"self": make.tensor(2, 5), "dim": 1, "start": 0, "step": 2},
    ]


@samples("slice_backward")
def slice_backward(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"grad_output": make.tensor(2, 2), "sizes": [2, 4], "dim": 1, "start": 0, "end": 4, "step": 2}]


@samples("unbind")
def unbind(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3)}, {"self": make.tensor(2, 3), "dim": 1}]


@samples("split_equally")
def split_equally(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 2, 4), "sections": 2}]


@samples("split_at")
def split_at(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(3, 2, 3), "indices": [1, 2]}]


@samples("tensors_of_any_rank")
def tensors_of_any_rank(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"tensors": [make.tensor(), make.tensor(3), make.tensor(2, 1)]}]


# --- Reductions
@samples("reduction")
def reduction(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.tensor(2, 3)
    return [
        {"self": x},
        {"self": x, "dim": [1], "keepdim": True},
        {"self": make.tensor(2, 1, 2), "dim": [0, -1]},
        {"self": make.tensor()},
    ]


@samples("reduction_of_one")
def reduction_of_one(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.distinct(2, 3)
    return [{"self": x}, {"self": x, "dim": 1}, {"self": x, "dim": 0, "keepdim": True}]


# --- Products of matrices
@samples("matmul")
def matmul(make: Maker, entry: Entry) -> list[Arguments]:
    shapes = [
        ((2, 3), (3, 2)),
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 2)),
        ((2, 2, 3), (3, 2)),
        ((2, 1, 2), (2, 2, 1)),
        ((1, 2, 2), (2, 2, 2)),
    ]
    return [{"self": make.tensor(*a), "other": make.tensor(*b)} for a, b in shapes]


def positive_definite(make: Maker, *shape: int) -> np.ndarray:
    a = make.tensor(*shape)
    return a @ a.conj().swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])
