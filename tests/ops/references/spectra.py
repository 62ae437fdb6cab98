"""Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft

from . import reference


def of_one(name: str) -> Any:
    function = getattr(scipy.fft, name)
    return lambda self, n=None, dim=-1, norm=None: function(self, n, dim, norm or "backward")


def sizes(x: np.ndarray, s: Any, dim: Any) -> Any:
    """The transformed dimensions, with -1 for a size as it is."""
    if s is None:
        return s, dim
    dim = list(range(-len(s), 0)) if dim is None else list(dim)
    return [x.shape[d] if n == -1 else n for n, d in zip(s, dim, strict=True)], dim


def of_several(name: str, *, default: Any = None) -> Any:
    function = getattr(scipy.fft, name)

    def transform(self: np.ndarray, s: Any = None, dim: Any = default, norm: str | None = None) -> np.ndarray:
        return function(self, *sizes(self, s, dim), norm or "backward")

    return transform


for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    reference(name)(of_one(name))
    reference(f"{name}n")(of_several(f"{name}n"))
    reference(f"{name}2")(of_several(f"{name}n", default=(-2, -1)))

reference("fftshift")(lambda self, dim=None: scipy.fft.fftshift(self, dim))
reference("ifftshift")(lambda self, dim=None: scipy.fft.ifftshift(self, dim))


def normalized(x: np.ndarray, count: int, normalization: int) -> np.ndarray:
    """0: as it is; 1: divided by the root of the number of elements; 2: by the number."""
    return x / (1, np.sqrt(count), count)[normalization]


def count_of(x: np.ndarray, dim: Any) -> int:
    return int(np.prod([x.shape[d] for d in dim]))


@reference("fft_c2c")
def fft_c2c(self: np.ndarray, dim: Any, normalization: int, forward: bool) -> np.ndarray:
    count = count_of(self, dim)
    whole = scipy.fft.fftn(self, axes=dim) if forward else scipy.fft.ifftn(self, axes=dim) * count
    return normalized(whole, count, normalization)


@reference("fft_r2c")
def fft_r2c(self: np.ndarray, dim: Any, normalization: int, onesided: bool) -> np.ndarray:
    whole = scipy.fft.rfftn(self, axes=dim) if onesided else scipy.fft.fftn(self, axes=dim)
    return normalized(whole, count_of(self, dim), normalization)


@reference("fft_c2r")
def fft_c2r(self: np.ndarray, dim: Any, normalization: int, last_dim_size: int) -> np.ndarray:
    s = [self.shape[d] for d in dim[:-1]] + [last_dim_size]
    return normalized(scipy.fft.irfftn(self, s, dim) * np.prod(s), int(np.prod(s)), normalization)
