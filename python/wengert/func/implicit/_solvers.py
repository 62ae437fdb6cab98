"""Solvers, with numbers: Newton's method, fixed-point iteration with Anderson's mixing, and minimization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert

from .._products import joined, split
from ._operator import Operator
from ._products import Residual, Tensors


def _tolerance(x: Tensors, tolerance: float | None) -> float:
    if tolerance is not None:
        return tolerance
    return float(max((wengert.finfo(value.dtype).eps for value in x), default=0.0) ** 0.75)


def newton(
    residual: Residual, x: Tensors, p: Tensors, linear_solver: Any, iterative: str, tolerance: float | None, most: int
) -> Tensors:
    """Newton's method, with steps halved until the residual gets smaller.

    It ends at a small step, if the residual is one that as small a change of x explains: where it is not, no step gets
    further and there is no root nearby.
    """
    tolerance = _tolerance(x, tolerance)
    value = residual(x, p)
    norm = first = _norm(value)
    for _ in range(most):
        if norm == 0:
            return x
        step = Operator(residual, x, p, linear_solver, iterative).solve(value, transposed=False)
        shortest = tolerance * (1 + _norm(x))
        length, size = 1.0, _norm(step)
        while True:
            trial = [value - length * s for value, s in zip(x, step, strict=True)]
            trial_value = residual(trial, p)
            trial_norm = _norm(trial_value)
            if trial_norm < norm or not length * size > shortest:
                break
            length /= 2
        if trial_norm < norm:
            x, value, norm = trial, trial_value, trial_norm
        if not length * size > shortest:
            if norm <= 10 * (tolerance * first + _change(residual, x, p, value, shortest)):
                return x
            break
    raise _failure("root", norm, most)


def _change(residual: Residual, x: Tensors, p: Tensors, value: Tensors, size: float) -> float:
    """Return how much the residual changes where x does by `size`, in a direction that is nothing special."""
    point = joined(x)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], len(point))
    moved = residual(split(point + signs * size / max(len(point), 1) ** 0.5, x), p)
    return float(np.nan_to_num(np.linalg.norm(joined(moved) - joined(value))))


def anderson(function: Residual, x: Tensors, p: Tensors, tolerance: float | None, most: int, memory: int) -> Tensors:
    """Fixed-point iteration; each new point is the best combination of the last ones, if `memory` is positive.

    D. G. Anderson, "Iterative procedures for nonlinear integral equations", JACM 12 (1965).
    """
    tolerance = _tolerance(x, tolerance)
    points: list[Any] = []
    changes: list[Any] = []
    error = np.inf
    for _ in range(most):
        point = joined(x)
        change = joined(function(x, p)) - point
        error = float(np.linalg.norm(change))
        if error <= tolerance * (1 + np.linalg.norm(point)):
            return split(point + change, x)
        if not np.isfinite(error):
            break
        points, changes = [*points[-memory:], point] if memory else [point], [*changes[-memory:], change]
        step = change
        if memory and len(points) > 1:
            past = np.stack([c - change for c in changes[:-1]], 1)
            weights = np.linalg.lstsq(past, -change, rcond=None)[0]
            drift = np.stack([q - point for q in points[:-1]], 1)
            step = change + (drift + past) @ weights
        x = split(point + step, x)
    raise _failure("fixed_point", error, most)


def minimum(objective: Callable[[Any], Any], x: Tensors, tolerance: float | None) -> Tensors:
    """Minimize, by a trust region of second order."""
    from ...optimize import minimize  # loaded when somebody looks for a minimum

    size = sum(value.numel() for value in x)
    method = "trust-exact" if size <= 200 else "trust-ncg"
    gradient_tolerance = 1e-8 if tolerance is None else tolerance
    found = minimize(objective, list(x), method=method, options={"gtol": gradient_tolerance}, tol=gradient_tolerance)
    return [value.to(old.dtype) for value, old in zip(found.x, x, strict=True)]


def _norm(tensors: Tensors) -> float:
    return float(np.linalg.norm(joined(tensors)))


def _failure(name: str, error: float, most: int) -> RuntimeError:
    return RuntimeError(
        f"[implicit.{name}] no convergence within {most} iterations, residual {error:.3g}; if there is a solution, "
        "start nearer to it, allow more with max_iterations=, or pass another solver="
    )
