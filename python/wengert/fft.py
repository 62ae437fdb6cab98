"""Discrete Fourier transforms. They come from the table of operations and are computed by SciPy."""

from __future__ import annotations

from typing import Any

import wengert
from wengert._C import Tensor
from wengert._C._fft import *  # noqa: F403


def fftfreq(n: int, d: float = 1.0, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """The frequencies of the results of `fft`, in cycles per unit of `d`.

    Parameters
    ----------
    n : int
        The number of points.
    d : float, default 1
        Their distance.
    dtype : dtype, optional
    requires_grad : bool, default False

    Returns
    -------
    Tensor
        ``[0, 1, ..., (n - 1) // 2, -(n // 2), ..., -1] / (n * d)``

    Examples
    --------
    >>> wg.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    places = wengert.cat([wengert.arange((n + 1) // 2), wengert.arange(-(n // 2), 0)])
    return _frequencies(places, n, d, dtype, requires_grad)


def rfftfreq(n: int, d: float = 1.0, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """The frequencies of the results of `rfft`, in cycles per unit of `d`.

    Parameters
    ----------
    n : int
        The number of points.
    d : float, default 1
        Their distance.
    dtype : dtype, optional
    requires_grad : bool, default False

    Returns
    -------
    Tensor
        ``[0, 1, ..., n // 2] / (n * d)``

    Examples
    --------
    >>> wg.fft.rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000])
    """
    return _frequencies(wengert.arange(n // 2 + 1), n, d, dtype, requires_grad)


def _frequencies(places: Any, n: int, d: float, dtype: Any, requires_grad: bool) -> Tensor:
    dtype = wengert.get_default_dtype() if dtype is None else dtype
    result: Tensor = places.to(dtype) * (1.0 / (n * d))
    return result.requires_grad_() if requires_grad else result
