"""The backward pass as a function, whose first derivatives `gradgradcheck` checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert
from wengert._C import Tensor

from .._backward.entry import grad
from ._coordinates import from_coordinates, size
from ._inputs import as_tuple, call, differentiable_outputs, positions_to_check
from ._options import check_second_order_options as check_second_order_options


def backward_pass(
    func: Callable[..., Any], inputs: Any, grad_outputs: Any, noncontiguous: bool
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the function from inputs and gradients of outputs to gradients of inputs, and where to check it.

    The gradients are `grad_outputs`, by default random ones, `noncontiguous` on request.
    """
    inputs = as_tuple(inputs)
    if grad_outputs is None:
        random = np.random.default_rng(0)
        outputs = differentiable_outputs(call(func, inputs))
        gradients = tuple(_random_gradient(output, random, noncontiguous) for output in outputs)
    else:
        gradients = as_tuple(grad_outputs)
    positions = set(positions_to_check(inputs))

    def run(*arguments: Any) -> tuple[Any, ...]:
        primals, gradients = arguments[: len(inputs)], arguments[len(inputs) :]
        for position in positions:
            # Forward mode passes its inputs without requires_grad, but this function differentiates inside.
            if not primals[position].requires_grad:
                primals[position].requires_grad_()
        outputs = differentiable_outputs(call(func, primals))
        targets = [value for value in primals if isinstance(value, Tensor) and value.requires_grad]
        results = grad(outputs, targets, gradients, create_graph=True, allow_unused=True)
        return tuple(result.to_dense() for result in results if result is not None)

    return run, inputs + gradients


def _random_gradient(output: Any, random: np.random.Generator, noncontiguous: bool) -> Any:
    """Return a leaf with random values in [-1, 1) and the shape and dtype of `output`."""
    gradient = from_coordinates(random.uniform(-1.0, 1.0, size(output)), output)
    if noncontiguous and gradient.dim() > 0:
        gradient = wengert.stack([gradient, gradient], -1)[..., 0]
    return gradient.detach().requires_grad_()
