"""Parameters, and the functions of neural networks in `wengert.nn.functional`."""

from . import functional, parameter
from ._parameter import Parameter

__all__ = ["Parameter", "functional", "parameter"]
