"""Operations from before tensors had methods for them; see `wengert.autograd._function_legacy`."""

from ._function_legacy import Resize, Type

__all__ = ["Resize", "Type"]
