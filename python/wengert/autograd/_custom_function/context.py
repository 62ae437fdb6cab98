"""What a custom Function's forward tells its future node, through ``ctx``.

Every method only leaves a note on the context; the core reads the notes when forward has returned.
"""

from __future__ import annotations

import warnings
from typing import Any

from wengert._C import Tensor


class FunctionCtx:
    """The methods of ``ctx`` in forward and setup_context."""

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (or Nones) for backward, where they are ``ctx.saved_tensors``.

        Saved tensors are checked for changes in place and freed after the backward pass; the last call wins. Save
        only inputs, outputs, and intermediates that need no derivative of their own.

        Raises
        ------
        TypeError
            After forward, if an argument is neither Tensor nor None.

        Examples
        --------
        >>> import wengert as wg
        >>> class Square(wg.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x * x
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         (x,) = ctx.saved_tensors
        ...         return 2 * x * grad
        >>> x = wg.tensor([3.0], requires_grad=True)
        >>> Square.apply(x).backward()
        >>> x.grad
        tensor([6.])
        """
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors (or Nones) for jvp, where they are ``ctx.saved_tensors``.

        Raises
        ------
        AssertionError
            If an argument is neither Tensor nor None.
        """
        for index, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, Tensor):
                raise AssertionError(
                    f"save_for_forward expects all arguments to be tensors or None, but argument {index} is "
                    f"{type(tensor).__name__}; store it as an attribute of ctx"
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Declare inputs that forward changed in place; each must be returned as well."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Declare outputs without a derivative; backward still gets a (zero) gradient for each."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Choose whether backward and jvp get zeros (the default) or None where no gradient arrived."""
        self.materialize_grads = value

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Do nothing: shared storage is tracked without being declared."""
        warnings.warn(
            "mark_shared_storage is deprecated. Tensors with shared storages are automatically tracked; remove the "
            "call. (Calls to `set_()` are not tracked.)",
            FutureWarning,
            stacklevel=2,
        )
