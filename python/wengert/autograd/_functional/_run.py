"""The user's function in a call of this package: its arguments and results are tensors or tuples of them, checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import wengert
from wengert import _C
from wengert._C import Tensor
from wengert.func._frames import is_transforming, only_batches

Tensors = tuple[Any, ...]


def as_tensors(value: Any, what: str, caller: str) -> tuple[Tensors, bool]:
    """Return a tensor or tuple of tensors as a tuple, and whether it was one."""
    was_tuple = isinstance(value, tuple)
    values = value if was_tuple else (value,)
    for index, item in enumerate(values):
        if not isinstance(item, Tensor):
            where = f"value at index {index}" if was_tuple else f"given {what}"
            raise TypeError(
                f"The {what} given to {caller} must be either a Tensor or a tuple of Tensors but the {where} has type "
                f"{type(item)}."
            )
    return values, was_tuple


def recording(mode: bool) -> Any:
    """Return a block in which grad mode is on or off; it changes where the block begins, as Ctrl-C needs it."""
    return _C._Switch("set_grad_enabled", mode)


class Run:
    """The user's function with its inputs; called by transforms, with the tensors that these put in their places.

    With `create_graph` inputs stay connected to the caller's graph. In strict mode `check` is called with outputs,
    inputs and `create_graph` wherever the function has run.
    """

    def __init__(
        self, func: Any, inputs: Any, caller: str, create_graph: bool, check: Callable[..., None] | None = None
    ) -> None:
        if is_transforming():
            raise RuntimeError(
                f"[{caller}] wengert.autograd.functional cannot be used inside of a function being transformed by "
                "wengert.func (vmap, grad, jvp, ...): its results are constants there. Use wengert.func.jacrev, vjp or "
                "jvp, which nest."
            )
        self._func, self._caller, self._check, self._create_graph = func, caller, check, create_graph
        self.given, self.is_tuple = as_tensors(inputs, "inputs", caller)
        self.inputs = self.given
        if create_graph:
            self.inputs = tuple(v if v.requires_grad else v.detach().requires_grad_() for v in self.given)
        self.places = tuple(range(len(self.given)))
        self.returns_tuple = False

    def __call__(self, *inputs: Any) -> Tensors:
        """Return the outputs. The function finds no transform around it, as if the engine were called by hand."""
        with only_batches():
            outputs = self._func(*inputs)
        outputs, self.returns_tuple = as_tensors(outputs, "outputs of the user-provided function", self._caller)
        if self._check is not None:
            self._check(outputs, inputs, self._create_graph)
        return outputs

    def scalar(self, *inputs: Any) -> tuple[Any, Any]:
        """Return the output without dimensions, and as it is; it must be one tensor of one element."""
        outputs = self(*inputs)
        if self.returns_tuple:
            raise RuntimeError(
                f"The function given to {self._caller} should return a single Tensor, but returned a tuple."
            )
        if outputs[0].numel() != 1:
            raise RuntimeError(
                f"The Tensor returned by the function given to {self._caller} should contain a single element, but has "
                f"shape {tuple(outputs[0].shape)}."
            )
        output = outputs[0]
        return output.reshape(()) if output.dim() else output, output

    def cotangents(self, v: Any, outputs: Sequence[Any]) -> Tensors:
        """Return the user's vector, of the sizes of the outputs."""
        if v is not None:
            return self._vector(v, outputs, self.returns_tuple)
        if len(outputs) != 1 or outputs[0].numel() != 1:
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single Tensor with a single "
                f"element, but it returned shapes {[tuple(output.shape) for output in outputs]}."
            )
        gradients: Tensors = _C._root_gradients(tuple(outputs), (None,), False)
        return gradients

    def tangents(self, v: Any) -> Tensors:
        """Return the user's vector, of the sizes of the inputs."""
        if v is not None:
            return self._vector(v, self.inputs, self.is_tuple)
        if len(self.inputs) != 1 or self.inputs[0].numel() != 1:
            raise RuntimeError(
                "The vector v can only be None if the input to the user-provided function is a single Tensor with a "
                f"single element, but the inputs have shapes {[tuple(value.shape) for value in self.inputs]}."
            )
        return (wengert.ones_like(self.inputs[0]),)

    def _vector(self, v: Any, like: Sequence[Any], was_tuple: bool) -> Tensors:
        values, _ = as_tensors(v, "v", self._caller)
        if len(values) != len(like):
            if was_tuple:
                raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(values)}.")
            raise RuntimeError(f"The given v should contain a single Tensor, but has {len(values)}.")
        for index, (value, other) in enumerate(zip(values, like, strict=True)):
            if value.shape != other.shape:
                entry = f"Entry {index} in " if was_tuple else ""
                raise RuntimeError(f"{entry}v has invalid size: should be {other.shape} but got {value.shape}.")
        return tuple(
            value if value.is_complex() != other.is_complex() else value.to(other.dtype)
            for value, other in zip(values, like, strict=True)
        )

    def like_inputs(self, values: Any) -> Any:
        """Return one value for each input as the inputs were given."""
        return tuple(values) if self.is_tuple else values[0]

    def like_outputs(self, values: Any) -> Any:
        """Return one value for each output as the function returned them."""
        return tuple(values) if self.returns_tuple else values[0]
