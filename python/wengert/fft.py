"""Discrete Fourier transforms. They come from the table of operations."""

from wengert._C._fft import *  # noqa: F403
from wengert._missing import advise as _advise

_advise(globals())
