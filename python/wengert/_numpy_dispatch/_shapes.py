"""Shapes, order of elements, and choosing among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert

from ._arrays import as_arrays
from ._convert import refuse, tensor, written


def reshape(a: Any, /, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    refuse("numpy.reshape", order=None if order in ("C", "A", "K") else order)
    return tensor(a).reshape(shape)


def transpose(a: Any, axes: Any = None) -> Any:
    value = tensor(a)
    return value.permute(*(reversed(range(value.ndim)) if axes is None else axes))


def expand_dims(a: Any, axis: Any) -> Any:
    value = tensor(a)
    places = sorted(d % (value.ndim + len(axis)) for d in axis) if isinstance(axis, tuple) else [axis]
    for place in places:
        value = value.unsqueeze(place)
    return value


def squeeze(a: Any, axis: Any = None) -> Any:
    return tensor(a).squeeze() if axis is None else tensor(a).squeeze(axis)


def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    return tensor(array).broadcast_to(shape if isinstance(shape, (tuple, list)) else (shape,))


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


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    shifts = list(shift) if isinstance(shift, tuple) else [shift]
    return wengert.roll(tensor(a), shifts, [] if axis is None else axis if isinstance(axis, tuple) else [axis])


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


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    return written(tensor(a).diagonal(offset, axis1, axis2).sum(-1, dtype=dtype), out)


TABLE: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (reshape, transpose, expand_dims, squeeze, broadcast_to, flip, roll, repeat, tile, take, trace)
}
TABLE |= {name: _at_least(name) for name in ("atleast_1d", "atleast_2d", "atleast_3d")}
TABLE |= {
    "ravel": lambda a, order="C": reshape(a, -1, order),
    "permute_dims": transpose,
    "matrix_transpose": lambda x, /: tensor(x).mT,
    "swapaxes": lambda a, axis1, axis2: tensor(a).transpose(axis1, axis2),
    "moveaxis": lambda a, source, destination: tensor(a).movedim(source, destination),
    "broadcast_arrays": lambda *args, subok=False: tuple(wengert.broadcast_tensors(*map(tensor, args))),
    "fliplr": lambda m: wengert.fliplr(tensor(m)),
    "flipud": lambda m: wengert.flipud(tensor(m)),
    "rot90": lambda m, k=1, axes=(0, 1): wengert.rot90(tensor(m), k, list(axes)),
    "take_along_axis": lambda arr, indices, axis=-1: wengert.take_along_dim(tensor(arr), tensor(indices), axis),
    "diagonal": lambda a, offset=0, axis1=0, axis2=1: tensor(a).diagonal(offset, axis1, axis2),
    "diag": lambda v, k=0: wengert.diag(tensor(v), k),
    "diagflat": lambda v, k=0: wengert.diagflat(tensor(v), k),
    "tril": lambda m, k=0: wengert.tril(tensor(m), k),
    "triu": lambda m, k=0: wengert.triu(tensor(m), k),
}
