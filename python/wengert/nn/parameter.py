"""Parameters, under the name of PyTorch's module."""

from ._parameter import Parameter

__all__ = ["Parameter"]
