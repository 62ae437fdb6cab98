"""`make_tensor`: random tensors for tests."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import wengert

# Ranges when the caller gives none, by kind of dtype: floating and complex, signed, unsigned, bool.
_REAL_RANGE, _SIGNED_RANGE, _UNSIGNED_RANGE, _BOOL_RANGE = (-9, 9), (-9, 10), (0, 10), (0, 2)


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any = "cpu",
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
) -> Any:
    """Return a tensor with uniform random values in ``[low, high)``.

    Parameters
    ----------
    shape : int or a sequence of int
        The shape, as one sequence or as separate lengths.
    dtype : dtype
        Of the result. Real and imaginary parts of complex dtypes are drawn separately.
    device : device, default "cpu"
        Of the result.
    low, high : float, optional
        By default [-9, 9) for floating point and complex, [-9, 10) for signed integers, [0, 10) for unsigned ones, and
        both values of bool.
    requires_grad : bool
        Whether the result, a leaf, requires grad.
    noncontiguous : bool
        Whether elements lie apart in memory (only for at least two elements).
    exclude_zero : bool
        Whether zeros are replaced by the smallest positive normal number, or 1.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        If the range is empty or not finite, or an integer dtype is asked to require grad.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.testing.make_tensor(2, 3, dtype=wg.float64, low=0, high=1, noncontiguous=True)
    >>> x.shape == (2, 3), x.is_contiguous()
    (True, False)
    """
    sizes = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else tuple(shape)
    differentiable = dtype.is_floating_point or dtype.is_complex
    if requires_grad and not differentiable:
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype}")
    low, high = _range(dtype, low, high)
    values = _uniform(sizes, dtype, low, high)
    tensor = wengert.from_numpy(values).to(device=device, dtype=dtype)
    if exclude_zero:
        tensor[tensor == 0] = wengert.finfo(dtype).tiny if differentiable else 1
    if noncontiguous and tensor.numel() > 1:
        tensor = _spread(tensor)
    return tensor.requires_grad_() if requires_grad else tensor


def _range(dtype: Any, low: float | None, high: float | None) -> tuple[float, float]:
    if dtype.is_floating_point or dtype.is_complex:
        default = _REAL_RANGE
    elif dtype == wengert.bool:
        default = _BOOL_RANGE
    else:
        default = _SIGNED_RANGE if dtype.is_signed else _UNSIGNED_RANGE
    low = default[0] if low is None else low
    high = default[1] if high is None else high
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"`low` and `high` must be finite, but got {low=} and {high=}")
    if low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    return low, high


def _uniform(sizes: tuple[int, ...], dtype: Any, low: float, high: float) -> np.ndarray:
    """Return values that follow the package's own random state, so that a seed makes tests repeat."""
    parts = 2 if dtype.is_complex else 1
    unit = wengert.rand((parts, *sizes), dtype=wengert.float64).numpy()
    values = low + unit * (high - low)
    if dtype.is_complex:
        return np.array(values[0] + 1j * values[1])
    if dtype.is_floating_point:
        return np.array(values[0])
    return np.array(np.clip(np.floor(values[0]), math.ceil(low), math.ceil(high) - 1), dtype=np.int64)


def _spread(tensor: Any) -> Any:
    """Return the same values with a gap after each element."""
    if tensor.dim() == 0:
        return tensor
    room = wengert.empty((*tensor.shape, 2), dtype=tensor.dtype, device=tensor.device)
    spread = room[..., 0]
    spread.copy_(tensor)
    return spread
