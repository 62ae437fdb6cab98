"""What `gradcheck` checks, in this order; see there for what the options mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._compare import compare
from ._errors import GradcheckError
from ._forward_checks import check_batched_tangents, check_undefined_tangents
from ._inputs import as_tuple, call, check_inputs, check_outputs, differentiable_outputs, positions_to_check
from ._numerical import numerical_jacobians
from ._options import Options as Options
from ._reverse_checks import check_batched_gradients, check_multiplies_by_gradient, check_undefined_gradients


def check_first_order(func: Callable[..., Any], inputs: Any, options: Options) -> None:
    """Raise GradcheckError where a first derivative of `func` at `inputs`, a tensor or a tuple, is wrong."""
    inputs = as_tuple(inputs)
    check_inputs(inputs)
    positions = positions_to_check(inputs)
    outputs = call(func, inputs)
    check_outputs(outputs)
    if not differentiable_outputs(outputs):
        _check_constant(func, inputs, positions, options, outputs)
        return
    if options.check_backward_ad:
        compare(func, inputs, positions, options, forward=False)
    if options.check_forward_ad:
        compare(func, inputs, positions, options, forward=True)
    if options.check_backward_ad:
        _check_reverse_mode(func, inputs, positions, options)
    if options.check_forward_ad and options.check_undefined_grad:
        check_undefined_tangents(func, inputs, positions)
    if options.check_batched_forward_grad:
        check_batched_tangents(func, inputs, positions)


def _check_constant(
    func: Callable[..., Any],
    inputs: tuple[Any, ...],
    positions: list[int],
    options: Options,
    outputs: tuple[Any, ...],
) -> None:
    """Check that outputs which claim to have no derivative have none."""
    for position in positions:
        for index, jacobian in enumerate(numerical_jacobians(func, inputs, position, options.eps, outputs)):
            if np.abs(jacobian).max(initial=0.0) > options.atol:
                raise GradcheckError(
                    f"Numerical gradient for function expected to be zero, because no output requires grad, but that "
                    f"of output {index} with respect to input {position} is\n{jacobian}"
                )


def _check_reverse_mode(
    func: Callable[..., Any], inputs: tuple[Any, ...], positions: list[int], options: Options
) -> None:
    targets = [inputs[position] for position in positions]
    outputs = differentiable_outputs(call(func, inputs))
    if options.check_batched_grad:
        check_batched_gradients(outputs, targets)
    check_multiplies_by_gradient(outputs, targets)
    if options.check_undefined_grad:
        check_undefined_gradients(outputs, targets)
