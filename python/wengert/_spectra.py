"""The Fourier transforms of the core, by SciPy.

src/python/interop/fft_provider.cpp calls them, on arrays that share memory; `workers` are threads of SciPy's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import scipy.fft

_FORWARD = ("backward", "ortho", "forward")  # norms of a transform that is multiplied by 1, n**-0.5, n**-1
_BACKWARD = ("forward", "ortho", "backward")


def complex_to_complex(array: Any, axes: Sequence[int], scale: int, forward: bool, workers: int) -> Any:
    """Return the transform over `axes`, in the precision of the array."""
    if len(axes) == 1:
        one = scipy.fft.fft if forward else scipy.fft.ifft
        return one(array, axis=axes[0], norm=(_FORWARD if forward else _BACKWARD)[scale], workers=workers)
    several = scipy.fft.fftn if forward else scipy.fft.ifftn
    return several(array, axes=axes, norm=(_FORWARD if forward else _BACKWARD)[scale], workers=workers)


def real_to_complex(array: Any, axes: Sequence[int], scale: int, onesided: bool, workers: int) -> Any:
    """Return the forward transform of a real array, with or without the redundant half of the last axis."""
    if not onesided:
        return complex_to_complex(array, axes, scale, True, workers)
    if len(axes) == 1:
        return scipy.fft.rfft(array, axis=axes[0], norm=_FORWARD[scale], workers=workers)
    return scipy.fft.rfftn(array, axes=axes, norm=_FORWARD[scale], workers=workers)


def complex_to_real(array: Any, axes: Sequence[int], scale: int, last: int, workers: int) -> Any:
    """Return the backward transform of half of the frequencies, with `last` points along the last axis."""
    if len(axes) == 1:
        return scipy.fft.irfft(array, n=last, axis=axes[0], norm=_BACKWARD[scale], workers=workers)
    sizes = [array.shape[axis] for axis in axes[:-1]]
    return scipy.fft.irfftn(array, s=[*sizes, last], axes=axes, norm=_BACKWARD[scale], workers=workers)
