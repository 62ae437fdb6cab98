"""SymPy: formulas as expressions over real symbols. Choices become Piecewise; unknown functions are left out."""

from __future__ import annotations

from typing import Any, ClassVar

import sympy
from sympy import Piecewise, Rational, S

RELATIONS = {"==": sympy.Eq, "!=": sympy.Ne, "<": sympy.Lt, "<=": sympy.Le, ">": sympy.Gt, ">=": sympy.Ge}
LITERALS = [
    sympy.log(2),
    2 * sympy.log(2),
    1 / sympy.log(2),
    1 / sympy.log(10),
    2 / sympy.sqrt(sympy.pi),
    sympy.sqrt(sympy.pi) / 2,
    1 / sympy.sqrt(2 * sympy.pi),
    sympy.sqrt(2 * sympy.pi),
    sympy.sqrt(2 / sympy.pi),
    1 / sympy.sqrt(2),
    sympy.pi / 180,
    180 / sympy.pi,
    2 * sympy.sqrt(2 / sympy.pi),
    Rational(1, 6),
]
MEANINGS = {float(literal): literal for literal in LITERALS}


def choose(condition: Any, a: Any, b: Any) -> Any:
    if condition in (True, False, S.true, S.false):
        return a if condition else b
    return Piecewise((a, condition), (b, True))


def sign(x: Any) -> Any:
    return Piecewise((S.One, x > 0), (-S.One, x < 0), (S.Zero, True))


def absolute(x: Any) -> Any:
    return Piecewise((x, x >= 0), (-x, True))


def gamma_p(a: Any, x: Any) -> Any:
    return sympy.lowergamma(a, x) / sympy.gamma(a)


class SymbolicWorld:
    constants: ClassVar[dict[str, Any]] = {"pi": sympy.pi, "inf": sympy.oo, "nan": sympy.nan}
    functions: ClassVar[dict[str, Any]] = {
        **{
            n: getattr(sympy, n)
            for n in [
                "exp",
                "log",
                "sin",
                "cos",
                "tan",
                "asin",
                "acos",
                "atan",
                "sinh",
                "cosh",
                "tanh",
                "asinh",
                "acosh",
                "atanh",
                "sqrt",
                "erf",
                "erfc",
                "digamma",
                "polygamma",
                "zeta",
                "atan2",
            ]
        },
        "abs": absolute,
        "sign": sign,
        "sgn": sign,
        "conj": lambda x: x,
        "square": lambda x: x**2,
        "exp2": lambda x: 2**x,
        "expm1": lambda x: sympy.exp(x) - 1,
        "log1p": lambda x: sympy.log(1 + x),
        "log2": lambda x: sympy.log(x) / sympy.log(2),
        "log10": lambda x: sympy.log(x) / sympy.log(10),
        "rsqrt": lambda x: 1 / sympy.sqrt(x),
        "hypot": lambda a, b: sympy.sqrt(a**2 + b**2),
        "sigmoid": lambda x: 1 / (1 + sympy.exp(-x)),
        "silu": lambda x: x / (1 + sympy.exp(-x)),
        "mish": lambda x: x * sympy.tanh(sympy.log(1 + sympy.exp(x))),
        "gelu_erf": lambda x: x * (1 + sympy.erf(x / sympy.sqrt(2))) / 2,
        "gelu_derivative": lambda x: (
            (1 + sympy.erf(x / sympy.sqrt(2))) / 2 + x * sympy.exp(-(x**2) / 2) / sympy.sqrt(2 * sympy.pi)
        ),
        "gaussian": lambda x, rate: sympy.exp(-rate * x**2),
        "tanhshrink": lambda x: x - sympy.tanh(x),
        "logaddexp": lambda a, b: sympy.log(sympy.exp(a) + sympy.exp(b)),
        "logaddexp2": lambda a, b: sympy.log(2**a + 2**b) / sympy.log(2),
        "xlogy": lambda x, y: x * sympy.log(y),
        "xlog1py": lambda x, y: x * sympy.log(1 + y),
        "chain": lambda g, p: g * p,
        "maximum": lambda a, b: choose(a > b, a, b),
        "minimum": lambda a, b: choose(a < b, a, b),
        "lerp": lambda a, b, w: a + w * (b - a),
        "isinf": lambda x: S.false,
        "isfinite": lambda x: S.true,
        "real": lambda x: x,
        "signbit": lambda x: sympy.Lt(x, 0),
        "isnan": lambda x: S.false,
        "lgamma": sympy.loggamma,
        "igamma": gamma_p,
        "igammac": lambda a, x: 1 - gamma_p(a, x),
        "erfinv": sympy.erfinv,
        "erfcx": lambda x: sympy.exp(x**2) * sympy.erfc(x),
        "ndtr": lambda x: (1 + sympy.erf(x / sympy.sqrt(2))) / 2,
        "ndtri": lambda p: sympy.sqrt(2) * sympy.erfinv(2 * p - 1),
        "log_ndtr": lambda x: sympy.log(sympy.erfc(-x / sympy.sqrt(2)) / 2),
        "i0": lambda x: sympy.besseli(0, x),
        "i1": lambda x: sympy.besseli(1, x),
        "bessel_i": sympy.besseli,
        "bessel_j": sympy.besselj,
        "bessel_y": sympy.bessely,
        "bessel_k": sympy.besselk,
        "modified_bessel_k0": lambda x: sympy.besselk(0, x),
        "modified_bessel_k1": lambda x: sympy.besselk(1, x),
        "sinc": lambda x: sympy.sin(sympy.pi * x) / (sympy.pi * x),
        "spherical_bessel": lambda n, x: sympy.expand_func(sympy.jn(n, x)),
    }

    def number(self, value: float) -> Any:
        if isinstance(value, bool):
            return S.true if value else S.false
        exact = MEANINGS.get(abs(value))
        return Rational(str(value)) if exact is None else exact * (1 if value > 0 else -1)

    def divide(self, a: Any, b: Any) -> Any:
        return a / b

    def power(self, a: Any, b: Any) -> Any:
        return a**b

    def compare(self, op: str, a: Any, b: Any) -> Any:
        return RELATIONS[op](a, b)

    def both(self, a: Any, b: Any) -> Any:
        return sympy.And(a, b)

    def either(self, a: Any, b: Any) -> Any:
        return sympy.Or(a, b)

    def negate(self, a: Any) -> Any:
        return sympy.Not(a)

    def select(self, condition: Any, a: Any, b: Any) -> Any:
        return choose(condition, a, b)
