"""Putting arrays together and cutting them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert

from ._convert import promoted, tensor, written


def concatenate(
    arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    values = promoted(arrays)
    if axis is None:
        values, axis = [value.reshape(-1) for value in values], 0
    result = wengert.cat(values, axis)
    return written(result if dtype is None else result.to(dtype), out)


def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    result = wengert.stack(promoted(arrays), axis)
    return written(result if dtype is None else result.to(dtype), out)


def _stacks(name: str) -> Callable[..., Any]:
    def stacks(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
        result = getattr(wengert, name)(promoted(tup))
        return result if dtype is None else result.to(dtype)

    return stacks


def append(arr: Any, values: Any, axis: Any = None) -> Any:
    return concatenate((arr, values), axis)


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


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    grids = wengert.meshgrid(*[tensor(x).reshape(-1) for x in xi], indexing=indexing)
    return tuple(grid.clone() if copy else grid for grid in grids)


TABLE: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (concatenate, stack, append, array_split, split, meshgrid)
} | {name: _stacks(name) for name in ("hstack", "vstack", "dstack", "column_stack")}
TABLE["concat"] = concatenate
