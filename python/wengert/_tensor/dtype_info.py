"""`finfo` and `iinfo`: what a dtype can represent."""

from __future__ import annotations

import math
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
        real = kind.to_real()
        self.dtype, self.bits = real.name, 8 * real.itemsize
        self.eps, self.tiny, self.max = _C._dtype_limits(real)
        self.min, self.smallest_normal = -self.max, self.tiny
        self.resolution = 10.0 ** math.ceil(math.log10(self.eps))

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
