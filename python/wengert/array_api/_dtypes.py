"""Functions of types."""

from __future__ import annotations

from typing import Any

import wengert
from wengert import Tensor

from ._info import dtypes_by_kind
from ._promotion import result_type

__all__ = ["astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"]


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """`wengert.Tensor.to`; without ``copy`` the tensor itself where nothing changes."""
    return x.to(device=device, dtype=dtype, copy=copy)


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether promotion turns a type, or a tensor's type, into another."""
    source = getattr(from_, "dtype", from_)
    if _kind(source) != _kind(to):
        return False
    try:
        return bool(wengert.promote_types(source, to) == to)
    except RuntimeError:  # uint64 and a signed type
        return False


def _kind(dtype: Any) -> str:
    kinds = ("bool", "integral", "real floating", "complex floating")
    found = next(kind for kind in kinds if isdtype(dtype, kind))
    return "floating" if found.endswith("floating") else found  # the standard casts real numbers to complex ones


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a type is one, or of a kind, or of one of several kinds."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    return dtype in dtypes_by_kind(kind).values() if isinstance(kind, str) else bool(dtype == kind)


class finfo:
    """The limits of a real or complex type, or of the type of a tensor."""

    def __init__(self, type: Any, /) -> None:
        info = wengert.finfo(_dtype(type))
        self.bits, self.eps, self.max, self.min = info.bits, info.eps, info.max, info.min
        self.smallest_normal, self.dtype = info.smallest_normal, getattr(wengert, info.dtype)


class iinfo:
    """The limits of an integral type, or of the type of a tensor."""

    def __init__(self, type: Any, /) -> None:
        info = wengert.iinfo(_dtype(type))
        self.bits, self.max, self.min, self.dtype = info.bits, info.max, info.min, getattr(wengert, info.dtype)


def _dtype(value: Any) -> Any:
    return value.dtype if isinstance(value, Tensor) else value
