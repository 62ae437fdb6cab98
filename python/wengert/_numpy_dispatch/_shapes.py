"""Shapes, order of elements, and choosing among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert

from ._arrays import as_arrays
from ._convert import axes, refuse, tensor, written


def reshape(a: Any, /, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    refuse("numpy.reshape", order=None if order in ("C", "A", "K") else order)
    return tensor(a).reshape(shape)


def ravel(a: Any, order: str = "C") -> Any:
    return reshape(a, -1, order)


def transpose(a: Any, axes: Any = None) -> Any:
    value = tensor(a)
    return value.permute(*(reversed(range(value.ndim)) if axes is None else axes))


def matrix_transpose(x: Any, /) -> Any:
    return tensor(x).mT


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    return tensor(a).transpose(axis1, axis2)


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    return tensor(a).movedim(axes(source), axes(destination))


def expand_dims(a: Any, axis: Any) -> Any:
    value = tensor(a)
    places = sorted(d % (value.ndim + len(axes(axis))) for d in axis) if isinstance(axis, tuple) else [axis]
    for place in places:
        value = value.unsqueeze(place)
    return value


def squeeze(a: Any, axis: Any = None) -> Any:
    return tensor(a).squeeze() if axis is None else tensor(a).squeeze(axes(axis))


def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    return tensor(array).broadcast_to(shape if isinstance(shape, (tuple, list)) else (shape,))


def broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    return tuple(wengert.broadcast_tensors(*[tensor(a) for a in args]))


def _at_least(name: str) -> Callable[..., Any]:
    def at_least(*arys: Any) -> Any:
        arrays = as_arrays(arys)
        if arrays is not None:  # what packages call to get an array, of which they then ask `size` and `flags`
            return getattr(np, name)(*arrays)
        results = tuple(getattr(wengert, name)(tensor(a)) for a in arys)
        return results[0] if len(results) == 1 else results

    return at_least


def flip(m: Any, axis: Any = None) -> Any:
    value = tensor(m)
    return value.flip(*(range(value.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)))


def fliplr(m: Any) -> Any:
    return wengert.fliplr(tensor(m))


def flipud(m: Any) -> Any:
    return wengert.flipud(tensor(m))


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    shifts = list(shift) if isinstance(shift, tuple) else [shift]
    return wengert.roll(tensor(a), shifts, [] if axis is None else axes(axis) if isinstance(axis, tuple) else [axis])


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    return wengert.rot90(tensor(m), k, list(axes))


def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    count = repeats if isinstance(repeats, int) else tensor(repeats)
    return wengert.repeat_interleave(tensor(a), count, axis)


def tile(A: Any, reps: Any) -> Any:  # noqa: N803  # NumPy's name
    return wengert.tile(tensor(A), [reps] if isinstance(reps, int) else list(reps))


def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    refuse("numpy.take", mode=None if mode == "raise" else mode)
    value, index = tensor(a), tensor(indices)
    if axis is None:
        return written(wengert.take(value, index), out)
    return written(value[(*(slice(None),) * (axis % value.ndim), index)], out)


def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    return wengert.take_along_dim(tensor(arr), tensor(indices), axis)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return tensor(a).diagonal(offset, axis1, axis2)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    return written(diagonal(a, offset, axis1, axis2).sum(-1, dtype=dtype), out)


def diag(v: Any, k: int = 0) -> Any:
    return wengert.diag(tensor(v), k)


def diagflat(v: Any, k: int = 0) -> Any:
    return wengert.diagflat(tensor(v), k)


def tril(m: Any, k: int = 0) -> Any:
    return wengert.tril(tensor(m), k)


def triu(m: Any, k: int = 0) -> Any:
    return wengert.triu(tensor(m), k)


TABLE: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (reshape, ravel, transpose, matrix_transpose, swapaxes, moveaxis, expand_dims, squeeze, broadcast_to,
              broadcast_arrays, flip, fliplr, flipud, roll, rot90, repeat, tile, take, take_along_axis, diagonal, trace,
              diag, diagflat, tril, triu)
}  # fmt: skip
TABLE |= {name: _at_least(name) for name in ("atleast_1d", "atleast_2d", "atleast_3d")}
TABLE["permute_dims"] = transpose
