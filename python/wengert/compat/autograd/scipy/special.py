"""`scipy.special`: its ufuncs take boxes as they are; here are functions that would make arrays of them first."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special

import wengert

from .._boxes import boxed, isbox, tensor
from .._forwarding import forward


def logsumexp(x: Any, axis: Any = None, b: Any = 1.0, keepdims: bool = False, return_sign: bool = False) -> Any:
    """Return the logarithm of the sum of `b` times the exponentials."""
    if return_sign:
        raise NotImplementedError("[logsumexp] return_sign=True has no counterpart; compute the sign apart")
    if not isbox(x) and not isbox(b):
        return scipy.special.logsumexp(x, axis, b, keepdims)
    highest = np.max(x, axis=axis, keepdims=True)
    total = np.sum(b * np.exp(x - highest), axis=axis, keepdims=True)
    result = np.log(total) + highest
    return result if keepdims else np.squeeze(result, axis)


def _of_order(name: str) -> Any:
    """A function of an order or a dimension, and of numbers."""
    own, theirs = getattr(wengert.special, name), getattr(scipy.special, name)
    place = 1 if name == "polygamma" else 0

    def run(*args: Any) -> Any:
        if not isbox(args[place]):
            return theirs(*args)
        values = [tensor(arg) if isbox(arg) else arg for arg in args]
        return boxed(own(*values))

    run.__name__ = name
    run.__doc__ = f"Return `scipy.special.{name}`."
    return run


polygamma, multigammaln = _of_order("polygamma"), _of_order("multigammaln")


forward(globals(), scipy.special)
