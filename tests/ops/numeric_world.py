"""float64, as the compiled loops compute: NumPy and SciPy. For checks that need no build."""

from __future__ import annotations

import math
import operator
from typing import Any, ClassVar

import numpy as np
from mpmath import mp, mpf
from scipy import special

from .exact_world import ExactWorld

COMPARE = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def chain(g: Any, p: Any) -> Any:
    return np.float64(0) if g == 0 else p if p == 0 else g * p


def erfcx_integral(n: Any, x: Any) -> Any:
    # The integral over t of exp(-t**2 - 2xt) t**n / n!, by Gauss-Laguerre where it decays fast enough.
    if np.isinf(x):
        return np.float64(0 if x > 0 else np.inf)
    from scipy.integrate import quad

    scale = max(float(x), 1.0)
    value = quad(
        lambda t: np.exp(-((t / scale) ** 2) - 2 * x * t / scale) * (t / scale) ** int(n),
        0,
        math.inf,
        epsabs=0,
        epsrel=1e-13,
        limit=200,
    )[0]
    return np.float64(2 / math.sqrt(math.pi) * value / scale / math.factorial(int(n)))


def bessel_ie_derivative(n: Any, x: Any) -> Any:
    # exp(-x) i0(x) = e**(-2x) M(1/2, 1, 2x); each derivative multiplies the integrand by cos - 1.
    n = int(n)
    factor = (-2.0) ** n * special.beta(n + 0.5, 0.5) / math.pi
    z = 2 * x
    if z < 60:
        return np.float64(factor * np.exp(-z) * special.hyp1f1(0.5, n + 1, z))
    term = total = 1.0
    for k in range(1, 30):
        term *= (n + k - 0.5) * (k - 0.5) / (k * z)
        total += term
    return np.float64(factor * special.gamma(n + 1) / math.sqrt(math.pi) * z ** (-n - 0.5) * total)


def spherical_bessel(n: Any, x: Any) -> Any:
    if n < 0 or abs(x) < 1e-100:  # SciPy's underflows on the way, to NaN
        return np.float64(n == 0) if n != 1 else x / 3
    return special.spherical_jn(int(n), x)


def sinc(x: Any) -> Any:
    return (
        np.float64(0)
        if np.isinf(x)
        else np.float64(1)
        if x == 0
        else np.sin(np.pi * (x - 2 * np.rint(x / 2))) / (np.pi * x)
    )


def modified_bessel(order: int) -> Any:
    """SciPy's are NaN at infinity."""
    function = special.i1 if order else special.i0
    return lambda x: np.float64(np.inf) * (np.sign(x) if order else 1) if np.isinf(x) else function(x)


def rounded(name: str) -> Any:
    """What neither NumPy nor SciPy has, computed exactly."""

    def function(*args: Any) -> Any:
        with mp.workdps(30):
            return np.float64(ExactWorld.functions[name](*(mpf(float(a)) for a in args)))

    return function


def copied(name: str) -> Any:
    return getattr(np, name, None) or getattr(special, name)


class NumericWorld:
    constants: ClassVar[dict[str, Any]] = {
        "pi": np.float64(np.pi),
        "inf": np.float64(np.inf),
        "nan": np.float64(np.nan),
    }
    functions: ClassVar[dict[str, Any]] = {
        **{
            n: copied(n)
            for n in [
                "exp",
                "exp2",
                "expm1",
                "log",
                "log2",
                "log10",
                "log1p",
                "logaddexp",
                "logaddexp2",
                "xlogy",
                "xlog1py",
                "sin",
                "cos",
                "tan",
                "sinh",
                "cosh",
                "tanh",
                "sqrt",
                "hypot",
                "maximum",
                "minimum",
                "fmax",
                "fmin",
                "floor",
                "ceil",
                "trunc",
                "copysign",
                "nextafter",
                "heaviside",
                "floor_divide",
                "remainder",
                "fmod",
                "square",
                "isfinite",
                "isnan",
                "isinf",
                "isposinf",
                "isneginf",
                "signbit",
                "sign",
                "conj",
                "real",
                "imag",
                "angle",
                "abs",
                "erf",
                "erfc",
                "erfinv",
                "erfcx",
                "ndtr",
                "ndtri",
                "log_ndtr",
                "i0e",
                "i1e",
                "logical_and",
                "logical_or",
                "logical_xor",
                "logical_not",
                "gcd",
                "lcm",
            ]
        },
        "i0": modified_bessel(0),
        "i1": modified_bessel(1),
        "sinc": sinc,
        "asin": np.arcsin,
        "acos": np.arccos,
        "atan": np.arctan,
        "atan2": np.arctan2,
        "asinh": np.arcsinh,
        "acosh": np.arccosh,
        "atanh": np.arctanh,
        "sgn": np.sign,
        "round": np.rint,
        "frac": lambda x: x - np.trunc(x),
        "rsqrt": lambda x: 1 / np.sqrt(x),
        "sigmoid": special.expit,
        "silu": lambda x: chain(special.expit(x), x),
        "mish": lambda x: chain(np.tanh(np.logaddexp(x, 0)), x),
        "gelu_erf": lambda x: chain(special.ndtr(x), x),
        "gelu_derivative": lambda x: special.ndtr(x) + chain(np.exp(-x * x / 2) / math.sqrt(2 * math.pi), x),
        "gaussian": lambda x, rate: np.exp(-rate * x * x),
        "tanhshrink": lambda x: x - np.tanh(x),
        "lgamma": special.gammaln,
        "digamma": special.psi,
        "zeta": special.zeta,
        "polygamma": lambda n, x: special.polygamma(int(n), x),
        "igamma": special.gammainc,
        "igammac": special.gammaincc,
        "trunc_divide": lambda a, b: np.trunc(a / b),
        "bessel_i": lambda n, x: np.float64(np.inf) * np.sign(x) ** int(n) if np.isinf(x) else special.iv(n, x),
        "bessel_j": lambda n, x: np.float64(0) if np.isinf(x) else special.jv(int(n), x),
        "bessel_y": lambda n, x: special.yn(int(n), x),
        "bessel_k": lambda n, x: special.kn(abs(int(n)), x),
        "modified_bessel_k0": special.k0,
        "modified_bessel_k1": special.k1,
        "scaled_modified_bessel_k0": special.k0e,
        "scaled_modified_bessel_k1": special.k1e,
        "airy_ai": lambda x: special.airy(x)[0],
        "gegenbauer": lambda a, x, n: special.eval_gegenbauer(int(n), a, x) if n >= 0 else np.float64(0),
        "laguerre": lambda a, x, n: special.eval_genlaguerre(int(n), a, x) if n >= 0 else np.float64(0),
        "chebyshev_polynomial_t": lambda x, n: special.eval_chebyt(int(n), x),
        "chebyshev_polynomial_u": lambda x, n: special.eval_chebyu(int(n), x) if n >= 0 else np.float64(0),
        "legendre_polynomial_p": lambda x, n: special.eval_legendre(int(n), x),
        "hermite_polynomial_h": lambda x, n: special.eval_hermite(int(n), x) if n >= 0 else np.float64(0),
        "hermite_polynomial_he": lambda x, n: special.eval_hermitenorm(int(n), x) if n >= 0 else np.float64(0),
        "chain": chain,
        "erfcx_integral": erfcx_integral,
        "bessel_ie_derivative": bessel_ie_derivative,
        "spherical_bessel": spherical_bessel,
        **{
            n: rounded(n)
            for n in (
                "igamma_d_order",
                "gamma_density",
                "zeta_d_order",
                "bessel_ke_derivative",
                "airy_ai_derivative",
                "chebyshev_polynomial_v",
                "chebyshev_polynomial_w",
            )
        },
        "lerp": lambda a, b, w: a + w * (b - a) if abs(w) < 0.5 else b - (b - a) * (1 - w),
        "nan_to_num": lambda x, n, p, m: n if np.isnan(x) else p if x == np.inf else m if x == -np.inf else x,
        "complex": lambda a, b: a + 1j * b,
    }

    def number(self, value: float) -> Any:
        return value if isinstance(value, bool) else np.float64(value)

    def divide(self, a: Any, b: Any) -> Any:
        return a / b

    def power(self, a: Any, b: Any) -> Any:
        return np.power(a, b)

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
