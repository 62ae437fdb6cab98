"""Reductions, and running sums and products.

``axis=()`` reduces nothing, where PyTorch's functions reduce everything: `_along` adds an axis of length 1 for it.
"""

from __future__ import annotations

from typing import Any

import wengert

from ._info import dtypes_by_kind
from ._promotion import named, operands

__all__ = [
    "all", "any", "count_nonzero", "cumulative_prod", "cumulative_sum", "diff", "max", "mean", "min", "prod", "std",
    "sum", "var",
]  # fmt: skip


def _along(x: Any, axis: Any, keepdims: bool) -> tuple[Any, Any, bool]:
    """Return what is reduced, along which axes, and whether these stay."""
    if axis is None:
        axis = tuple(range(x.ndim))
    return (wengert.unsqueeze(x, -1), -1, False) if axis == () else (x, axis, keepdims)


def _writable(result: Any) -> Any:
    """Return a result that the caller may write to, which derivatives of extrema and spreads are not made of."""
    return result.clone() if result.requires_grad else result


def _reduction(name: str, own: str = "") -> Any:
    reduce = getattr(wengert, own or name)

    def function(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
        return _writable(reduce(*_along(x, axis, keepdims)))

    return named(function, name, own)


def _truth(name: str) -> Any:
    reduce = getattr(wengert, name)

    def function(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
        return reduce(*_along(x != 0, axis, keepdims))

    return named(function, name)


def dtype_of_sum(x: Any, dtype: Any) -> Any:
    """Return the type in which a sum is made: unsigned numbers are added as unsigned ones of 64 bits."""
    if dtype is None and x.dtype in dtypes_by_kind("unsigned integer").values():
        return wengert.uint64
    return dtype


def _typed_reduction(name: str) -> Any:
    reduce = getattr(wengert, name)

    def function(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        return _writable(reduce(*_along(x, axis, keepdims), dtype=dtype_of_sum(x, dtype)))

    return named(function, name)


def _spread(name: str) -> Any:
    reduce = getattr(wengert, name)

    def function(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
        value, axes, keep = _along(x, axis, keepdims)
        return _writable(reduce(value, axes, correction=correction, keepdim=keep))

    return named(function, name)


def _scan(name: str, own: str, neutral: int) -> Any:
    scan = getattr(wengert, own)

    def function(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
        if axis is None and x.ndim != 1:
            raise ValueError(f"[{name}] axis= is needed for an array of {x.ndim} dimensions")
        along = 0 if axis is None else axis
        result = scan(x, along, dtype=dtype_of_sum(x, dtype))
        if not include_initial:
            return result
        first = wengert.full_like(result.narrow(along, 0, 1) if result.shape[along] else _one(result, along), neutral)
        return wengert.cat([first, result], along)

    return named(function, name, own)


def _one(empty: Any, axis: int) -> Any:
    sizes = list(empty.shape)
    sizes[axis] = 1
    return empty.new_empty(sizes)


all, any = _truth("all"), _truth("any")
max, min, mean = _reduction("max", "amax"), _reduction("min", "amin"), _reduction("mean")
sum, prod = _typed_reduction("sum"), _typed_reduction("prod")
std, var = _spread("std"), _spread("var")
cumulative_sum, cumulative_prod = _scan("cumulative_sum", "cumsum", 0), _scan("cumulative_prod", "cumprod", 1)


def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """How many elements are not zero."""
    return wengert.sum(*_along(x != 0, axis, keepdims))


def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
    """`wengert.diff` of arrays in their common type."""
    value, before, after = operands(x, prepend, append)
    return wengert.diff(value, n, axis, before, after)
