"""Ufuncs, by name: most are called as wengert's functions are."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert

from ._convert import operand, promoted, refuse, tensor, unsupported, written

_NAMES = {
    "absolute": "abs", "fabs": "abs", "conjugate": "conj", "degrees": "rad2deg", "equal": "eq", "invert": "bitwise_not",
    "left_shift": "bitwise_left_shift", "power": "pow", "radians": "deg2rad", "right_shift": "bitwise_right_shift",
    "rint": "round", "mod": "remainder", "_zeta": "zeta",
    # SciPy's
    "j0": "bessel_j0", "j1": "bessel_j1", "y0": "bessel_y0", "y1": "bessel_y1", "psi": "digamma",
    "k0": "modified_bessel_k0", "k1": "modified_bessel_k1", "k0e": "scaled_modified_bessel_k0",
    "k1e": "scaled_modified_bessel_k1",
}  # fmt: skip
_SPECIAL: dict[str, Callable[..., Any]] = {
    "divmod": lambda a, b: (wengert.floor_divide(a, b), wengert.remainder(a, b)),
    "modf": lambda x: (wengert.frac(x), wengert.trunc(x)),
    "cbrt": lambda x: wengert.sign(x) * wengert.abs(x) ** (1 / 3),
    "matmul": lambda a, b: wengert.matmul(*promoted((a, b))),
    "vecdot": lambda a, b: (wengert.conj(tensor(a)) * b).sum(-1),
    "matvec": lambda a, b: _columns(a, b),
    "vecmat": lambda a, b: _columns(tensor(b).mH, a),
}


def _columns(matrix: Any, vector: Any) -> Any:
    matrix, vector = promoted((matrix, vector))
    return wengert.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


@functools.cache
def function_of(ufunc: Any) -> Callable[..., Any] | None:
    """Return what computes a ufunc of NumPy or SciPy, or None."""
    name = ufunc.__name__
    if name in _SPECIAL:
        return _SPECIAL[name]
    own = _NAMES.get(name, name)
    if _is_special(ufunc):  # ours may have its name and be another function: kl_div
        from . import _special

        return _special.function_of(name, ufunc) or getattr(wengert.special, own, None)
    return getattr(wengert, own, None)


def special_ufunc(name: str) -> Any:
    """Return one of SciPy's special functions if it is a ufunc, in whatever mode SciPy is; None before it is loaded."""
    for module in ("scipy.special._ufuncs", "scipy.special._special_ufuncs"):
        found = getattr(sys.modules.get(module), name, None)
        if isinstance(found, np.ufunc):
            return found
    return None


def _is_special(ufunc: Any) -> bool:
    return special_ufunc(ufunc.__name__) is ufunc


@functools.cache
def name_of(ufunc: Any) -> str:
    """Return the name under which a ufunc is found: ``numpy.sin``, ``scipy.special.ellipk``."""
    name: str = ufunc.__name__
    if getattr(np, name, None) is ufunc:
        return f"numpy.{name}"
    special = sys.modules.get("scipy.special")
    return f"scipy.special.{name}" if getattr(special, name, None) is ufunc else name


def call(ufunc: Any, *inputs: Any, out: Any = None, where: Any = True, dtype: Any = None, **options: Any) -> Any:
    """Compute elementwise. ``where`` needs ``out``, whose elements it keeps."""
    function, name = function_of(ufunc), name_of(ufunc)
    if function is None:
        raise unsupported(name)
    options = {key: value for key, value in options.items() if (key, value) not in _DEFAULTS}
    refuse(name, **options)
    operands = [operand(value) for value in inputs]
    if dtype is not None:
        operands = [tensor(value).to(dtype) for value in operands]
    elif not any(isinstance(value, wengert.Tensor) for value in operands):
        operands[0] = tensor(operands[0])
    result = function(*operands)
    if where is not True:
        if out is None:
            raise unsupported(name, "where= without out= leaves elements undefined; use wengert.where")
        result = wengert.where(tensor(where), result, tensor(out[0]))
    return written(result, out)


_DEFAULTS = [("casting", "same_kind"), ("order", "K"), ("subok", True)]


_REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "amax", "minimum": "amin", "logical_and": "all",
               "logical_or": "any"}  # fmt: skip
_SCANS = {"add": "cumsum", "multiply": "cumprod", "maximum": "cummax", "minimum": "cummin"}


def reduce(
    ufunc: Any, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: Any = False, **options: Any
) -> Any:
    """Reduce along an axis, the first by default, or along all (None)."""
    name = _REDUCTIONS.get(ufunc.__name__)
    if name is None:
        raise unsupported(f"{name_of(ufunc)}.reduce")
    from ._functions import FUNCTIONS_BY_NAME

    array = tensor(array, dtype)
    options = {key: value for key, value in options.items() if not (key == "where" and value is True)}
    return written(FUNCTIONS_BY_NAME[name](array, axis=axis, keepdims=bool(keepdims), **options), out)


def accumulate(ufunc: Any, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    """Running sums, products and extremes."""
    value = tensor(array, dtype)
    name = _SCANS.get(ufunc.__name__)
    if name is None:
        raise unsupported(f"{name_of(ufunc)}.accumulate")
    result = getattr(value, name)(axis)
    return written(result[0] if isinstance(result, tuple) else result, out)


def outer(ufunc: Any, a: Any, b: Any, **options: Any) -> Any:
    """All pairs of elements."""
    first, second = tensor(a), tensor(b)
    return call(ufunc, first.reshape(*first.shape, *[1] * second.ndim), second, **options)


def at(ufunc: Any, target: Any, indices: Any, values: Any = None) -> None:
    """Add in place at indices that may repeat."""
    if ufunc.__name__ != "add" or not isinstance(target, wengert.Tensor):
        raise unsupported(f"{name_of(ufunc)}.at")
    places = indices if isinstance(indices, tuple) else (indices,)
    target.index_put_([tensor(place) for place in places], tensor(values).to(target.dtype), True)


METHODS = {"__call__": call, "reduce": reduce, "accumulate": accumulate, "outer": outer, "at": at}
