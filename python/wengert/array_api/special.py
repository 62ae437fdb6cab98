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

import numpy as np

import wengert
from wengert._numpy_dispatch import _ufuncs

from ._promotion import operands


def _real(*arguments: Any) -> list[Any]:
    """Return arguments as tensors of one type, floating or complex."""
    values = operands(*arguments)
    return [value if value.is_floating_point() or value.is_complex() else value.double() for value in values]


def _polygamma(n: Any, x: Any) -> Any:
    """Of orders that are arrays as well; at order 0 the zeta function has its pole."""
    order, value = _real(n, x)
    digamma = wengert.special.digamma(value)
    above = wengert.where(order > 0, order, 1.0)
    sign = wengert.where(above % 2 == 0, -1.0, 1.0)
    others = sign * wengert.exp(wengert.lgamma(above + 1)) * wengert.special.zeta(above + 1, value)
    return wengert.where(order > 0, others, digamma)


def _zeta(x: Any, q: Any = None) -> Any:
    """That of Hurwitz; Riemann's, which goes on below 1, is computed with arrays."""
    if q is not None:
        return wengert.special.zeta(*_real(x, q))
    import scipy.special

    return wengert.as_tensor(scipy.special.zeta(np.asarray(x)))


_OTHERS: dict[str, Callable[..., Any]] = {  # which are no ufuncs
    "multigammaln": wengert.special.multigammaln, "sinc": wengert.special.sinc, "polygamma": _polygamma, "zeta": _zeta,
}  # fmt: skip


@functools.cache
def __getattr__(name: str) -> Callable[..., Any]:
    if name in _OTHERS:
        return _OTHERS[name]
    ufunc = _ufuncs.special_ufunc(name)
    found = None if ufunc is None else _ufuncs.function_of(ufunc)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; scipy.special.{name} takes arrays")

    def function(*arguments: Any) -> Any:
        return found(*_real(*arguments))

    function.__name__ = function.__qualname__ = name
    return function
