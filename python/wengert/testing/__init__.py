"""What tests need: comparing values, and making tensors to compute with."""

from ._assert_close import assert_close
from ._make_tensor import make_tensor

__all__ = ["assert_close", "make_tensor"]
