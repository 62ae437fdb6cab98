"""`ArrayBox`: an array that is being differentiated, with NumPy's attributes and methods.

It holds a tensor. NumPy asks it before any function or operator that meets one: the tensors inside are handed to the
same function, which Tensor computes (`wengert._numpy_dispatch`), and what comes out and has a derivative is put into
boxes again. What has none comes out as an array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

import wengert
from wengert import Tensor
from wengert._numpy_dispatch._convert import tensor as tensor_of


class ArrayBox(NDArrayOperatorsMixin):
    """An array that is being differentiated; it cannot be written into."""

    __slots__ = ("_value",)
    __array_priority__ = 100.0
    __hash__ = object.__hash__

    def __init__(self, value: Tensor) -> None:
        self._value = value

    shape = property(lambda self: tuple(self._value.shape))
    ndim = property(lambda self: self._value.ndim)
    size = property(lambda self: self._value.numel())
    dtype = property(lambda self: np.dtype(self._value.dtype.name))
    T = property(np.transpose)
    real = property(np.real)
    imag = property(np.imag)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return boxed(getattr(ufunc, method)(*unboxed(inputs), **unboxed(options)))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return boxed(func(*unboxed(args), **unboxed(kwargs)))

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return np

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self._value.__array__(dtype)

    def __getitem__(self, index: Any) -> Any:
        return boxed(self._value[_indices(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(
            "[autograd] 'ArrayBox' object does not support item assignment: it is being differentiated; make a new "
            "array, by np.where or np.concatenate"
        )

    def __len__(self) -> int:
        return len(self._value)

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def __bool__(self) -> bool:
        return bool(self._value.detach())

    def __repr__(self) -> str:
        return f"Autograd ArrayBox with value {self._value.detach().numpy()}"

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        """Return it in another type."""
        return boxed(self._value.to(np.dtype(dtype)))

    def dot(self, other: Any) -> Any:
        """Return `numpy.dot` of it and another array."""
        return np.dot(self, other)

    def flatten(self) -> Any:
        """Return its elements in a row."""
        return np.ravel(self)

    def copy(self) -> Any:
        """Return a copy."""
        return np.copy(self)

    def conj(self) -> Any:
        """Return its complex conjugate."""
        return np.conj(self)

    def item(self) -> Any:
        """Return its one element, still in a box."""
        return np.reshape(self, ())

    def reshape(self, *shape: Any, order: str = "C") -> Any:
        """Return its elements in another shape."""
        return np.reshape(self, shape[0] if len(shape) == 1 else shape, order=order)  # type: ignore[call-overload]

    def transpose(self, *axes: Any) -> Any:
        """Return it with axes in another order, in reversed order by default."""
        order = None if axes in ((), (None,)) else axes[0] if isinstance(axes[0], (tuple, list)) else axes
        return np.transpose(self, order)


def _method(name: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def method(self: ArrayBox, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    method.__name__ = name
    method.__doc__ = f"Return `numpy.{name}` of it."
    return method


for _name in (
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "clip", "compress", "cumprod", "cumsum", "diagonal",
    "max", "mean", "min", "nonzero", "prod", "ptp", "ravel", "repeat", "round", "searchsorted", "squeeze", "std", "sum",
    "swapaxes", "take", "trace", "var",
):  # fmt: skip
    setattr(ArrayBox, _name, _method(_name))


def boxed(result: Any) -> Any:
    """Put tensors that have derivatives into boxes, also in lists and tuples; others become arrays."""
    if isinstance(result, Tensor):
        try:
            return result.resolve_conj().numpy()[()]
        except RuntimeError:  # it requires grad, or has a tangent
            return ArrayBox(result)
    if isinstance(result, (list, tuple)):
        items = (boxed(item) for item in result)
        return type(result)(*items) if hasattr(result, "_fields") else type(result)(items)
    return result


def unboxed(value: Any) -> Any:
    """Return tensors in the place of boxes, also in lists, tuples and dicts."""
    if isinstance(value, ArrayBox):
        return value._value
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(unboxed(item) for item in value)
    if isinstance(value, dict):
        return {key: unboxed(item) for key, item in value.items()}
    return value


def _indices(index: Any) -> Any:
    """Return places as tensors index them: arrays as tensors."""
    if isinstance(index, tuple):
        return tuple(_indices(part) for part in index)
    index = unboxed(index)
    if isinstance(index, Tensor) or not (isinstance(index, list) or hasattr(index, "__array__")):
        return index
    return wengert.as_tensor(np.ascontiguousarray(index).reshape(np.shape(index)))


def tensor(value: Any) -> Any:
    """Return a tensor of floating point numbers of a box, an array or a number."""
    found = tensor_of(unboxed(value))
    return found if found.is_floating_point() or found.is_complex() else found.double()


def getval(value: Any) -> Any:
    """Return an array in the place of a box."""
    return value._value.detach().resolve_conj().numpy()[()] if isinstance(value, ArrayBox) else value


def isbox(value: Any) -> bool:
    """Whether a value is being differentiated."""
    return isinstance(value, ArrayBox)
