"""NumPy's functions of arrays, with NumPy's parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert

from . import (
    _building,
    _choosing,
    _joining,
    _linear_algebra,
    _reductions,
    _samples,
    _shapes,
    _spectra,
    _statistics,
)  # fmt: skip
from ._convert import operand, promoted, tensor, written

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
FUNCTIONS_BY_NAME: dict[str, Callable[..., Any]] = {}


# --- Elementwise
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None or y is None:
        return tensor(condition).nonzero(as_tuple=True)
    return wengert.where(tensor(condition).bool(), operand(x), operand(y))


def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = (min if a_min is None else a_min), (max if a_max is None else a_max)
    bounds = [None if bound is None else operand(bound) for bound in (low, high)]
    return written(tensor(a) if bounds == [None, None] else wengert.clamp(tensor(a), *bounds), out)


def around(a: Any, decimals: int = 0, out: Any = None) -> Any:
    return written(wengert.round(tensor(a), decimals=decimals) if decimals else wengert.round(tensor(a)), out)


def nan_to_num(x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    return wengert.nan_to_num(tensor(x), nan, posinf, neginf)


def angle(z: Any, deg: bool = False) -> Any:
    result = wengert.angle(tensor(z))
    return wengert.rad2deg(result) if deg else result


def imag(val: Any) -> Any:
    value = tensor(val)
    return value.imag if value.is_complex() else wengert.zeros_like(value)


# --- Comparison
def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    return wengert.isclose(tensor(a), operand(b), rtol, atol, equal_nan)


def allclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    return bool(isclose(a, b, rtol, atol, equal_nan).all())


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    first, second = tensor(a1), tensor(a2)
    if first.shape != second.shape:
        return False
    same = first == second
    return bool((same | (first.isnan() & second.isnan()) if equal_nan else same).all())


# --- Creation
def _like(name: str) -> Callable[..., Any]:
    def create(a: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None, **_: Any) -> Any:
        value = tensor(a)
        kind = value.dtype if dtype is None else dtype
        return getattr(wengert, name)(value.shape if shape is None else shape, dtype=kind)

    return create


def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None
) -> Any:
    value = tensor(a)
    blank = wengert.zeros(value.shape if shape is None else shape, dtype=value.dtype if dtype is None else dtype)
    return blank + tensor(fill_value).to(blank.dtype)


def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0
) -> Any:
    first, last = promoted((start, stop))
    if not (first.is_floating_point() or first.is_complex()):
        first, last = first.double(), last.double()
    count = max(num - 1 if endpoint else num, 1)
    steps = wengert.arange(num, dtype=first.dtype) / count
    result = first + (last - first) * steps.reshape(num, *[1] * max(first.ndim, last.ndim))
    result = tensor(result.movedim(0, axis), dtype)
    return (result, (last - first) / count) if retstep else result


# --- Facts
def size(a: Any, axis: int | None = None) -> int:
    return int(tensor(a).numel() if axis is None else tensor(a).shape[axis])


_OWN: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (where, clip, around, nan_to_num, angle, imag, isclose, allclose, array_equal, full_like, linspace, size)
} | {
    "round": around,
    "fix": lambda x, out=None: written(wengert.trunc(tensor(x)), out),
    "real": lambda val: tensor(val).real,
    "sinc": lambda x: wengert.sinc(tensor(x)),
    "i0": lambda x: wengert.i0(tensor(x)),
    "copy": lambda a, order="K", subok=False: tensor(a).clone(),
    "astype": lambda x, dtype, /, *, copy=True, device=None: tensor(x, dtype),
    "shape": lambda a: tuple(tensor(a).shape),
    "ndim": lambda a: int(tensor(a).ndim),
    "iscomplexobj": lambda x: bool(tensor(x).is_complex()),
    "isrealobj": lambda x: not tensor(x).is_complex(),
}
_OWN |= {name: lambda a, *_, **__: str(a) for name in ("array_str", "array_repr", "array2string")}
_OWN |= {f"{name}_like": _like(name) for name in ("zeros", "ones", "empty")}


def _register(functions: dict[str, Callable[..., Any]]) -> None:
    for name, function in functions.items():
        FUNCTIONS_BY_NAME[name] = function
        found: Any = np
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is not None:
            FUNCTIONS[found] = function


for _module in (
    _reductions, _shapes, _joining, _linear_algebra, _spectra, _choosing, _samples, _statistics, _building,
):  # fmt: skip
    _register(_module.TABLE)
_register(_OWN)
