"""Dimensions of sparse tensors: transposes, indexing, joining. Only indices change; values are taken along."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from wengert import _C

from ._pattern import COO, CSC, CSR, Pattern, from_keys
from ._rules import above
from ._tensor import in_layout, is_sparse, pattern_of, values_of, with_values


def of_places(pattern: Pattern, values: Any, layout: Any) -> Any:
    """Return a tensor of a pattern that need not be coalesced."""
    if layout == COO or len(pattern.shape) != 2:
        return with_values(pattern, values)
    return in_layout(pattern.coalesced, pattern.values_in_order(values), layout)


# --- Transposes
@above("transpose", "swapaxes", "swapdims")
def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """Return the tensor with two sparse dimensions exchanged."""
    order = list(range(input.ndim))
    a, b = _dim(input, dim0), _dim(input, dim1)
    order[a], order[b] = b, a
    return permute(input, order)


def _dim(input: Any, dim: int) -> int:
    if not -input.ndim <= dim < max(input.ndim, 1):
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-input.ndim}, {input.ndim - 1}], but got {dim})"
        )
    return int(dim % max(input.ndim, 1))


@above("permute")
def permute(input: Any, *dims: Any) -> Any:
    """Return the tensor with its sparse dimensions in another order."""
    order = list(dims[0]) if len(dims) == 1 and not isinstance(dims[0], int) else list(dims)
    order = [_dim(input, dim) for dim in order]
    pattern, values = pattern_of(input), values_of(input)
    number = len(pattern.shape)
    if sorted(order) != list(range(input.ndim)):
        raise RuntimeError(f"permute(sparse_coo): {order} is not an order of the {input.ndim} dimensions")
    if sorted(order[:number]) != list(range(number)):
        raise RuntimeError("permute: sparse and dense dimensions of a tensor cannot be exchanged; use x.to_dense()")
    values = values.permute(0, *(dim - number + 1 for dim in order[number:])) if values.ndim > 1 else values
    if order[:number] == list(range(number)):
        return of_places(pattern, values, input.layout)
    if number == 2:
        if input.layout == CSR:
            return with_values(_rows_as_columns(pattern), values)
        return of_places(pattern.transposed, values, CSR if input.layout == CSC else COO)
    shape = tuple(pattern.shape[dim] for dim in order[:number])
    moved = Pattern(COO, shape, tuple(pattern.coordinates[dim] for dim in order[:number]), sharing=pattern)
    return with_values(moved, values)


def _rows_as_columns(pattern: Pattern) -> Pattern:
    """The transposed pattern, with the pointers to rows as those to columns."""
    return pattern.compressed(CSR)[0].transposed


@above("t")
def t(input: Any) -> Any:
    """Return the matrix transposed."""
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {input.ndim}D")
    return input if input.ndim < 2 else transpose(input, 0, 1)


@above("T", "numpy_T")
def _reversed(input: Any) -> Any:
    return permute(input, list(range(input.ndim))[::-1])


@above("mT", "adjoint_real")
def _matrix_transposed(input: Any) -> Any:
    return transpose(input, -2, -1)


@above("H", "mH", "adjoint")
def _adjoint(input: Any) -> Any:
    turned = transpose(input, -2, -1)
    return turned.conj() if input.is_complex() else turned


# --- Indexing
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
    part = _Part(pattern_of(input))
    number, dim = len(part.pattern.shape), 0
    for position, k in enumerate(keys):
        if k is not None and dim >= number:
            return part.of(input, keys[position:])
        part.take(k, dim, input)
        dim += k is not None
    return part.of(input, [])


def _width(key: Any) -> int:
    return 0 if key is None or key is Ellipsis else 1


class _Part:
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
    return input[(*[slice(None)] * _dim(input, dim), index)]


@above("narrow")
def narrow(input: Any, dim: int, start: Any, length: int) -> Any:
    """Return `length` places of a dimension from `start` on."""
    start, size = int(start), input.shape[_dim(input, dim)]
    start = start + size if start < 0 else start
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return input[(*[slice(None)] * _dim(input, dim), slice(start, start + length))]


@above("index_select")
def index_select(input: Any, dim: int, index: Any) -> Any:
    """Return the parts at the places of a dimension that `index` lists."""
    return input[(*[slice(None)] * _dim(input, dim), index)]


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
    dims = range(number) if dim is None else [_dim(input, d) for d in ([dim] if isinstance(dim, int) else dim)]
    gone = {d for d in dims if input.shape[d] == 1}
    return input[tuple(0 if d in gone else slice(None) for d in range(number))]


# --- Joining
@above("cat", "concat", "concatenate")
def cat(tensors: Any, dim: int = 0) -> Any:
    """Return sparse tensors one behind the other along a sparse dimension."""
    tensors = list(tensors)
    if not all(is_sparse(t) for t in tensors):
        raise RuntimeError("Concatenating sparse tensors, but a dense tensor was found; use x.to_sparse()")
    dim = _dim(tensors[0], dim)
    patterns = [pattern_of(t) for t in tensors]
    if dim >= len(patterns[0].shape):
        raise NotImplementedError("[cat] sparse tensors are joined along sparse dimensions; use x.to_dense()")
    shape = list(patterns[0].shape)
    for other in patterns[1:]:
        if [*other.shape[:dim], *other.shape[dim + 1 :]] != [*shape[:dim], *shape[dim + 1 :]]:
            raise RuntimeError(
                f"[cat] sizes must match except in dimension {dim}, but got {tuple(shape)} and {other.shape}"
            )
    starts = np.cumsum([0, *(p.shape[dim] for p in patterns)])
    axes = [
        np.concatenate(
            [p.coordinates[d].astype(np.int64) + (starts[i] if d == dim else 0) for i, p in enumerate(patterns)]
        )
        for d in range(len(shape))
    ]
    shape[dim] = int(starts[-1])
    joined = Pattern(COO, tuple(shape), tuple(axes), is_coalesced=dim == 0, is_private=True)
    return of_places(joined, _C.cat([values_of(t) for t in tensors]), tensors[0].layout)


@above("stack")
def stack(tensors: Any, dim: int = 0) -> Any:
    """Return sparse tensors side by side along a new sparse dimension."""
    return cat([unsqueeze(t, dim) for t in tensors], dim)


@above("vstack")
def vstack(tensors: Any) -> Any:
    """Return sparse matrices below each other."""
    return cat(tensors, 0)


@above("hstack")
def hstack(tensors: Any) -> Any:
    """Return sparse matrices side by side."""
    return cat(tensors, 1 if next(iter(tensors)).ndim > 1 else 0)


# --- Parts of matrices
def _places_of(input: Any, chosen: Any) -> Any:
    pattern = pattern_of(input)
    kept = np.flatnonzero(chosen)
    values = values_of(input).index_select(0, _C.from_numpy(kept).to(input.device))
    return in_layout(from_keys(pattern.keys[kept], pattern.shape), values, input.layout)


@above("tril")
def tril(input: Any, diagonal: int = 0) -> Any:
    """Return the elements on and below a diagonal."""
    rows, columns = pattern_of(input).axes
    return _places_of(input, (columns - rows <= diagonal).numpy())


@above("triu")
def triu(input: Any, diagonal: int = 0) -> Any:
    """Return the elements on and above a diagonal."""
    rows, columns = pattern_of(input).axes
    return _places_of(input, (columns - rows >= diagonal).numpy())


@above("diagonal", "diag")
def diagonal(input: Any, offset: int = 0) -> Any:
    """Return a diagonal of a sparse matrix as a dense vector."""
    pattern, values = pattern_of(input), values_of(input)
    rows, columns = pattern.axes
    kept = (columns - rows == offset).nonzero().squeeze(1)
    length = max(min(pattern.shape[0] + min(offset, 0), pattern.shape[1] - max(offset, 0)), 0)
    out = _C.zeros(length, dtype=values.dtype, device=values.device)
    return out.index_add(0, (rows + min(offset, 0)).index_select(0, kept), values.index_select(0, kept))
