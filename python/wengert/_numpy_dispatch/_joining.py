"""Putting arrays together and cutting them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert

from ._convert import promoted, refuse, tensor, unsupported, written


def concatenate(
    arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    values = promoted(arrays)
    if axis is None:
        values, axis = [value.reshape(-1) for value in values], 0
    return written(tensor(wengert.cat(values, axis), dtype), out)


def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    return written(tensor(wengert.stack(promoted(arrays), axis), dtype), out)


def _stacks(name: str) -> Callable[..., Any]:
    def stacks(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
        return tensor(getattr(wengert, name)(promoted(tup)), dtype)

    return stacks


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    parts = indices_or_sections if isinstance(indices_or_sections, int) else list(indices_or_sections)
    return list(wengert.tensor_split(tensor(ary), parts, axis))


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    value = tensor(ary)
    if isinstance(indices_or_sections, int) and value.shape[axis] % indices_or_sections:
        raise ValueError(
            f"array split does not result in an equal division: {value.shape[axis]} elements in {indices_or_sections} "
            "parts; use array_split"
        )
    return array_split(value, indices_or_sections, axis)


def _splits(axis_of: Callable[[int], int], least: int) -> Callable[..., Any]:
    """hsplit, vsplit and dsplit: along which axis, and how many dimensions the array must have."""

    def splits(ary: Any, indices_or_sections: Any) -> Any:
        value = tensor(ary)
        if value.ndim < least:
            raise ValueError(f"an array of {least} or more dimensions is needed, got {value.ndim}")
        return split(value, indices_or_sections, axis_of(value.ndim))

    return splits


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    grids = wengert.meshgrid(*[tensor(x).reshape(-1) for x in xi], indexing=indexing)
    return tuple(grid.clone() if copy else grid for grid in grids)


def pad(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Any:
    value = tensor(array)
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(d, pad_width.get(d - value.ndim, 0)) for d in range(value.ndim)]
        pad_width = [(width, width) if np.isscalar(width) else width for width in pad_width]
    widths = np.broadcast_to(np.asarray(pad_width), (value.ndim, 2)).tolist()
    if mode in ("constant", "empty"):
        constants = np.broadcast_to(np.asarray(options.pop("constant_values", 0)), (value.ndim, 2)).tolist()
        refuse("pad", **options)
        for dim, (width, around) in enumerate(zip(widths, constants, strict=True)):
            value = _surrounded(value, dim, width, around)
        return value
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise unsupported("pad", f"the mode {mode!r} has no counterpart")
    for dim, width in enumerate(widths):  # these copy elements: NumPy knows which
        if options.get("reflect_type") == "odd":
            raise unsupported("pad", "reflect_type='odd' has no counterpart")
        index = np.pad(np.arange(value.shape[dim]), width, mode=mode, **options)
        value = value.index_select(dim, wengert.as_tensor(index)) if any(width) else value
    return value


def _surrounded(value: Any, dim: int, widths: list[int], constants: list[Any]) -> Any:
    """Put constants before and after a tensor along one dimension."""
    parts = [value]
    for place, width, constant in zip((0, 2), widths, constants, strict=True):
        if width:
            shape = [*value.shape[:dim], width, *value.shape[dim + 1 :]]
            parts.insert(place, wengert.full(shape, constant, dtype=value.dtype))
    return parts[0] if len(parts) == 1 else wengert.cat(parts, dim)


TABLE: dict[str, Callable[..., Any]] = {f.__name__: f for f in (concatenate, stack, array_split, split, meshgrid, pad)}
TABLE |= {name: _stacks(name) for name in ("hstack", "vstack", "dstack", "column_stack")}
TABLE |= {
    "concat": concatenate,
    "append": lambda arr, values, axis=None: concatenate((arr, values), axis),
    "hsplit": _splits(lambda ndim: 1 if ndim > 1 else 0, 1),
    "vsplit": _splits(lambda ndim: 0, 2),
    "dsplit": _splits(lambda ndim: 2, 3),
}
