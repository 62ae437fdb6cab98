"""Hooks around a whole layer: called with the gradients of its inputs and outputs.

A layer is any computation between some input tensors and some output tensors. `BackwardHook` puts a node on either
side of it (the identity, written as a custom Function), so that each side has one place in the graph through which all
its gradients pass: a pre-hook on the output's node sees the gradients of the outputs, a hook on the input's node those
of the inputs. Layers call ``setup_input_hook`` before their forward and ``setup_output_hook`` after it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import wengert
from wengert import _C
from wengert._C import Tensor
from wengert.autograd._custom_function.function import Function


class BackwardHookFunction(Function):
    """The identity on several tensors, as one node."""

    @staticmethod
    def forward(ctx: Any, *tensors: Any) -> Any:
        """Return the tensors; those that do not require grad stay so."""
        ctx.mark_non_differentiable(*(tensor for tensor in tensors if not tensor.requires_grad))
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Return the gradients."""
        return grads


class BackwardHook:
    """The two nodes around one call of a layer, and what they call.

    Parameters
    ----------
    module : object
        The layer, which every hook gets as its first argument.
    user_hooks : iterable of callables
        Called as ``hook(module, grad_inputs, grad_outputs)``; a result that is not None replaces the gradients of the
        inputs.
    user_pre_hooks : iterable of callables
        Called as ``hook(module, grad_outputs)`` before the backward of the layer; a result that is not None replaces
        the gradients of the outputs.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([1.0], requires_grad=True)
    >>> hook = wg.utils.hooks.BackwardHook("layer", [lambda *gradients: print(gradients)], [])
    >>> (inside,) = hook.setup_input_hook((x,))
    >>> hook.setup_output_hook(inside * 3).backward()
    ('layer', (tensor([3.]),), (tensor([1.]),))
    """

    def __init__(
        self,
        module: Any,
        user_hooks: Iterable[Callable[..., Any]],
        user_pre_hooks: Iterable[Callable[..., Any]],
    ) -> None:
        self.module = module
        self.user_hooks = user_hooks
        self.user_pre_hooks = user_pre_hooks
        self._inputs = _Side()
        self._outputs = _Side()
        self._grad_outputs: tuple[Any, ...] | None = None  # of the running pass

    def setup_input_hook(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments of the layer with the tensors among them behind a node."""
        args, node = self._inputs.mark(args)
        if node is not None:
            node.register_hook(self._at_inputs)
        return args

    def setup_output_hook(self, args: Any) -> Any:
        """Return the result of the layer with its tensors behind a node."""
        if isinstance(args, Tensor):
            (args,), node = self._outputs.mark((args,))
        elif isinstance(args, (tuple, list)):
            marked, node = self._outputs.mark(tuple(args))
            args = marked if isinstance(args, tuple) else list(marked)
        else:
            return args
        if node is not None:
            node.register_prehook(self._at_outputs)
        return args

    def _at_outputs(self, grads: tuple[Any, ...]) -> tuple[Any, ...] | None:
        grad_outputs = self._outputs.spread(grads)
        replaced = False
        for hook in self.user_pre_hooks:
            result = hook(self.module, grad_outputs)
            if result is not None:
                grad_outputs = self._outputs.checked(result, "Backward pre hook", "grad_output")
                replaced = True
        if self._inputs.node_is_absent:
            self._without_inputs(grad_outputs)
        else:
            self._grad_outputs = grad_outputs
        return self._outputs.gather(grad_outputs) if replaced else None

    def _without_inputs(self, grad_outputs: tuple[Any, ...]) -> None:
        if self.user_hooks:
            warnings.warn(
                "Full backward hook is firing when gradients are computed with respect to module outputs since no "
                "inputs require gradients. Pass an input that requires grad to see gradients of inputs.",
                stacklevel=4,
            )
        for hook in self.user_hooks:
            if hook(self.module, self._inputs.spread(()), grad_outputs) is not None:
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None for "
                    "all gradients: there is nothing to replace."
                )

    def _at_inputs(self, grad_inputs: tuple[Any, ...], _: Any) -> tuple[Any, ...] | None:
        if self._grad_outputs is None:
            return None
        grad_outputs, self._grad_outputs = self._grad_outputs, None
        full = self._inputs.spread(self._inputs.with_zeros(grad_inputs))
        replaced = False
        for hook in self.user_hooks:
            result = hook(self.module, full, grad_outputs)
            if result is not None:
                full = self._inputs.checked(result, "Backward hook", "grad_input")
                replaced = True
        return self._inputs.gather(full) if replaced else None


class _Side:
    """The arguments on one side of a layer, and which of them are tensors behind the node."""

    def __init__(self) -> None:
        self.length = 0
        self.positions: list[int] = []
        self.node_is_absent = True

    def mark(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
        """Return `args` behind a node, and the node; None where nothing is recorded."""
        self.length = len(args)
        positions = [index for index, argument in enumerate(args) if isinstance(argument, Tensor)]
        if not (_C.is_grad_enabled() and any(args[index].requires_grad for index in positions)):
            return args, None
        self.positions = positions
        self.node_is_absent = False
        marked = BackwardHookFunction.apply(*(args[index] for index in positions))
        result = list(args)
        for index, tensor in zip(positions, marked, strict=True):
            result[index] = tensor
        return tuple(result), next(tensor.grad_fn for tensor in marked if tensor.grad_fn is not None)

    def spread(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return one gradient an argument, None for those that are no tensors."""
        full = [None] * self.length
        for index, grad in zip(self.positions, grads, strict=False):
            full[index] = grad
        return tuple(full)

    def gather(self, full: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the gradients of the tensors among the arguments."""
        return tuple(full[index] for index in self.positions)

    def checked(self, result: Any, who: str, what: str) -> tuple[Any, ...]:
        """Return what a hook returned as a tuple of one gradient an argument."""
        result = (result,) if isinstance(result, Tensor) else tuple(result)
        if len(result) != self.length:
            raise RuntimeError(
                f"{who} returned an invalid number of {what}, got {len(result)}, but expected {self.length}: "
                "one for each, None where there is no gradient"
            )
        return tuple(result)

    def with_zeros(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return `grads` with zeros for the tensors that have none."""
        metadata = _C._current_autograd_node()._input_metadata
        return tuple(
            wengert.zeros(about.shape, dtype=about.dtype, device=about.device) if grad is None else grad
            for grad, about in zip(grads, metadata, strict=True)
        )
