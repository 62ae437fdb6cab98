"""The Jacobian A = dF/dx at one point, and solutions of A v = b and of its transpose, with numbers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert

from ...autograd import enable_grad
from ...autograd.forward_ad import _set_fwd_grad_enabled
from .._products import Vector, joined, matrix, pulled, pulled_vector, split
from .._sparse._api import sparse_jacobian
from ._products import Residual, Tensors

LinearSolver = str | Callable[[Callable[[Any], Any], Any], Any]

LINEAR_SOLVERS = ("auto", "lu", "sparse", "cg", "gmres", "bicgstab")
_LARGE = 500  # unknowns from which on matrices are avoided


class Operator:
    """A at the point (x, p), from a recorded evaluation of F."""

    def __init__(self, residual: Residual, x: Tensors, p: Tensors, solver: LinearSolver, iterative: str) -> None:
        self._residual = residual
        self._p = [t.detach() for t in p]
        with enable_grad(), _set_fwd_grad_enabled(False):
            self._x = [t.detach().requires_grad_() for t in x]
            self._outputs = residual(self._x, self._p)
        self._columns, self._rows = _size(self._x), _size(self._outputs)
        if self._columns != self._rows:
            raise ValueError(
                f"[implicit] needs as many equations as unknowns, but F returned {self._rows} elements for "
                f"{self._columns}"
            )
        if solver == "auto":
            solver = "lu" if self._rows <= _LARGE else iterative
        if not callable(solver) and solver not in LINEAR_SOLVERS:
            raise ValueError(
                f"[implicit] linear_solver must be one of {LINEAR_SOLVERS} or callable, but got {solver!r}"
            )
        self._solver = solver

    def solve(self, rhs: Tensors, transposed: bool) -> Tensors:
        """Return v with A v = rhs, or with the transpose."""
        with _set_fwd_grad_enabled(False):
            vector = joined(rhs)
            if self._solver == "lu":
                solution = self._by_factors(vector, transposed)
            elif self._solver == "sparse":
                solution = self._sparse_factors.solve(vector, "T" if transposed else "N")
            else:
                solution = self._by_products(vector, transposed)
            return split(np.asarray(solution), self._outputs if transposed else self._x)

    def _by_factors(self, vector: Any, transposed: bool) -> Any:
        factors, pivots = self._factors
        column = wengert.tensor(vector.reshape(-1, 1), dtype=factors.dtype)
        return wengert.linalg.lu_solve(factors, pivots, column, adjoint=transposed).numpy().reshape(-1)

    @functools.cached_property
    def _factors(self) -> tuple[Any, Any]:
        jacobian = wengert.tensor(matrix(self._pulled, self._rows), dtype=self._x[0].dtype)
        factors, pivots, info = wengert.linalg.lu_factor_ex(jacobian)
        if info.item():
            raise RuntimeError(
                "[implicit] dF/dx is singular: where it is so at a solution, that is no differentiable function of the "
                "parameters; where it is so on the way, start elsewhere"
            )
        return factors, pivots

    @functools.cached_property
    def _sparse_factors(self) -> Any:
        from scipy.sparse.linalg import splu

        return splu(
            sparse_jacobian(lambda x: self._residual(x, self._p), self._x, mode="reverse").tocsc().astype(np.float64)
        )

    def _by_products(self, vector: Any, transposed: bool) -> Any:
        product = self._pulled if transposed else self._pushed
        if callable(self._solver):
            return self._solver(product, vector)
        from scipy.sparse import linalg

        operator = linalg.LinearOperator((self._rows, self._rows), matvec=product, dtype=vector.dtype)
        eps = float(np.finfo(vector.dtype).eps)
        wanted = eps**0.75  # relative; iterations stagnate above rounding, so they go on from what is left
        solution, rest = np.zeros_like(vector), vector
        error = size = np.linalg.norm(vector)
        for _ in range(5):
            if error <= wanted * size:
                break
            # Of length 1: SciPy knows a breakdown by absolute numbers.
            step, _ = getattr(linalg, self._solver)(operator, rest / error, rtol=wanted, atol=0, maxiter=10_000)
            trial = solution + error * step
            left = vector - product(trial)
            if not np.linalg.norm(left) < error:
                break
            solution, rest, error = trial, left, np.linalg.norm(left)
        if not error <= np.sqrt(eps) * size:
            raise RuntimeError(
                f"[implicit] {self._solver} left a residual of {error:.2g} of {size:.2g}; use linear_solver='lu' or "
                "'sparse', or pass a function solver(product, b) with a preconditioner"
            )
        return solution

    def _pulled(self, weights: Vector) -> Vector:
        with _set_fwd_grad_enabled(False):
            return pulled_vector(self._outputs, self._x, weights)

    def _pushed(self, direction: Any) -> Any:
        weights, products = self._linear
        with _set_fwd_grad_enabled(False):
            return pulled_vector(products, weights, direction)

    @functools.cached_property
    def _linear(self) -> tuple[Tensors, Tensors]:
        """Products of the transpose with weights, to be differentiated by these weights."""
        with enable_grad(), _set_fwd_grad_enabled(False):
            weights = [wengert.zeros_like(output, requires_grad=True) for output in self._outputs]
            return weights, pulled(self._outputs, self._x, weights, create_graph=True)


def _size(tensors: Tensors) -> int:
    return int(sum(tensor.numel() for tensor in tensors))
