"""Parts of sparse tensors: integers, slices, None, lists of indices and masks.

An index is taken apart dimension by dimension (`Part`). Each key keeps some of the elements and gives them a new
coordinate, or none; in the end the values of those that are left are picked once.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from wengert import _C

from ._pattern import COO, Pattern
from ._rules import above
from ._shapes import of_places, wrapped
from ._tensor import is_sparse, pattern_of, values_of


@above("__getitem__")
def index(input: Any, key: Any) -> Any:
    """Return the part of a sparse tensor that an index names: integers, slices, None, and lists of indices or masks."""
    if not is_sparse(input):
        raise NotImplementedError("a dense tensor is not indexed by a sparse one; use its indices()")
    keys = list(key) if isinstance(key, tuple) else [key]
    named = sum(_width(k) for k in keys)
    if named > input.ndim:
        raise IndexError(f"too many indices for tensor of dimension {input.ndim}")
    if not any(k is Ellipsis for k in keys):
        keys.append(Ellipsis)
    at = next(i for i, k in enumerate(keys) if k is Ellipsis)
    keys[at : at + 1] = [slice(None)] * (input.ndim - named)
    part = Part(pattern_of(input))
    number, dim = len(part.pattern.shape), 0
    for position, k in enumerate(keys):
        if k is not None and dim >= number:
            return part.of(input, keys[position:])
        part.take(k, dim, input)
        dim += k is not None
    return part.of(input, [])


def _width(key: Any) -> int:
    return 0 if key is None or key is Ellipsis else 1


class Part:
    """The elements that are kept, as positions among those of a pattern, and their new coordinates."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.kept: Any = None  # all
        self.sizes: list[int] = []
        self.coordinates: list[Any] = []
        self.in_order = True

    def take(self, key: Any, dim: int, input: Any) -> None:
        if key is None:
            self.sizes.append(1)
            self.coordinates.append(np.zeros(self._number(), dtype=np.int64))
            return
        size = self.pattern.shape[dim]
        axis = self.pattern.coordinates[dim]
        axis = axis if self.kept is None else axis[self.kept]
        if isinstance(key, slice):
            self._slice(key, size, axis)
        elif isinstance(key, (list, np.ndarray)) or getattr(key, "ndim", 0) > 0:
            self._list(key, size, axis, dim)
        else:
            self._integer(key, size, axis, dim)

    def _number(self) -> int:
        return self.pattern.nnz if self.kept is None else len(self.kept)

    def _keep(self, chosen: Any) -> None:
        self.kept = chosen if self.kept is None else self.kept[chosen]
        self.coordinates = [axis[chosen] for axis in self.coordinates]

    def _integer(self, key: Any, size: int, axis: Any, dim: int) -> None:
        at = operator.index(key)
        if not -size <= at < size:
            raise IndexError(f"index {at} is out of bounds for dimension {dim} with size {size}")
        self._keep(np.flatnonzero(axis == at % size))

    def _slice(self, key: slice, size: int, axis: Any) -> None:
        start, stop, step = key.indices(size)
        if step < 0:
            raise ValueError("step must be greater than zero")
        length = len(range(start, stop, step))
        self.sizes.append(length)
        if length == size:
            self.coordinates.append(axis)
            return
        moved = axis - start
        inside = (moved >= 0) & (axis < stop)
        chosen = np.flatnonzero(inside & (moved % step == 0) if step > 1 else inside)
        self._keep(chosen)
        self.coordinates.append(moved[chosen] // step)

    def _list(self, key: Any, size: int, axis: Any, dim: int) -> None:
        wanted = np.asarray(key.detach().cpu().numpy() if hasattr(key, "detach") else key)
        if wanted.dtype == bool:
            if wanted.shape != (size,):
                raise IndexError(f"the mask has shape {wanted.shape}, but dimension {dim} has size {size}")
            wanted = np.flatnonzero(wanted)
        if wanted.ndim != 1 or (wanted.dtype.kind not in "iu" and wanted.size):
            raise IndexError("sparse tensors are indexed by lists of integers and masks of one dimension")
        wanted = wanted.astype(np.int64)
        if wanted.size and not (-size <= wanted.min() and wanted.max() < size):
            raise IndexError(f"index out of range in dimension {dim} with size {size}")
        wanted %= max(size, 1)
        order = np.argsort(axis, kind="stable")
        ordered = axis[order]
        first, last = np.searchsorted(ordered, wanted), np.searchsorted(ordered, wanted, side="right")
        counts = last - first
        ends = np.cumsum(counts)
        within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
        self._keep(order[np.repeat(first, counts) + within])
        self.coordinates.append(np.repeat(np.arange(len(wanted)), counts))
        self.sizes.append(len(wanted))
        self.in_order = False

    def of(self, input: Any, dense_keys: list[Any]) -> Any:
        """Return the part of the tensor; keys of dense dimensions are left to its values."""
        values = values_of(input)
        if self.kept is not None:
            values = values.index_select(0, _C.from_numpy(self.kept.astype(np.int64, copy=False)).to(values.device))
        if any(k != slice(None) for k in dense_keys):
            values = values[(slice(None), *dense_keys)]
        if not self.sizes:
            return values.sum(0)
        coordinates = tuple(np.ascontiguousarray(axis) for axis in self.coordinates)
        pattern = Pattern(COO, tuple(self.sizes), coordinates, is_coalesced=self.in_order, sharing=self.pattern)
        return of_places(pattern, values, input.layout)


@above("select")
def select(input: Any, dim: int, index: int) -> Any:
    """Return the part at one place of a dimension."""
    return input[(*[slice(None)] * wrapped(input, dim), index)]


@above("narrow")
def narrow(input: Any, dim: int, start: Any, length: int) -> Any:
    """Return `length` places of a dimension from `start` on."""
    start, size = int(start), input.shape[wrapped(input, dim)]
    start = start + size if start < 0 else start
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return input[(*[slice(None)] * wrapped(input, dim), slice(start, start + length))]


@above("index_select")
def index_select(input: Any, dim: int, index: Any) -> Any:
    """Return the parts at the places of a dimension that `index` lists."""
    return input[(*[slice(None)] * wrapped(input, dim), index)]


@above("unsqueeze")
def unsqueeze(input: Any, dim: int) -> Any:
    """Return the tensor with a new sparse dimension of size 1."""
    number = len(input._pattern.shape)
    dim = dim + input.ndim + 1 if dim < 0 else dim
    if dim > number:
        raise IndexError(f"[unsqueeze] new dimensions are sparse ones, from 0 to {number}, but got {dim}")
    return input[(*[slice(None)] * dim, None)]


@above("squeeze")
def squeeze(input: Any, dim: Any = None) -> Any:
    """Return the tensor without sparse dimensions of size 1."""
    number = len(input._pattern.shape)
    dims = range(number) if dim is None else [wrapped(input, d) for d in ([dim] if isinstance(dim, int) else dim)]
    gone = {d for d in dims if input.shape[d] == 1}
    return input[tuple(0 if d in gone else slice(None) for d in range(number))]
