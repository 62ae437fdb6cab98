"""What rules of users share: a cotangent in the shape of an argument that was broadcast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def unbroadcast(x: Any, target_meta: tuple[Any, ...], broadcast_idx: int = 0) -> Any:
    """Return the sums of a cotangent over the axes along which an argument was repeated.

    Parameters
    ----------
    x : array
    target_meta : tuple
        The shape of the argument, its number of dimensions, its type and whether it is complex.
    """
    shape, ndim, _, iscomplex = target_meta
    while np.ndim(x) > ndim:
        x = np.sum(x, axis=broadcast_idx)
    for axis, size in enumerate(shape):
        if size == 1:
            x = np.sum(x, axis=axis, keepdims=True)
    return np.real(x) if np.iscomplexobj(x) and not iscomplex else x


def unbroadcast_f(target: Any, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the function of a cotangent that gives `f` of it in the shape of `target`."""
    meta = np.shape(target), np.ndim(target), None, np.iscomplexobj(target)
    return lambda g: unbroadcast(f(g), meta)
