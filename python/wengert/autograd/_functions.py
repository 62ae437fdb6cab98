"""Operations from before tensors had methods for them; see `wengert.autograd._custom_function.legacy`."""

from ._custom_function.legacy import Resize, Type

__all__ = ["Resize", "Type"]
