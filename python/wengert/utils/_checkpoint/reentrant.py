"""The reentrant checkpoint: a custom Function that keeps the arguments only, and runs forward and backward inside its
own backward."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

from wengert import _C, autograd
from wengert._C import Tensor

from .states import Surroundings


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the tensors of a tuple as leaves that require grad if the originals did; other things as they are."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    return tuple(
        value.detach().requires_grad_(value.requires_grad) if isinstance(value, Tensor) else value for value in inputs
    )


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if no tensor among `inputs` requires grad."""
    if not any(isinstance(value, Tensor) and value.requires_grad for value in inputs):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=3)


class CheckpointFunction(autograd.Function):
    """What ``checkpoint(..., use_reentrant=True)`` applies."""

    @staticmethod
    def forward(ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        """Run the function without recording, and keep its arguments."""
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.surroundings = Surroundings(preserve_rng_state)
        # Tensors go where saved-tensor hooks and version checks reach them; their places stay None.
        ctx.is_tensor = [isinstance(value, Tensor) for value in args]
        ctx.others = [None if isinstance(value, Tensor) else value for value in args]
        ctx.save_for_backward(*(value for value in args if isinstance(value, Tensor)))
        return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Run the function again, recorded, and differentiate it."""
        if not _C._execution_engine.is_checkpoint_valid():
            raise RuntimeError(
                "When use_reentrant=True, wengert.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument."
            )
        tensors = iter(ctx.saved_tensors)
        arguments = detach_variable(
            tuple(
                next(tensors) if is_tensor else other
                for is_tensor, other in zip(ctx.is_tensor, ctx.others, strict=True)
            )
        )
        with ctx.surroundings.restored(), autograd.enable_grad():
            outputs = ctx.run_function(*arguments)
        if isinstance(outputs, Tensor):
            outputs = (outputs,)
        roots = [
            (output, gradient)
            for output, gradient in zip(outputs, gradients, strict=False)
            if isinstance(output, Tensor) and output.requires_grad
        ]
        if not roots:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        autograd.backward([output for output, _ in roots], [gradient for _, gradient in roots])
        found = tuple(value.grad if isinstance(value, Tensor) else None for value in arguments)
        return (None, None, *found)


def checkpoint_reentrant(function: Callable[..., Any], preserve_rng_state: bool, args: tuple[Any, ...]) -> Any:
    """Call a function through `CheckpointFunction`."""
    return CheckpointFunction.apply(function, preserve_rng_state, *args)
