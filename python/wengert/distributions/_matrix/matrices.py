"""What distributions with covariance matrices share."""

from __future__ import annotations

from typing import Any

import wengert as wg
from wengert.linalg import cholesky, solve_triangular


def factor_of(name: str, matrix: Any) -> Any:
    """Return the Cholesky factor of the covariance that is given as such, by its factor or by its inverse."""
    if name == "scale_tril":
        return matrix
    if name == "covariance_matrix":
        return cholesky(matrix)
    # With J reversing the order, J P J = F F' makes (J F J)' the inverse of the factor: one triangular solve.
    reversed_factor = cholesky(matrix.flip((-2, -1)))
    inverse_of_factor = reversed_factor.flip((-2, -1)).mT
    identity = wg.eye(matrix.size(-1), dtype=matrix.dtype, device=matrix.device).expand(matrix.shape)
    return solve_triangular(inverse_of_factor, identity, upper=False)


def whiten(factor: Any, vectors: Any) -> Any:
    """Return the solutions of factor @ z = vectors, both of which may have batches: [*, n, n] and [*, n]."""
    if factor.dim() == 2:  # one factor for all: one solve with many right-hand sides
        flat = vectors.reshape(-1, vectors.size(-1))
        return solve_triangular(factor, flat.mT, upper=False).mT.reshape(vectors.shape)
    return solve_triangular(factor, vectors.unsqueeze(-1), upper=False).squeeze(-1)


def half_log_det(factor: Any) -> Any:
    """Return half of the logarithm of the determinant of factor @ factor.mT."""
    return factor.diagonal(0, -2, -1).log().sum(-1)


def precision_of(factor: Any) -> Any:
    """Return the inverse of factor @ factor.mT."""
    identity = wg.eye(factor.size(-1), dtype=factor.dtype, device=factor.device).expand(factor.shape)
    inverse = solve_triangular(factor, identity, upper=False)
    return inverse.mT @ inverse


def square_sum(matrix: Any) -> Any:
    """Return the sum of the squares of all elements of matrices."""
    return matrix.square().sum((-2, -1))
