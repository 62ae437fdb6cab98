"""The line search of L-BFGS under the names by which pytorch-minimize imports it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert import Tensor
from wengert.optim._rules.strong_wolfe import Point, _cubic_minimum, search


def _strong_wolfe(
    obj_func: Callable[..., tuple[Any, Tensor]],
    x: Tensor,
    t: float,
    d: Tensor,
    f: float,
    g: Tensor,
    gtd: Any,
    *,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[float, Tensor, float, int]:
    """Return the loss, the gradient and the length of a step that satisfies the conditions, and the evaluations."""

    def evaluate(t: float) -> Point:
        loss, gradient = obj_func(x, t, d)
        return Point(t, float(loss), gradient, float(gradient.dot(d)))

    start = Point(0.0, float(f), g, float(gtd))
    found, count = search(evaluate, start, float(t), float(d.abs().max()), tolerance_change, max_ls)
    return found.loss, found.gradient, found.t, count


def _cubic_interpolate(x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: Any = None) -> float:
    """Return where the cubic with the values and slopes at two places is least, between them or the given bounds."""
    a, b = Point(float(x1), float(f1), g1, float(g1)), Point(float(x2), float(f2), g2, float(g2))
    lowest, highest = sorted((a.t, b.t)) if bounds is None else bounds
    return _cubic_minimum(a, b, float(lowest), float(highest))
