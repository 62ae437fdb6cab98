"""Window functions of signals, and `range`."""

from __future__ import annotations

import math
from typing import Any

import wengert
from wengert._C import Tensor


def _cosine_sum(length: int, periodic: bool, weights: tuple[float, ...], options: dict[str, Any]) -> Tensor:
    """Return the window ``sum of (-1)**k * weights[k] * cos(2 pi k n / N)``."""
    n, size = _places(length, periodic, options)
    window = sum((-1) ** k * w * (n * (2 * math.pi * k / size)).cos() for k, w in enumerate(weights))
    return _finished(window, length, options)


def _places(length: int, periodic: bool, options: dict[str, Any]) -> tuple[Any, int]:
    """Return 0, 1, ... and what the window's period is."""
    if length < 0:
        raise RuntimeError(f"window_length must be non-negative, got {length}")
    given = options.get("dtype") or wengert.get_default_dtype()
    dtype = wengert.promote_types(given, given)  # of a name too
    if not dtype.is_floating_point:
        raise RuntimeError(f"window functions expect a floating point dtype, but got {dtype}")
    return wengert.arange(length, dtype=wengert.float64), max(length if periodic else length - 1, 1)


def _finished(window: Any, length: int, options: dict[str, Any]) -> Tensor:
    if length == 1:
        window = wengert.ones(1, dtype=wengert.float64)
    result: Tensor = window.to(options.get("dtype") or wengert.get_default_dtype())
    return result.requires_grad_() if options.get("requires_grad") else result


def hann_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """The window ``sin(pi n / N)**2``.

    Parameters
    ----------
    window_length : int
    periodic : bool, default True
        Whether the window continues itself with period `window_length`; else it is symmetric.
    **options
        `dtype` and `requires_grad`.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import wengert as wg
    >>> wg.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _cosine_sum(window_length, periodic, (0.5, 0.5), options)


def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, **options: Any
) -> Tensor:
    """The window ``alpha - beta * cos(2 pi n / N)``.

    Parameters
    ----------
    window_length : int
    periodic : bool, default True
        Whether the window continues itself with period `window_length`; else it is symmetric.
    alpha, beta : float
    **options
        `dtype` and `requires_grad`.

    Returns
    -------
    Tensor
    """
    return _cosine_sum(window_length, periodic, (alpha, beta), options)


def blackman_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """The window ``0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N)``.

    Parameters
    ----------
    window_length : int
    periodic : bool, default True
        Whether the window continues itself with period `window_length`; else it is symmetric.
    **options
        `dtype` and `requires_grad`.

    Returns
    -------
    Tensor
    """
    return _cosine_sum(window_length, periodic, (0.42, 0.5, 0.08), options)


def bartlett_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """The window that rises from 0 to 1 and falls to 0 again, both linearly.

    Parameters
    ----------
    window_length : int
    periodic : bool, default True
        Whether the window continues itself with period `window_length`; else it is symmetric.
    **options
        `dtype` and `requires_grad`.

    Returns
    -------
    Tensor
    """
    n, size = _places(window_length, periodic, options)
    return _finished(1 - (2 * n / size - 1).abs(), window_length, options)


def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, **options: Any) -> Tensor:
    """The window ``I0(beta * sqrt(1 - (2 n / N - 1)**2)) / I0(beta)`` of Kaiser.

    Parameters
    ----------
    window_length : int
    periodic : bool, default True
        Whether the window continues itself with period `window_length`; else it is symmetric.
    beta : float, default 12
        The larger, the narrower.
    **options
        `dtype` and `requires_grad`.

    Returns
    -------
    Tensor
    """
    n, size = _places(window_length, periodic, options)
    root = (1 - (2 * n / size - 1).square()).clamp(min=0).sqrt()
    return _finished(
        wengert.i0(beta * root) / wengert.i0(wengert.tensor(beta, dtype=wengert.float64)), window_length, options
    )


def range(start: float = 0, end: float | None = None, step: float = 1, **options: Any) -> Tensor:
    """The numbers from `start` to `end`, which is included; deprecated in favour of `arange`.

    Parameters
    ----------
    start, end, step : float
    **options
        `dtype` and `requires_grad`.

    Returns
    -------
    Tensor
    """
    first, last = (0, start) if end is None else (start, end)
    count = math.floor((last - first) / step) + 1
    if count < 1:
        raise RuntimeError(f"upper bound and larger bound inconsistent with step sign: {first}, {last}, {step}")
    dtype = options.get("dtype") or wengert.get_default_dtype()
    result: Tensor = (first + step * wengert.arange(count, dtype=wengert.float64)).to(dtype)
    return result.requires_grad_() if options.get("requires_grad") else result
