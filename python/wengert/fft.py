"""Discrete Fourier transforms. Generated from the operations' table."""

from wengert._C._fft import *  # noqa: F403
