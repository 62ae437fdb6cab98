"""Making arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert
from wengert import Tensor

from ._promotion import named, operands

__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace", "meshgrid",
    "ones", "ones_like", "tril", "triu", "zeros", "zeros_like",
]  # fmt: skip


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Any:
    """Return a tensor of a tensor, an array, a number, or nested sequences of them; tensors keep their history."""
    if isinstance(obj, (list, tuple)) and _holds_tensor(obj):
        obj, copy = wengert.stack([asarray(item, dtype=dtype) for item in obj]), None if copy is False else copy
    if isinstance(obj, Tensor):
        result = obj.to(device=device, dtype=dtype)
        if copy is False and result is not obj:
            raise ValueError(f"[asarray] {obj.dtype} on {obj.device} cannot become {dtype} without a copy; leave copy=")
        return result.clone() if copy and result is obj else result
    shares = isinstance(obj, (np.ndarray, np.generic)) or hasattr(obj, "__array__") or isinstance(obj, memoryview)
    if copy is False and not shares:
        raise ValueError(f"[asarray] a {type(obj).__name__} has no memory to share; leave copy=False out")
    array = np.asarray(obj) if shares else obj
    make = wengert.tensor if copy or not shares or not array.flags.writeable else wengert.as_tensor
    return make(array, dtype=dtype, device=device)


def _holds_tensor(items: Any) -> bool:
    return any(isinstance(i, Tensor) or (isinstance(i, (list, tuple)) and _holds_tensor(i)) for i in items)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """`wengert.from_dlpack`."""
    return wengert.from_dlpack(x, device=device, copy=copy)


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Any:
    """`wengert.arange`; empty where `stop` lies behind `start`."""
    if stop is None:
        start, stop = 0, start
    if (stop - start) * step < 0:
        stop = start
    return wengert.arange(start, stop, step, dtype=dtype, device=device)


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True
) -> Any:
    """`wengert.linspace`, without its last element if that is not wanted; ends that are tensors keep their history."""
    if isinstance(start, Tensor) or isinstance(stop, Tensor):
        first, last = operands(start, stop)
        steps = arange(num, dtype=first.dtype, device=first.device) / max(num - endpoint, 1)
        return (first + (last - first) * steps).to(dtype=dtype, device=device)
    if dtype is None and (isinstance(start, complex) or isinstance(stop, complex)):
        dtype = wengert.get_default_dtype().to_complex()
    points = wengert.linspace(start, stop, num if endpoint else num + 1, dtype=dtype, device=device)
    return points if endpoint else points[:-1]


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> Any:
    """Ones on a diagonal."""
    result = wengert.zeros((n_rows, n_rows if n_cols is None else n_cols), dtype=dtype, device=device)
    if -result.shape[0] < k < result.shape[1]:
        result.diagonal(k).fill_(1)
    return result


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """`wengert.full`."""
    return wengert.full(_sizes(shape), fill_value, dtype=dtype, device=device)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """`wengert.full_like`."""
    return wengert.full_like(x, fill_value, dtype=dtype, device=device)


def _sizes(shape: Any) -> Any:
    return (shape,) if isinstance(shape, int) else shape


def _of_shape(name: str) -> Any:
    make = getattr(wengert, name)

    def function(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
        return make(_sizes(shape), dtype=dtype, device=device)

    return named(function, name)


def _like(name: str) -> Any:
    make = getattr(wengert, name)

    def function(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
        return make(x, dtype=dtype, device=device)

    return named(function, name)


def _triangle(name: str) -> Any:
    cut = getattr(wengert, name)

    def function(x: Any, /, *, k: int = 0) -> Any:
        return cut(x, k)

    return named(function, name)


empty, ones, zeros = _of_shape("empty"), _of_shape("ones"), _of_shape("zeros")
empty_like, ones_like, zeros_like = _like("empty_like"), _like("ones_like"), _like("zeros_like")
tril, triu = _triangle("tril"), _triangle("triu")


def meshgrid(*arrays: Any, indexing: str = "xy") -> tuple[Any, ...]:
    """`wengert.meshgrid`, whose first axes are those of a picture."""
    return tuple(wengert.meshgrid(*arrays, indexing=indexing)) if arrays else ()
