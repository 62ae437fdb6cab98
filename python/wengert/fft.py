"""Discrete Fourier transforms. They come from the table of operations and are computed by SciPy."""

from wengert._C._fft import *  # noqa: F403
from wengert._missing import advise as _advise

_advise(globals())
