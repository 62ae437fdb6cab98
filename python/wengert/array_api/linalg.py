"""The standard's extension `linalg`.

Vectors in `solve` are known by having one dimension, where `wengert.linalg.solve` also compares shapes.
"""

from __future__ import annotations

from typing import Any

import wengert

from ._promotion import named, operands
from ._reductions import dtype_of_sum

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matmul", "matrix_norm",
    "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals",
    "tensordot", "trace", "vecdot", "vector_norm",
]  # fmt: skip


def _of_matrix(name: str) -> Any:
    compute = getattr(wengert.linalg, name)

    def function(x: Any, /) -> Any:
        return compute(x)

    return named(function, name, f"linalg.{name}")


det, inv, slogdet, svdvals = (_of_matrix(name) for name in ("det", "inv", "slogdet", "svdvals"))
eig, eigh, eigvals, eigvalsh = (_of_matrix(name) for name in ("eig", "eigh", "eigvals", "eigvalsh"))


def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """`wengert.linalg.cholesky`."""
    return wengert.linalg.cholesky(x, upper=upper)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """`wengert.linalg.cross`."""
    return wengert.linalg.cross(*operands(x1, x2), dim=axis)


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """`wengert.linalg.diagonal`."""
    return wengert.linalg.diagonal(x, offset=offset)


def matmul(x1: Any, x2: Any, /) -> Any:
    """`wengert.matmul`."""
    return wengert.matmul(*operands(x1, x2))


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """`wengert.linalg.matrix_norm`."""
    return wengert.linalg.matrix_norm(x, ord, (-2, -1), keepdims)


def matrix_power(x: Any, n: int, /) -> Any:
    """`wengert.linalg.matrix_power`."""
    return wengert.linalg.matrix_power(x, n)


def matrix_rank(x: Any, /, *, rtol: Any = None) -> Any:
    """`wengert.linalg.matrix_rank`."""
    return wengert.linalg.matrix_rank(x, rtol=rtol)


def matrix_transpose(x: Any, /) -> Any:
    """``x.mT``."""
    return x.mT


def outer(x1: Any, x2: Any, /) -> Any:
    """`wengert.outer`."""
    return wengert.outer(*operands(x1, x2))


def pinv(x: Any, /, *, rtol: Any = None) -> Any:
    """`wengert.linalg.pinv`."""
    return wengert.linalg.pinv(x, rtol=rtol)


def qr(x: Any, /, *, mode: str = "reduced") -> Any:
    """`wengert.linalg.qr`."""
    return wengert.linalg.qr(x, mode)


def solve(x1: Any, x2: Any, /) -> Any:
    """`wengert.linalg.solve`, of a vector where `x2` has one dimension."""
    matrix, right = operands(x1, x2)
    if right.ndim == 1:
        return wengert.linalg.solve(matrix, right.unsqueeze(-1)).squeeze(-1)
    if matrix.ndim == right.ndim + 1:  # a stack of matrices beside one matrix is no stack of vectors
        right = right.unsqueeze(0)
    return wengert.linalg.solve(matrix, right)


def svd(x: Any, /, *, full_matrices: bool = True) -> Any:
    """`wengert.linalg.svd`."""
    return wengert.linalg.svd(x, full_matrices)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """`wengert.tensordot`."""
    first, second = operands(x1, x2)
    return wengert.tensordot(first, second, axes)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Sums over diagonals."""
    return wengert.sum(wengert.linalg.diagonal(x, offset=offset), -1, dtype=dtype_of_sum(x, dtype))


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Sums of products along an axis, of the conjugate of `x1` and `x2`."""
    first, second = operands(x1, x2)
    return wengert.sum(wengert.conj(first) * second, axis, dtype=first.dtype)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """`wengert.linalg.vector_norm`."""
    if axis == ():
        return wengert.linalg.vector_norm(wengert.unsqueeze(x, -1), ord, -1)
    return wengert.linalg.vector_norm(x, ord, axis, keepdims)
