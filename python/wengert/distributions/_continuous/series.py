"""Functions that are quotients with a removable zero: their power series near it, so that no digits cancel."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import wengert as wg


def polynomial(coefficients: tuple[float, ...], t: Any) -> Any:
    """Return a polynomial, the constant coefficient first."""
    result: Any = 0
    for coefficient in reversed(coefficients):
        result = result * t + coefficient
    return result


def near_zero(t: Any, radius: float, series: Callable[[Any], Any], direct: Callable[[Any], Any]) -> Any:
    """Return a series where t is small, and a formula where it is not, each with its derivatives."""
    small = t.abs() < radius
    return wg.where(small, series(wg.where(small, t, 0.0)), direct(wg.where(small, 1.0, t)))


_LOG1P = tuple((-1) ** k / (k + 1) for k in range(14))
_EXPM1 = tuple(1 / math.factorial(k + 1) for k in range(12))


def log1p_quotient(t: Any) -> Any:
    """Return log(1 + t) / t."""
    return near_zero(t, 0.05, lambda s: polynomial(_LOG1P, s), lambda s: s.log1p() / s)


def expm1_quotient(t: Any) -> Any:
    """Return (exp(t) - 1) / t."""
    return near_zero(t, 0.1, lambda s: polynomial(_EXPM1, s), lambda s: s.expm1() / s)
