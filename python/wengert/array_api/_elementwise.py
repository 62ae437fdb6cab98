"""Elementwise functions: the standard's name, and ours where it is another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert

from ._promotion import named, operands


def _of(arrays: int, name: str, own: str = "") -> Callable[..., Any]:
    """Return the function of one array or of two that computes what `wengert` has by a name of its own."""
    compute = getattr(wengert, own or name)

    def of_one(x: Any, /) -> Any:
        return compute(x)

    def of_two(x1: Any, x2: Any, /) -> Any:
        return compute(*operands(x1, x2))

    return named(of_one if arrays == 1 else of_two, name, own)


abs = _of(1, "abs")
acos = _of(1, "acos")
acosh = _of(1, "acosh")
asin = _of(1, "asin")
asinh = _of(1, "asinh")
atan = _of(1, "atan")
atanh = _of(1, "atanh")
bitwise_invert = _of(1, "bitwise_invert", "bitwise_not")
ceil = _of(1, "ceil")
conj = _of(1, "conj")
cos = _of(1, "cos")
cosh = _of(1, "cosh")
exp = _of(1, "exp")
expm1 = _of(1, "expm1")
floor = _of(1, "floor")
imag = _of(1, "imag")
isfinite = _of(1, "isfinite")
isinf = _of(1, "isinf")
isnan = _of(1, "isnan")
log = _of(1, "log")
log1p = _of(1, "log1p")
log2 = _of(1, "log2")
log10 = _of(1, "log10")
logical_not = _of(1, "logical_not")
negative = _of(1, "negative")
positive = _of(1, "positive")
real = _of(1, "real")
reciprocal = _of(1, "reciprocal")
signbit = _of(1, "signbit")
sin = _of(1, "sin")
sinh = _of(1, "sinh")
square = _of(1, "square")
sqrt = _of(1, "sqrt")
tan = _of(1, "tan")
tanh = _of(1, "tanh")
trunc = _of(1, "trunc")

add = _of(2, "add")
atan2 = _of(2, "atan2")
bitwise_and = _of(2, "bitwise_and")
bitwise_left_shift = _of(2, "bitwise_left_shift")
bitwise_or = _of(2, "bitwise_or")
bitwise_right_shift = _of(2, "bitwise_right_shift")
bitwise_xor = _of(2, "bitwise_xor")
copysign = _of(2, "copysign")
divide = _of(2, "divide")
equal = _of(2, "equal", "eq")
floor_divide = _of(2, "floor_divide")
greater = _of(2, "greater")
greater_equal = _of(2, "greater_equal")
hypot = _of(2, "hypot")
less = _of(2, "less")
less_equal = _of(2, "less_equal")
logaddexp = _of(2, "logaddexp")
logical_and = _of(2, "logical_and")
logical_or = _of(2, "logical_or")
logical_xor = _of(2, "logical_xor")
maximum = _of(2, "maximum")
minimum = _of(2, "minimum")
multiply = _of(2, "multiply")
nextafter = _of(2, "nextafter")
not_equal = _of(2, "not_equal")
pow = _of(2, "pow")
subtract = _of(2, "subtract")


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
