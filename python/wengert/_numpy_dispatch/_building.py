"""Arrays of arrays, sequences of numbers, and functions applied along axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert
from wengert._C import Tensor

from ._convert import promoted, tensor, unsupported


def block(arrays: Any) -> Any:
    parts: list[Any] = []
    nested = _gathered(arrays, parts)
    values = promoted(parts)
    depth = _depth(nested)
    ndim = max(depth, *(value.ndim for value in values))
    return _joined(nested, [value.reshape(*[1] * (ndim - value.ndim), *value.shape) for value in values], depth)


def _gathered(arrays: Any, parts: list[Any]) -> Any:
    """Return nested lists of the numbers of their parts."""
    if isinstance(arrays, list):
        return [_gathered(item, parts) for item in arrays]
    parts.append(arrays)
    return len(parts) - 1


def _depth(nested: Any) -> int:
    return 1 + _depth(nested[0]) if isinstance(nested, list) else 0


def _joined(nested: Any, values: list[Any], depth: int) -> Any:
    if not isinstance(nested, list):
        return values[nested]
    return wengert.cat([_joined(item, values, depth - 1) for item in nested], -depth)


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    exponents = np.linspace(tensor(start), tensor(stop), num, endpoint, axis=axis)
    return tensor(wengert.pow(tensor(base).to(exponents.dtype), exponents), dtype)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    first, last = promoted((start, stop))
    exponents = np.linspace(wengert.zeros_like(first), wengert.ones_like(first), num, endpoint, axis=axis)
    return tensor(first * wengert.pow(last / first, exponents), dtype)


def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    value = tensor(arr)
    lines = value.movedim(axis, -1)
    results = [tensor(func1d(line, *args, **kwargs)) for line in lines.reshape(-1, lines.shape[-1])]
    if not results:
        raise ValueError("[numpy.apply_along_axis] there are no lines to apply the function to")
    around = lines.shape[:-1]
    joined = wengert.stack(promoted(results)).reshape(*around, *results[0].shape)
    places = list(range(len(around), joined.ndim))
    return joined.movedim(places, [axis % value.ndim + k for k in range(len(places))]) if places else joined


def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    value = tensor(a)
    for axis in [axes] if isinstance(axes, int) else axes:
        result = func(value, axis % value.ndim)
        value = result if result.ndim == value.ndim else result.unsqueeze(axis % value.ndim)
    return value


def real_if_close(a: Any, tol: float = 100) -> Any:
    value = tensor(a)
    if not value.is_complex():
        return value
    limit = tol * wengert.finfo(value.dtype).eps if tol > 1 else tol
    return value.real if bool((value.imag.detach().abs() < limit).all()) else value


def sort_complex(a: Any) -> Any:
    value = tensor(a)
    order = wengert.as_tensor(np.argsort(value.detach().numpy(), -1))
    result = wengert.take_along_dim(value, order, -1)
    return result if result.is_complex() else result.to(result.dtype.to_complex())


def ix_(*args: Any) -> Any:
    if any(isinstance(a, Tensor) and (a.requires_grad or a.is_floating_point()) for a in args):
        raise unsupported("numpy.ix_", "places are integers")
    return tuple(map(tensor, np.ix_(*(tensor(a).numpy() for a in args))))


TABLE: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (block, logspace, geomspace, apply_along_axis, apply_over_axes, real_if_close, sort_complex, ix_)
}
