"""Solvers, with numbers: Newton's method, fixed-point iteration with Anderson's mixing, and minimization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert

from ._operator import Operator, _joined, _split
from ._products import Residual, Tensors


def _tolerance(x: Tensors, tolerance: float | None) -> float:
    if tolerance is not None:
        return tolerance
    return float(max((wengert.finfo(value.dtype).eps for value in x), default=0.0) ** 0.75)


def newton(
    residual: Residual, x: Tensors, p: Tensors, linear_solver: Any, iterative: str, tolerance: float | None, most: int
) -> Tensors:
    """Newton's method, with steps halved until the residual gets smaller."""
    tolerance = _tolerance(x, tolerance)
    norm = _norm(residual(x, p))
    for _ in range(most):
        if norm == 0:
            return x
        step = Operator(residual, x, p, linear_solver, iterative).solve(residual(x, p), transposed=False)
        length = 1.0
        while True:
            trial = [value - length * s for value, s in zip(x, step, strict=True)]
            trial_norm = _norm(residual(trial, p))
            small = length * _norm(step) <= tolerance * (1 + _norm(x))
            if trial_norm < norm or small:
                break
            length /= 2
        if trial_norm <= norm:
            x, norm = trial, trial_norm
        if small:
            return x
    raise _failure("root", norm, most)


def anderson(function: Residual, x: Tensors, p: Tensors, tolerance: float | None, most: int, memory: int) -> Tensors:
    """Fixed-point iteration; each new point is the best combination of the last ones, if `memory` is positive.

    D. G. Anderson, "Iterative procedures for nonlinear integral equations", JACM 12 (1965).
    """
    tolerance = _tolerance(x, tolerance)
    points: list[Any] = []
    changes: list[Any] = []
    error = np.inf
    for _ in range(most):
        point = _joined(x)
        change = _joined(function(x, p)) - point
        error = float(np.linalg.norm(change))
        if error <= tolerance * (1 + np.linalg.norm(point)):
            return _split(point + change, x)
        if not np.isfinite(error):
            break
        points, changes = [*points[-memory:], point] if memory else [point], [*changes[-memory:], change]
        step = change
        if memory and len(points) > 1:
            past = np.stack([c - change for c in changes[:-1]], 1)
            weights = np.linalg.lstsq(past, -change, rcond=None)[0]
            drift = np.stack([q - point for q in points[:-1]], 1)
            step = change + (drift + past) @ weights
        x = _split(point + step, x)
    raise _failure("fixed_point", error, most)


def minimum(objective: Callable[[Any], Any], x: Tensors, tolerance: float | None) -> Tensors:
    """Minimize, by a trust region of second order."""
    from ...optimize import minimize

    size = sum(value.numel() for value in x)
    method = "trust-exact" if size <= 200 else "trust-ncg"
    gradient_tolerance = 1e-8 if tolerance is None else tolerance
    found = minimize(objective, list(x), method=method, options={"gtol": gradient_tolerance}, tol=gradient_tolerance)
    return [value.to(old.dtype) for value, old in zip(found.x, x, strict=True)]


def _norm(tensors: Tensors) -> float:
    return float(np.linalg.norm(_joined(tensors)))


def _failure(name: str, error: float, most: int) -> RuntimeError:
    return RuntimeError(
        f"[implicit.{name}] no convergence in {most} iterations, residual {error:.3g}; start nearer to the solution, "
        "allow more with max_iterations=, or pass another solver="
    )
