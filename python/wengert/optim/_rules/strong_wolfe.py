"""A line search for the strong Wolfe conditions.

A step of length `t` along a direction is good enough when the loss falls by a share of what the slope at the start
promises, and the slope has flattened::

    loss(t) <= loss(0) + c1 * t * slope(0)    and    abs(slope(t)) <= c2 * abs(slope(0))

First steps grow until two of them bracket such a point, then the bracket shrinks, by cubic interpolation each time.
See Nocedal and Wright (2006), Numerical optimization, algorithms 3.5 and 3.6; interpolation and safeguards are those of
Schmidt (2005), minFunc, https://www.cs.ubc.ca/~schmidtm/Software/minFunc.html.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from wengert._C import Tensor

_C1, _C2 = 1e-4, 0.9


class Point(NamedTuple):
    """Where a step of length `t` ends: the loss, its gradient, and its slope along the direction."""

    t: float
    loss: float
    gradient: Tensor
    slope: float


Evaluate = Callable[[float], Point]


def search(evaluate: Evaluate, start: Point, t: float, span: float, tolerance: float, limit: int) -> tuple[Point, int]:
    """Return the point that was found, or the best one within `limit` steps, and how often `evaluate` was called.

    `span` is the largest element of the direction: a bracket whose ends are closer than `tolerance` is not divided.
    """
    bracket, count = _bracket(evaluate, start, t, limit)
    if len(bracket) == 1:
        return bracket[0], count + 1
    low, high = _order(bracket)
    narrow = False
    while count < limit and abs(bracket[1].t - bracket[0].t) * span >= tolerance:
        t, narrow = _inside(bracket, narrow)
        point = evaluate(t)
        count += 1
        if not _falls_enough(point, start) or point.loss >= bracket[low].loss:
            bracket[high] = point
            low, high = _order(bracket)
            continue
        flat = abs(point.slope) <= -_C2 * start.slope
        if not flat and point.slope * (bracket[high].t - bracket[low].t) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = point
        if flat:
            break
    return bracket[low], count + 1


def _bracket(evaluate: Evaluate, start: Point, t: float, limit: int) -> tuple[list[Point], int]:
    """Return one point that satisfies the conditions, or two around one, and how often the step was lengthened."""
    before, point = start, evaluate(t)
    for count in range(limit):
        if not _falls_enough(point, start) or (count > 1 and point.loss >= before.loss):
            return [before, point], count
        if abs(point.slope) <= -_C2 * start.slope:
            return [point], count
        if point.slope >= 0:
            return [before, point], count
        t = _cubic_minimum(before, point, point.t + 0.01 * (point.t - before.t), 10 * point.t)
        before, point = point, evaluate(t)
    return [start, point], max(limit, 0)


def _falls_enough(point: Point, start: Point) -> bool:
    return not point.loss > start.loss + _C1 * point.t * start.slope


def _order(bracket: list[Point]) -> tuple[int, int]:
    """Return the positions of the lower and of the higher end."""
    return (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)


def _inside(bracket: list[Point], narrow: bool) -> tuple[float, bool]:
    """Return where to divide a bracket, and whether that is close to an end, which is not allowed twice in a row."""
    left, right = sorted(point.t for point in bracket)
    t = _cubic_minimum(bracket[0], bracket[1], left, right)
    margin = 0.1 * (right - left)
    if min(right - t, t - left) >= margin:
        return t, False
    if narrow or t >= right or t <= left:
        return (right - margin if abs(t - right) < abs(t - left) else left + margin), False
    return t, True


def _cubic_minimum(a: Point, b: Point, lowest: float, highest: float) -> float:
    """Return where the cubic with the losses and slopes of two points is least, between two bounds."""
    if a.t > b.t:
        a, b = b, a
    try:
        d = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
        root = math.sqrt(d * d - a.slope * b.slope)
        t = b.t - (b.t - a.t) * ((b.slope + root - d) / (b.slope - a.slope + 2 * root))
    except (ValueError, ZeroDivisionError, OverflowError):  # it has no minimum
        return (lowest + highest) / 2
    return (lowest + highest) / 2 if math.isnan(t) else min(max(t, lowest), highest)
