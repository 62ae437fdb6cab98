"""Reference values of derivatives: the kernel of a row, differentiated numerically with very many digits."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import mpmath
from mpmath import mp, mpf

from .exact_world import INF, NAN, ExactWorld
from .interpreter import evaluate


@dataclass(frozen=True)
class Precision:
    """Steps of difference quotients, relative to the argument if it is below 1, and the digits that they need."""

    near: Any = mpf(10) ** -40
    nearer: Any = mpf(10) ** -80
    digits: int = 150

    def digits_for(self, x: float) -> int:
        """Enough for differences of the square of a small argument: subnormal ones lie 650 decimal places below 1; and
        for those of 1 - exp(-x) and 1 - exp(-x**2)."""
        return self.digits + (3 * abs(math.frexp(x)[1]) // 4 if x != 0 else 0) + int(min(0.45 * x * x, 700))


FINE = Precision()
COARSE = Precision(mpf(10) ** -12, mpf(10) ** -16, 45)  # for functions of which a value takes long


SLOW = ("gamma", "zeta", "bessel_y", "bessel_k", "airy", "polynomial", "gegenbauer", "laguerre")


def is_expensive(kernel: str) -> bool:
    return any(name in kernel for name in SLOW)


def precision_of(kernel: str) -> Precision:
    return COARSE if is_expensive(kernel) else FINE


Function = Callable[[Any], Any]


def kernel_of(kernel: str, argument: str, values: Mapping[str, Any]) -> Function:
    """The kernel as a function of one argument, the others fixed."""
    world = ExactWorld()
    fixed = {n: v if isinstance(v, bool) else mpf(v) for n, v in values.items()}
    return lambda x: evaluate(kernel, {**fixed, argument: x}, world)


def quotient(function: Function, x: Any, step: Any) -> Any:
    """The derivative on the side of the step, by Richardson's extrapolation of two differences."""
    h = step * (min(abs(x), 1) if x != 0 else 1)
    f0, f1, f2 = function(x), function(x + h / 2), function(x + h)
    return (4 * f1 - f2 - 3 * f0) / h


def one_sided(function: Function, x: Any, side: int, precision: Precision) -> Any:
    """The derivative on one side; infinite if the quotients grow without bound, 0 if they vanish."""
    near, nearer = quotient(function, x, side * precision.near), quotient(function, x, side * precision.nearer)
    if mpmath.isnan(near) or mpmath.isnan(nearer) or mpmath.isinf(near):
        return NAN
    if abs(nearer) > abs(near) * 3 / 2 and abs(nearer) > mpf(10) ** 2:
        return INF * mpmath.sign(nearer)
    return mpf(0) if abs(nearer) * 3 / 2 < abs(near) < mpf(10) ** -2 and x == 0 else nearer


def derivative_range(function: Function, x: float, precision: Precision = FINE) -> tuple[Any, Any]:
    """The derivatives on both sides of a finite point; the same number twice where the function is smooth."""
    with mp.workdps(precision.digits_for(x)):
        left, right = (quotient(function, mpf(x), side * precision.near) for side in (-1, 1))
        ordinary = mpmath.isfinite(left) and (x != 0 or left == 0 or mpf(10) ** -30 < abs(left) < mpf(10) ** 30)
        if ordinary and abs(left - right) <= precision.near**0.75 * abs(left):
            return right, right
        sides = [s for s in (one_sided(function, mpf(x), side, precision) for side in (-1, 1)) if not mpmath.isnan(s)]
        return (min(sides), max(sides)) if sides else (NAN, NAN)


def sensitivity(function: Function, x: float, derivative: Any, precision: Precision) -> Any:
    """How much the derivative changes when x moves by one part in 2**52: what rounding the argument may cost."""
    with mp.workdps(precision.digits_for(x)):
        return abs(quotient(function, mpf(x) * (1 + mpf(2) ** -52), precision.near) - derivative)


FAR = ("40123.4", "512345.6", "4123456.7", "71234567.8", "723456789.1")  # nothing that a period would meet


def limit_at_infinity(function: Function, sign: float) -> Any:
    """The limit of the derivative, or NaN if there is none."""
    with mp.workdps(120):
        values = [quotient(function, sign * mpf(x), FINE.near) for x in FAR]
        if any(mpmath.isnan(v) for v in values):
            return NAN
        pairs = list(itertools.pairwise(values))
        if all(abs(b) < abs(a) / 2 or b == 0 for a, b in pairs) and abs(values[-1]) < 1:
            return mpf(0)
        if all(b == a or (abs(b) > 2 * abs(a) and b * a > 0) for a, b in pairs) and abs(values[-1]) > 1e3:
            return INF * mpmath.sign(values[-1])
        return values[-1] if all(abs(b - a) <= mpf(10) ** -4 * abs(a) for a, b in pairs) else NAN


@functools.cache
def expected(kernel: str, argument: str, values: tuple[tuple[str, Any], ...], x: float) -> tuple[float, float, float]:
    """(least, greatest, allowed error) of the partial derivative at x; NaN where there is none to speak of."""
    function = kernel_of(kernel, argument, dict(values))
    if abs(x) == float("inf"):
        limit = float(limit_at_infinity(function, 1 if x > 0 else -1))
        return limit, limit, 1e-7 * abs(limit) if abs(limit) < 1e300 else 0.0
    precision = precision_of(kernel)
    low, high = derivative_range(function, x, precision)
    if mpmath.isnan(low):
        return float("nan"), float("nan"), 0.0
    error = 1e-13 * max(abs(low), abs(high))
    if low == high and mpmath.isfinite(low) and x != 0:
        error += 4 * sensitivity(function, x, low, precision)
    return float(low), float(high), float(error) if mpmath.isfinite(error) else 0.0
