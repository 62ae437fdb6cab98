"""NumPy: its functions take boxes as they are; here are those that would make arrays of them first.

>>> import wengert.compat.autograd.numpy as np
>>> from wengert.compat.autograd import grad
>>> float(grad(lambda x: np.sum(np.array([x, 2 * x]) ** 2))(1.0))
10.0
"""

from __future__ import annotations

from typing import Any

import numpy as _np

import wengert as _wengert

from .._boxes import boxed as _boxed
from .._boxes import isbox as _isbox
from .._boxes import tensor as _tensor
from .._forwarding import forward as _forward
from . import fft as fft
from . import linalg as linalg
from . import random as random


def _holds_box(value: Any) -> bool:
    return _isbox(value) or (isinstance(value, (list, tuple)) and any(_holds_box(item) for item in value))


def array(A: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N803  # autograd's name
    """Return `numpy.array`, also of nested lists of boxes."""
    if not _holds_box(A):
        return _np.array(A, *args, **kwargs)
    result = _boxed(_tensor(A))
    return result.astype(kwargs["dtype"]) if kwargs.get("dtype") is not None else result


def asarray(a: Any, *args: Any, **kwargs: Any) -> Any:
    """Return `numpy.asarray`, also of nested lists of boxes."""
    return array(a, *args, **kwargs) if _holds_box(a) else _np.asarray(a, *args, **kwargs)


asanyarray = ascontiguousarray = asarray


def full(shape: Any, fill_value: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Return `numpy.full`, also of a box."""
    if not _isbox(fill_value):
        return _np.full(shape, fill_value, dtype, *args, **kwargs)
    return fill_value * _np.ones(shape, dtype)


def full_like(a: Any, fill_value: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Return `numpy.full_like`, also of a box."""
    if not _isbox(fill_value):
        return _np.full_like(a, fill_value, dtype, *args, **kwargs)
    return full(_np.shape(a), fill_value, dtype)


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Fill a diagonal of an array in place; boxes cannot be written."""
    if _isbox(a) or _isbox(val):
        raise TypeError("[autograd] a box cannot be written, and an array holds none; use np.where with np.eye")
    _np.fill_diagonal(a, val, wrap)


def _join(name: str) -> Any:
    function = getattr(_np, name)

    def join(arrays: Any, *args: Any, **kwargs: Any) -> Any:
        return function(tuple(asarray(item) for item in arrays), *args, **kwargs)

    join.__name__ = name
    join.__doc__ = f"Return `numpy.{name}`, also of lists of boxes."
    return join


concatenate, stack, hstack, vstack, dstack, column_stack = (
    _join(name) for name in ("concatenate", "stack", "hstack", "vstack", "dstack", "column_stack")
)


def _of_list(name: str) -> Any:
    function = getattr(_np, name)

    def run(a: Any, *args: Any, **kwargs: Any) -> Any:
        return function(asarray(a) if isinstance(a, (list, tuple)) else a, *args, **kwargs)

    run.__name__ = name
    run.__doc__ = f"Return `numpy.{name}`, also of lists of boxes."
    return run


sum, mean, prod, max, min, var, std, any, all = (
    _of_list(name) for name in ("sum", "mean", "prod", "max", "min", "var", "std", "any", "all")
)


def make_diagonal(D: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:  # noqa: N803
    """Return matrices with these diagonals."""
    return _boxed(_wengert.diag_embed(_tensor(D), offset, axis1, axis2))


def isscalar(element: Any) -> bool:
    """Whether a value is a number, or a box of one."""
    return element.ndim == 0 if _isbox(element) else _np.isscalar(element)


_forward(globals(), _np)
