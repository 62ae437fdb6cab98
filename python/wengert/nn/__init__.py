"""Parameters, and the functions of neural networks in `wengert.nn.functional`."""

from wengert._missing import advise as _advise

from . import functional, parameter
from ._parameter import Parameter

__all__ = ["Parameter", "functional", "parameter"]

_advise(globals())
