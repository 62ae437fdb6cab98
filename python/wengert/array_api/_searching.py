"""Choosing, searching and sorting elements; sets.

The values of `unique_all` and its like are elements of the argument, so they have its derivatives.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import wengert
from wengert import Tensor

from ._promotion import named, operands

__all__ = [
    "argmax", "argmin", "argsort", "isin", "nonzero", "searchsorted", "sort", "take", "take_along_axis", "unique_all",
    "unique_counts", "unique_inverse", "unique_values", "where",
]  # fmt: skip


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """Elements along an axis at places that may be negative."""
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"[take] axis= is needed for an array of {x.ndim} dimensions")
        axis = 0
    return x[(*(slice(None),) * (axis % x.ndim), indices)]


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """`wengert.take_along_dim`, with places that may be negative."""
    return wengert.take_along_dim(x, wengert.where(indices < 0, indices + x.shape[axis], indices).long(), axis)


def where(condition: Any, x1: Any, x2: Any, /) -> Any:
    """`wengert.where`."""
    return wengert.where(condition, *(operands(x1, x2) if Tensor in (type(x1), type(x2)) else (x1, x2)))


def nonzero(x: Any, /) -> tuple[Any, ...]:
    """The places of elements that are not zero, for each axis."""
    if not x.ndim:
        raise ValueError("[nonzero] an array without axes has no places; use x != 0")
    return tuple(wengert.nonzero(x, as_tuple=True))


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    """`wengert.searchsorted`."""
    return wengert.searchsorted(*operands(x1, x2), side=side, sorter=None if sorter is None else sorter.long())


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """`wengert.isin`."""
    return wengert.isin(*operands(x1, x2), invert=invert)


def _place_of_extreme(name: str) -> Any:
    find = getattr(wengert, name)

    def function(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:
        if axis is None:
            result = find(x)
            return result.reshape((1,) * x.ndim) if keepdims else result
        return find(x, axis, keepdims)

    return named(function, name)


argmax, argmin = _place_of_extreme("argmax"), _place_of_extreme("argmin")


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """`wengert.argsort`."""
    return wengert.argsort(x, axis, descending, stable=stable)


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The values of `wengert.sort`."""
    return wengert.sort(x, axis, descending, stable=stable).values


class UniqueAll(NamedTuple):
    """What `unique_all` returns."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """What `unique_counts` returns."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """What `unique_inverse` returns."""

    values: Any
    inverse_indices: Any


def unique_all(x: Any, /) -> UniqueAll:
    """Different elements in order, where each is first, which of them each element is, and how often each occurs."""
    elements = x.reshape(-1)
    order, dim = elements.detach(), None
    if x.is_complex():  # by their real parts, then by their imaginary ones
        order, dim = wengert.view_as_real(order), 0
    _, inverse, counts = wengert.unique(order, return_inverse=True, return_counts=True, dim=dim)
    places = wengert.arange(elements.numel(), device=x.device)
    first = wengert.full_like(counts, elements.numel()).scatter_reduce(0, inverse, places, "amin")
    return UniqueAll(elements[first], first, inverse.reshape(x.shape), counts)


def unique_counts(x: Any, /) -> UniqueCounts:
    """Different elements in order, and how often each occurs."""
    found = unique_all(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Any, /) -> UniqueInverse:
    """Different elements in order, and which of them each element is."""
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Any, /) -> Any:
    """Different elements in order."""
    return unique_all(x).values
