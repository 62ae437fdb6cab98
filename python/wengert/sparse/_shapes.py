"""Dimensions of sparse tensors: transposes, joining, triangles. Only indices change; values are taken along."""

from __future__ import annotations

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
    a, b = wrapped(input, dim0), wrapped(input, dim1)
    order[a], order[b] = b, a
    return permute(input, order)


def wrapped(input: Any, dim: int) -> int:
    """Return a dimension counted from the front."""
    if not -input.ndim <= dim < max(input.ndim, 1):
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-input.ndim}, {input.ndim - 1}], but got {dim})"
        )
    return int(dim % max(input.ndim, 1))


@above("permute")
def permute(input: Any, *dims: Any) -> Any:
    """Return the tensor with its sparse dimensions in another order."""
    order = list(dims[0]) if len(dims) == 1 and not isinstance(dims[0], int) else list(dims)
    order = [wrapped(input, dim) for dim in order]
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


# --- Joining
@above("cat", "concat", "concatenate")
def cat(tensors: Any, dim: int = 0) -> Any:
    """Return sparse tensors one behind the other along a sparse dimension."""
    tensors = list(tensors)
    if not all(is_sparse(t) for t in tensors):
        raise RuntimeError("Concatenating sparse tensors, but a dense tensor was found; use x.to_sparse()")
    dim = wrapped(tensors[0], dim)
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
    return cat([t.unsqueeze(dim) for t in tensors], dim)


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
