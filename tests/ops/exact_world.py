"""mpmath: formulas with as many digits as asked for, and IEEE 754's infinities and NaN where mpmath would raise."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any, ClassVar

import mpmath
from mpmath import mp, mpc, mpf

COMPARE = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
NAN, INF = mpf("nan"), mpf("inf")


def is_nan(x: Any) -> bool:
    return bool(mpmath.isnan(x))


def real_or_nan(function: Callable[..., Any]) -> Callable[..., Any]:
    """On real numbers a function is real or undefined; its poles are infinite, or NaN if they have no sign."""

    def wrapped(*args: Any) -> Any:
        if any(is_nan(a) for a in args):
            return NAN
        try:
            value = function(*args)
        except (ZeroDivisionError, ValueError, OverflowError, mpmath.libmp.NoConvergence):
            return NAN
        if all(not isinstance(a, mpc) for a in args) and isinstance(value, mpc):
            return NAN if value.imag else value.real
        return value

    return wrapped


def divide(a: Any, b: Any) -> Any:
    if b == 0:
        return NAN if a == 0 or is_nan(a) else INF * mpmath.sign(a)
    return a / b


def power(a: Any, b: Any) -> Any:
    if b == 0:
        return mpf(1)
    if a == 0:
        return mpf(0) if b > 0 else INF
    return real_or_nan(operator.pow)(a, b)


def chain(g: Any, p: Any) -> Any:
    return mpf(0) if g == 0 or p == 0 else g * p


def sign(x: Any) -> Any:
    return x if is_nan(x) else mpmath.sign(x)


def maximum(a: Any, b: Any) -> Any:
    return NAN if is_nan(a) or is_nan(b) else max(a, b)


def minimum(a: Any, b: Any) -> Any:
    return NAN if is_nan(a) or is_nan(b) else min(a, b)


def xlogy(x: Any, y: Any) -> Any:
    return mpf(0) if x == 0 and not is_nan(y) else x * log(y)


log = real_or_nan(mpmath.log)


def logaddexp(a: Any, b: Any) -> Any:
    high, low = max(a, b), min(a, b)
    return high if mpmath.isinf(high) else high + mpmath.log1p(mpmath.exp(low - high))


@real_or_nan
def ndtr(x: Any) -> Any:
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def sigmoid(x: Any) -> Any:
    return 1 / (1 + mpmath.exp(-x)) if x >= 0 else mpmath.exp(x) / (1 + mpmath.exp(x))


def erfinv(y: Any) -> Any:
    return mpmath.erfinv(y) if abs(y) < 1 else (INF * mpmath.sign(y) if abs(y) == 1 else NAN)


def erfcx_integral(n: Any, x: Any) -> Any:
    # F(n) = (F(n-2) - 2x F(n-1)) / 2n loses digits, which mpmath has more of.
    with mp.extradps(60 + 20 * int(n)):
        before, value = 2 / mpmath.sqrt(mp.pi), erfcx(x)
        for k in range(1, int(n) + 1):
            before, value = value, (before - 2 * x * value) / (2 * k)
        return value


def erfcx(x: Any) -> Any:
    if mpmath.isinf(x):
        return mpf(0) if x > 0 else INF
    return mpmath.exp(x * x) * mpmath.erfc(x)


def spherical_bessel(n: Any, x: Any) -> Any:
    if n < 0:
        return mpf(0)
    if x == 0:
        return mpf(n == 0)
    root = mpmath.sqrt(mp.pi / (2 * abs(x))) * mpmath.besselj(n + mpf(1) / 2, abs(x))
    return root if x > 0 or int(n) % 2 == 0 else -root


def bessel_ie_derivative(n: Any, x: Any) -> Any:
    if x < 0:
        return NAN  # not what the function is for
    n = int(n)
    return (-2) ** n * mpmath.beta(n + mpf(1) / 2, mpf(1) / 2) / mp.pi * mpmath.hyp1f1(n + mpf(1) / 2, n + 1, -2 * x)


def bessel_ke_derivative(n: Any, x: Any) -> Any:
    n = int(n)
    return (-2) ** n * mpmath.gamma(n + mpf(1) / 2) * mpmath.hyperu(n + mpf(1) / 2, n + 1, 2 * x)


def chebyshev(kind: str, x: Any, n: Any) -> Any:
    before, value = mpf(1), {"t": x, "u": 2 * x, "v": 2 * x - 1, "w": 2 * x + 1}[kind]
    for _ in range(int(n)):
        before, value = value, 2 * x * value - before
    return before if n >= 0 else mpf(0)


def gegenbauer(a: Any, x: Any, n: Any) -> Any:
    before, value = mpf(0), mpf(n >= 0)
    for k in range(int(n)):
        before, value = value, (2 * (k + a) * x * value - (k + 2 * a - 1) * before) / (k + 1)
    return value


def polynomial(function: Callable[[int, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, n: function(int(n), x) if n >= 0 else mpf(0)


def sinc(x: Any) -> Any:
    return mpf(1) if x == 0 else mpmath.sinpi(x) / (mp.pi * x)


def lgamma(x: Any) -> Any:
    if x == 0 or x == INF:
        return INF
    return mpmath.log(abs(mpmath.gamma(x))) if x < 0 else mpmath.loggamma(x)


def defined(condition: Callable[[Any, Any], bool]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A function of two numbers where it is meant to be called; continuations beyond are slow and of no use."""

    def limit(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda a, x: function(a, x) if condition(a, x) else NAN

    return limit


@defined(lambda a, x: a > 0 and x >= 0)
def igamma(a: Any, x: Any) -> Any:
    return mpmath.gammainc(a, 0, x, regularized=True)


@defined(lambda a, x: a > 0 and x >= 0)
def igammac(a: Any, x: Any) -> Any:
    return mpmath.gammainc(a, x, mp.inf, regularized=True)


def derivative_in_first(function: Callable[..., Any]) -> Callable[..., Any]:
    """(n, a, x) -> the n-th derivative of function(a, x) with respect to a; 0 for n = -1."""

    def wrapped(n: Any, a: Any, x: Any) -> Any:
        if n <= 0:
            return mpf(0) if n < 0 else function(a, x)
        with mp.extradps(mp.dps // 2):
            return mpmath.diff(lambda s: function(s, x), a, int(n))

    return wrapped


@defined(lambda a, x: a > 0 and x >= 0)
def gamma_density(a: Any, x: Any) -> Any:
    return x ** (a - 1) * mpmath.exp(-x) / mpmath.gamma(a)


@defined(lambda s, a: s > 1 and a > 0)
def zeta(s: Any, a: Any) -> Any:
    return mpmath.zeta(s, a)


def zeta_d_order(n: Any, s: Any, a: Any) -> Any:
    return mpf(0) if n < 0 else mpmath.zeta(s, a, int(n)) if s > 1 and a > 0 else NAN


class ExactWorld:
    functions: ClassVar[dict[str, Any]] = {
        **{
            n: real_or_nan(getattr(mpmath, n))
            for n in [
                "exp",
                "expm1",
                "log1p",
                "log10",
                "sin",
                "cos",
                "tan",
                "sinh",
                "cosh",
                "tanh",
                "asin",
                "acos",
                "atan",
                "asinh",
                "acosh",
                "atanh",
                "sqrt",
                "hypot",
                "floor",
                "ceil",
                "erf",
                "erfc",
                "conj",
                "digamma",
            ]
        },
        "log": log,
        "exp2": lambda x: mpf(2) ** x,
        "log2": real_or_nan(lambda x: mpmath.log(x) / mpmath.log(2)),
        "trunc": lambda x: mpmath.floor(x) if x >= 0 else mpmath.ceil(x),
        "round": mpmath.nint,
        "rsqrt": lambda x: divide(mpf(1), real_or_nan(mpmath.sqrt)(x)),
        "square": lambda x: x * x,
        "frac": lambda x: x - (mpmath.floor(x) if x >= 0 else mpmath.ceil(x)),
        "atan2": mpmath.atan2,
        "abs": abs,
        "sign": sign,
        "sgn": sign,
        "chain": chain,
        "sigmoid": sigmoid,
        "silu": lambda x: chain(sigmoid(x), x),
        "mish": lambda x: chain(mpmath.tanh(logaddexp(x, mpf(0))), x),
        "gelu_erf": lambda x: chain(ndtr(x), x),
        "gelu_derivative": lambda x: ndtr(x) + chain(mpmath.exp(-x * x / 2) / mpmath.sqrt(2 * mpmath.pi), x),
        "tanhshrink": lambda x: x - mpmath.tanh(x),
        "maximum": maximum,
        "minimum": minimum,
        "fmax": max,
        "fmin": min,
        "xlogy": xlogy,
        "xlog1py": lambda x, y: xlogy(x, 1 + y),
        "logaddexp": logaddexp,
        "logaddexp2": lambda a, b: logaddexp(a * mpmath.log(2), b * mpmath.log(2)) / mpmath.log(2),
        "copysign": lambda a, b: abs(a) if b >= 0 else -abs(a),
        "heaviside": lambda x, v: v if x == 0 else mpf(x > 0),
        "nextafter": lambda a, b: a,
        "floor_divide": lambda a, b: mpmath.floor(divide(a, b)),
        "trunc_divide": lambda a, b: mpmath.floor(a / b) if a / b >= 0 else mpmath.ceil(a / b),
        "remainder": lambda a, b: a - b * mpmath.floor(a / b),
        "fmod": lambda a, b: a - b * (mpmath.floor(a / b) if a / b >= 0 else mpmath.ceil(a / b)),
        "lerp": lambda a, b, w: a + w * (b - a),
        "isinf": lambda x: bool(mpmath.isinf(x)),
        "isnan": is_nan,
        "isfinite": lambda x: bool(mpmath.isfinite(x)),
        "signbit": lambda x: x < 0,
        "real": mpmath.re,
        "imag": mpmath.im,
        "angle": mpmath.arg,
        "nan_to_num": lambda x, n, p, m: n if is_nan(x) else p if x == INF else m if x == -INF else x,
        "gaussian": lambda x, rate: mpmath.exp(-rate * x * x),
        "ndtr": ndtr,
        "log_ndtr": lambda x: mpmath.log(ndtr(x)),
        "erfinv": erfinv,
        "erfcx": erfcx,
        "ndtri": lambda p: mpmath.sqrt(2) * erfinv(2 * p - 1),
        "lgamma": real_or_nan(lgamma),
        "sinc": sinc,
        "polygamma": real_or_nan(lambda n, x: mpmath.psi(int(n), x)),
        "zeta": real_or_nan(zeta),
        "igamma": real_or_nan(igamma),
        "igammac": real_or_nan(igammac),
        "i0": lambda x: mpmath.besseli(0, x),
        "i1": lambda x: mpmath.besseli(1, x),
        "i0e": lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(0, x),
        "i1e": lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(1, x),
        "bessel_i": lambda n, x: mpmath.besseli(int(n), x),
        "bessel_ie_derivative": bessel_ie_derivative,
        "bessel_j": real_or_nan(lambda n, x: mpmath.besselj(int(n), x)),
        "bessel_y": real_or_nan(lambda n, x: mpmath.bessely(int(n), x) if x > 0 else NAN if x else -INF),
        "bessel_k": real_or_nan(lambda n, x: mpmath.besselk(int(n), x) if x > 0 else NAN if x else INF),
        "modified_bessel_k0": real_or_nan(lambda x: mpmath.besselk(0, x) if x > 0 else NAN if x else INF),
        "modified_bessel_k1": real_or_nan(lambda x: mpmath.besselk(1, x) if x > 0 else NAN if x else INF),
        "scaled_modified_bessel_k0": real_or_nan(
            lambda x: mpmath.exp(x) * mpmath.besselk(0, x) if x > 0 else NAN if x else INF
        ),
        "scaled_modified_bessel_k1": real_or_nan(
            lambda x: mpmath.exp(x) * mpmath.besselk(1, x) if x > 0 else NAN if x else INF
        ),
        "bessel_ke_derivative": real_or_nan(lambda n, x: bessel_ke_derivative(n, x) if x > 0 else NAN),
        "airy_ai": real_or_nan(mpmath.airyai),
        "airy_ai_derivative": real_or_nan(lambda n, x: mpmath.airyai(x, derivative=int(n))),
        **{f"chebyshev_polynomial_{kind}": functools.partial(chebyshev, kind) for kind in "tuvw"},
        "gegenbauer": gegenbauer,
        "laguerre": lambda a, x, n: mpmath.laguerre(int(n), a, x) if n >= 0 else mpf(0),
        "legendre_polynomial_p": polynomial(mpmath.legendre),
        "hermite_polynomial_h": polynomial(mpmath.hermite),
        "hermite_polynomial_he": polynomial(
            lambda n, x: mpf(2) ** (-mpf(n) / 2) * mpmath.hermite(n, x / mpmath.sqrt(2))
        ),
        "erfcx_integral": erfcx_integral,
        "spherical_bessel": spherical_bessel,
        "igamma_d_order": real_or_nan(derivative_in_first(igamma)),
        "gamma_density": real_or_nan(derivative_in_first(gamma_density)),
        "zeta_d_order": real_or_nan(zeta_d_order),
    }

    @property
    def constants(self) -> dict[str, Any]:
        return {"pi": +mp.pi, "inf": INF, "nan": NAN}

    def number(self, value: float) -> Any:
        return value if isinstance(value, bool) else exact_constant(value)

    def divide(self, a: Any, b: Any) -> Any:
        return divide(a, b)

    def power(self, a: Any, b: Any) -> Any:
        return power(a, b)

    def compare(self, op: str, a: Any, b: Any) -> bool:
        return bool(COMPARE[op](a, b))

    def both(self, a: Any, b: Any) -> bool:
        return bool(a) and bool(b)

    def either(self, a: Any, b: Any) -> bool:
        return bool(a) or bool(b)

    def negate(self, a: Any) -> bool:
        return not a

    def select(self, condition: Any, a: Any, b: Any) -> Any:
        return a if condition else b


# What the long literals of the table stand for.
def exact_constant(value: float) -> Any:
    meaning = meaning_of(abs(value))
    return mpf(value) if meaning is None else meaning() * int(math.copysign(1, value))


@functools.cache
def meaning_of(value: float) -> Callable[[], Any] | None:
    return next((meaning for meaning in MEANINGS if float(meaning()) == value), None)


MEANINGS = [
    lambda: mpmath.log(2),
    lambda: 2 * mpmath.log(2),
    lambda: 1 / mpmath.log(2),
    lambda: 1 / mpmath.log(10),
    lambda: 2 / mpmath.sqrt(mp.pi),
    lambda: mpmath.sqrt(mp.pi) / 2,
    lambda: 1 / mpmath.sqrt(2 * mp.pi),
    lambda: mpmath.sqrt(2 * mp.pi),
    lambda: mpmath.sqrt(2 / mp.pi),
    lambda: 1 / mpmath.sqrt(2),
    lambda: mp.pi / 180,
    lambda: 180 / mp.pi,
    lambda: 2 * mpmath.sqrt(2 / mp.pi),
    lambda: mpf(1) / 6,
    lambda: mpf("0.134145"),
    lambda: mpf("0.044715"),
]
