"""SciPy's special functions on tensors, where SciPy in array API mode looks for them.

Each is the function that `scipy.special` gives for tensors outside that mode, see `wengert._numpy_dispatch`. What is
not here SciPy computes with arrays, which raises for a tensor that requires grad.

    >>> import wengert as wg
    >>> import wengert.array_api as xp
    >>> xp.special.erf(wg.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8427])
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import wengert
from wengert._numpy_dispatch import _ufuncs

from ._promotion import operands

_OTHERS = ("multigammaln", "sinc")  # which are no ufuncs


@functools.cache
def __getattr__(name: str) -> Callable[..., Any]:
    if name in _OTHERS:
        own: Callable[..., Any] = getattr(wengert.special, name)
        return own
    ufunc = _ufuncs.special_ufunc(name)
    found = None if ufunc is None else _ufuncs.function_of(ufunc)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; scipy.special.{name} takes arrays")

    def function(*arguments: Any) -> Any:
        values = operands(*arguments)
        real = [value if value.is_floating_point() or value.is_complex() else value.double() for value in values]
        return found(*real)

    function.__name__ = function.__qualname__ = name
    return function
