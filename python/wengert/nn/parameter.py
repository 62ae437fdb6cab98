"""Parameters, under the name of PyTorch's module."""

from ._parameter import Buffer, Parameter
from ._uninitialized import UninitializedBuffer, UninitializedParameter, is_lazy

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]
