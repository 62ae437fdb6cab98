"""Discrete Fourier transforms. They come from the table of operations."""

from wengert._C._fft import *  # noqa: F403
