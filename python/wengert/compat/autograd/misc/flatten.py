"""Nests of lists, tuples and dicts of arrays as one vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..differential_operators import make_vjp
from ..numpy import asarray


def flatten(value: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Return the numbers of a nest in a row, and the function that makes a nest of such a row.

    Examples
    --------
    >>> from wengert.compat.autograd.misc.flatten import flatten
    >>> vector, unflatten = flatten({"b": 3.0, "a": [1.0, 2.0]})
    >>> vector
    array([1., 2., 3.])
    """
    unflatten, vector = make_vjp(_flat)(value)
    return vector, unflatten


def _flat(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return _joined([_flat(item) for item in value])
    if isinstance(value, dict):
        return _joined([_flat(value[key]) for key in sorted(value)])
    return np.ravel(asarray(value))


def _joined(parts: list[Any]) -> Any:
    return np.concatenate(parts) if parts else np.array([])


def flatten_func(func: Callable[..., Any], example: Any) -> tuple[Callable[..., Any], Callable[[Any], Any], Any]:
    """Return a function of nests as one of vectors, the function that makes nests of them, and the example as one."""
    vector, unflatten = flatten(example)
    return lambda x, *args: flatten(func(unflatten(x), *args))[0], unflatten, vector
