"""`finfo` and `iinfo`: what a dtype can represent."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import _C


def _numpy_dtype(dtype: Any) -> Any:
    return np.dtype(str(dtype).rpartition(".")[2] if isinstance(dtype, _C.dtype) else dtype)


class finfo:  # PyTorch's name
    """The limits of a floating-point dtype; of a complex one, those of its parts.

    Parameters
    ----------
    dtype : dtype, optional
        By default the default dtype.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.finfo(wg.float32).eps
    1.1920928955078125e-07
    """

    def __init__(self, dtype: Any = None) -> None:
        kind = _C.get_default_dtype() if dtype is None else _C.promote_types(dtype, dtype)
        if not (kind.is_floating_point or kind.is_complex):
            raise TypeError(f"finfo() requires a floating point input type, got {kind}. Use iinfo to handle it.")
        info = np.finfo(_numpy_dtype(kind))
        self.dtype = kind.to_real().name
        self.bits = int(info.bits)
        self.eps, self.max, self.min = float(info.eps), float(info.max), float(info.min)
        self.tiny = self.smallest_normal = float(info.tiny)
        self.resolution = float(info.resolution)

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return f"finfo({', '.join(f'{name}={getattr(self, name):g}' for name in names)}, dtype={self.dtype})"


class iinfo:  # PyTorch's name
    """The limits of an integral dtype.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.iinfo(wg.int8).max
    127
    """

    def __init__(self, dtype: Any) -> None:
        dtype = _C.promote_types(dtype, dtype)
        if dtype.is_floating_point or dtype.is_complex:
            raise TypeError(f"iinfo() requires an integer input type, got {dtype}. Use finfo to handle it.")
        if dtype is _C.bool:
            raise TypeError("iinfo() requires an integer input type, got wengert.bool.")
        info = np.iinfo(_numpy_dtype(dtype))
        self.dtype = dtype.name
        self.bits, self.max, self.min = info.bits, int(info.max), int(info.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
