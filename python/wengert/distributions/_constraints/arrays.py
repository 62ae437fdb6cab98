"""Sets of vectors and of matrices.

Where a sum or a product must have one value, it may miss it by what summing in the dtype costs.
"""

from __future__ import annotations

from typing import Any

import wengert as wg

from .constraint import Constraint, all_of

_SUM_TOLERANCE = 1e-6
_SYMMETRY_TOLERANCE = 1e-6


class Simplex(Constraint):
    """Vectors of numbers that are not negative and sum to 1."""

    event_dim = 1

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < _SUM_TOLERANCE)


class OneHot(Constraint):
    """Vectors of zeros with a single one."""

    is_discrete = True
    event_dim = 1

    def check(self, value: Any) -> Any:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class Multinomial(Constraint):
    """Vectors of counts that sum to at most a number; to that number itself is not checked."""

    is_discrete = True
    event_dim = 1
    _bounds = ()

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class LowerTriangular(Constraint):
    """Lower triangular matrices."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        return all_of(value.tril() == value, 2)


class LowerCholesky(LowerTriangular):
    """Lower triangular matrices with a positive diagonal."""

    def check(self, value: Any) -> Any:
        return super().check(value) & (value.diagonal(0, -2, -1) > 0).all(-1)


class CorrCholesky(LowerCholesky):
    """Cholesky factors of correlation matrices: lower triangular, with rows of length 1 and a positive diagonal."""

    def check(self, value: Any) -> Any:
        tolerance = wg.finfo(value.dtype).eps * value.size(-1) * 10
        lengths = wg.linalg.vector_norm(value.detach(), dim=-1)
        return ((lengths - 1).abs() <= tolerance).all(-1) & super().check(value)


class Square(Constraint):
    """Square matrices."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        return wg.full(value.shape[:-2], value.size(-2) == value.size(-1), dtype=wg.bool, device=value.device)


class Symmetric(Square):
    """Symmetric matrices."""

    def check(self, value: Any) -> Any:
        if value.size(-2) != value.size(-1):
            return super().check(value)
        return all_of(wg.isclose(value, value.mT, atol=_SYMMETRY_TOLERANCE), 2)


class PositiveSemidefinite(Symmetric):
    """Symmetric matrices without negative eigenvalues."""

    def check(self, value: Any) -> Any:
        symmetric = super().check(value)
        if value.size(-2) != value.size(-1):
            return symmetric
        eigenvalues = wg.linalg.eigvalsh(value)
        rounding = wg.finfo(value.dtype).eps * value.size(-1) * eigenvalues.abs().amax(-1, True)
        return symmetric & (eigenvalues >= -rounding).all(-1)


class PositiveDefinite(Symmetric):
    """Symmetric matrices with positive eigenvalues."""

    def check(self, value: Any) -> Any:
        symmetric = super().check(value)
        if value.size(-2) != value.size(-1):
            return symmetric
        return symmetric & (wg.linalg.cholesky_ex(value)[1] == 0)
