"""Names from before custom Functions became static, kept importable."""

from __future__ import annotations

import math
from typing import Any

from .function import Function


class InplaceFunction(Function):
    """A Function with a flag; use `Function` with ``ctx.mark_dirty``."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class NestedIOFunction(Function):
    """A Function over nested tuples of tensors, in the instance style that no longer exists; use `Function`."""

    def _do_forward(self, *args: Any) -> Any:
        raise NotImplementedError("NestedIOFunction: call the static apply of a Function on flat arguments.")

    def _do_backward(self, gradients: Any, retain_variables: bool) -> Any:
        raise NotImplementedError("NestedIOFunction: write the static backward of a Function on flat gradients.")

    def forward_extended(self, *args: Any) -> None:
        """To be defined by subclasses."""
        raise NotImplementedError("NestedIOFunction.forward_extended must be overridden.")

    def backward_extended(self, *grad_output: Any) -> None:
        """To be defined by subclasses."""
        raise NotImplementedError("NestedIOFunction.backward_extended must be overridden.")


class Resize(Function):
    """Another shape for the same elements; use ``Tensor.reshape``."""

    @staticmethod
    def forward(ctx: Any, tensor: Any, sizes: Any) -> Any:
        """Return a copy of `tensor` with shape `sizes`."""
        sizes = tuple(sizes)
        wanted = math.prod(sizes)
        if wanted != tensor.numel():
            raise RuntimeError(
                f"[Resize] requested shape {sizes} has {wanted} elements, but the tensor of shape "
                f"{tuple(tensor.shape)} has {tensor.numel()}; autograd's resize can only change the shape, while "
                "the number of elements needs to be preserved"
            )
        ctx.input_sizes = tuple(tensor.shape)
        return tensor.clone().reshape(sizes)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """Return the gradient in the input's shape."""
        return grad.reshape(ctx.input_sizes), None


class Type(Function):
    """Another dtype for the same values; use ``Tensor.to``."""

    @staticmethod
    def forward(ctx: Any, tensor: Any, dtype: Any) -> Any:
        """Return `tensor` converted to `dtype`."""
        ctx.input_dtype = tensor.dtype
        return tensor.to(dtype, copy=True)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """Return the gradient in the input's dtype."""
        return grad.to(ctx.input_dtype), None
