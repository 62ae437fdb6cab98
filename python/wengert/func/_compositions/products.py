"""Products of vectors and matrices."""

from __future__ import annotations

from typing import Any

import wengert

from .._batch import NoRuleError


def along_dimension(vector: Any, dim: int, rank: int) -> Any:
    """Return a vector as a tensor of that rank, along `dim`."""
    return vector.reshape([vector.numel() if d == dim else 1 for d in range(rank)])


def kronecker(a: Any, b: Any) -> Any:
    """Return all products of an element of one and an element of the other, as blocks."""
    rank = max(a.ndim, b.ndim)
    left, right, joined = [], [], []
    for d in range(rank):
        m, n = (t.shape[d - rank + t.ndim] if d >= rank - t.ndim else 1 for t in (a, b))
        left += [m, 1]
        right += [1, n]
        joined.append(m * n)
    return (a.reshape(left) * b.reshape(right)).reshape(joined)


def cross_product_along_first(a: Any, b: Any, dim: int | None) -> Any:
    """Cross product along a dimension, by default the first of size 3."""
    if dim is None:
        dim = next((d for d, size in enumerate(a.shape) if size == 3), None)
        if dim is None:
            raise RuntimeError(f"[cross] no dimension of size 3 in input of shape {tuple(a.shape)}")
    if a.ndim != b.ndim:
        raise NoRuleError
    return wengert.linalg.cross(a, b, dim=dim)


def bilinear_map(x1: Any, x2: Any, weight: Any, bias: Any) -> Any:
    """``x1 @ weight[o] @ x2`` for each output."""
    if weight.ndim != 3 or not x1.ndim or x1.ndim != x2.ndim:
        raise NoRuleError
    result = wengert.einsum("...i,oij,...j->...o", [x1, weight, x2])
    return result if bias is None else result + bias


def distances_of_pairs(rows: Any, p: float) -> Any:
    """pdist: of rows i < j."""
    if rows.ndim != 2:
        raise NoRuleError
    n = rows.shape[0]
    first, second = wengert.triu_indices(n, n, 1).unbind(0)
    return wengert.linalg.vector_norm(rows.index_select(0, first) - rows.index_select(0, second), p, -1)


def chain_product(matrices: Any) -> Any:
    """Return a product of several matrices, from left to right."""
    if len(matrices) < 2:
        raise NoRuleError
    result, *others = matrices
    for other in others:
        result = result.matmul(other)
    return result
