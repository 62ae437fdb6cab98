"""Elementwise functions: the standard's name, and ours where it is another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert

from ._promotion import named, operands


def _of_one(name: str, own: str = "") -> Callable[..., Any]:
    compute = getattr(wengert, own or name)

    def function(x: Any, /) -> Any:
        return compute(x)

    return named(function, name, own)


def _of_two(name: str, own: str = "") -> Callable[..., Any]:
    compute = getattr(wengert, own or name)

    def function(x1: Any, x2: Any, /) -> Any:
        return compute(*operands(x1, x2))

    return named(function, name, own)


abs = _of_one("abs")
acos = _of_one("acos")
acosh = _of_one("acosh")
asin = _of_one("asin")
asinh = _of_one("asinh")
atan = _of_one("atan")
atanh = _of_one("atanh")
bitwise_invert = _of_one("bitwise_invert", "bitwise_not")
ceil = _of_one("ceil")
conj = _of_one("conj")
cos = _of_one("cos")
cosh = _of_one("cosh")
exp = _of_one("exp")
expm1 = _of_one("expm1")
floor = _of_one("floor")
imag = _of_one("imag")
isfinite = _of_one("isfinite")
isinf = _of_one("isinf")
isnan = _of_one("isnan")
log = _of_one("log")
log1p = _of_one("log1p")
log2 = _of_one("log2")
log10 = _of_one("log10")
logical_not = _of_one("logical_not")
negative = _of_one("negative")
positive = _of_one("positive")
real = _of_one("real")
reciprocal = _of_one("reciprocal")
signbit = _of_one("signbit")
sin = _of_one("sin")
sinh = _of_one("sinh")
square = _of_one("square")
sqrt = _of_one("sqrt")
tan = _of_one("tan")
tanh = _of_one("tanh")
trunc = _of_one("trunc")

add = _of_two("add")
atan2 = _of_two("atan2")
bitwise_and = _of_two("bitwise_and")
bitwise_left_shift = _of_two("bitwise_left_shift")
bitwise_or = _of_two("bitwise_or")
bitwise_right_shift = _of_two("bitwise_right_shift")
bitwise_xor = _of_two("bitwise_xor")
copysign = _of_two("copysign")
divide = _of_two("divide")
equal = _of_two("equal", "eq")
floor_divide = _of_two("floor_divide")
greater = _of_two("greater")
greater_equal = _of_two("greater_equal")
hypot = _of_two("hypot")
less = _of_two("less")
less_equal = _of_two("less_equal")
logaddexp = _of_two("logaddexp")
logical_and = _of_two("logical_and")
logical_or = _of_two("logical_or")
logical_xor = _of_two("logical_xor")
maximum = _of_two("maximum")
minimum = _of_two("minimum")
multiply = _of_two("multiply")
nextafter = _of_two("nextafter")
not_equal = _of_two("not_equal")
pow = _of_two("pow")
subtract = _of_two("subtract")


def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """`wengert.clamp`, whose result has the type of `x`."""
    if min is None and max is None:
        return wengert.clone(x)
    return wengert.clamp(*(operands(x, min, max))).to(x.dtype)


def remainder(x1: Any, x2: Any, /) -> Any:
    """`wengert.remainder`, whose zeros have the sign of `x2`."""
    dividend, divisor = operands(x1, x2)
    result = wengert.remainder(dividend, divisor)
    if not result.is_floating_point():
        return result
    sign_of_divisor = wengert.copysign(wengert.ones_like(result), divisor.detach())
    return sign_of_divisor * (sign_of_divisor * result + 0.0)


def round(x: Any, /) -> Any:
    """`wengert.round`, of complex numbers that of both parts."""
    if not x.is_complex():
        return wengert.round(x)
    return wengert.complex(wengert.round(x.real), wengert.round(x.imag))


def sign(x: Any, /) -> Any:
    """`wengert.sgn`, which is NaN of NaN."""
    result = wengert.sgn(x)
    return wengert.where(wengert.isnan(x), x, result) if x.is_floating_point() else result


__all__ = [name for name, value in globals().items() if getattr(value, "__module__", "") == "wengert.array_api"]
__all__ += ["clip", "remainder", "round", "sign"]
