"""What `gradcheck` checks, in this order; see there for what the options mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._compare import compare
from ._errors import GradcheckError
from ._forward_checks import check_batched_tangents, check_undefined_tangents
from ._inputs import as_tuple, check_inputs, check_outputs, differentiable_outputs, positions_to_check
from ._numerical import numerical_jacobians
from ._options import Case
from ._options import Options as Options
from ._reverse_checks import check_batched_gradients, check_multiplies_by_gradient, check_undefined_gradients


def check_first_order(func: Callable[..., Any], inputs: Any, options: Options) -> None:
    """Raise GradcheckError where a first derivative of `func` at `inputs`, a tensor or a tuple, is wrong."""
    inputs = as_tuple(inputs)
    check_inputs(inputs)
    case = Case(func, inputs, positions_to_check(inputs), options)
    outputs = case.outputs()
    check_outputs(outputs)
    if not differentiable_outputs(outputs):
        _check_constant(case, outputs)
        return
    if options.check_backward_ad:
        compare(case, forward=False)
    if options.check_forward_ad:
        compare(case, forward=True)
    if options.check_backward_ad:
        _check_reverse_mode(case)
    if options.check_forward_ad and options.check_undefined_grad:
        check_undefined_tangents(case)
    if options.check_batched_forward_grad:
        check_batched_tangents(case)


def _check_constant(case: Case, outputs: tuple[Any, ...]) -> None:
    """Check that outputs which claim to have no derivative have none."""
    for position in case.positions:
        jacobians = numerical_jacobians(case.function, case.inputs, position, case.options.eps, outputs)
        for index, jacobian in enumerate(jacobians):
            if np.abs(jacobian).max(initial=0.0) > case.options.atol:
                raise GradcheckError(
                    f"Numerical gradient for function expected to be zero, because no output requires grad, but that "
                    f"of output {index} with respect to input {position} is\n{jacobian}"
                )


def _check_reverse_mode(case: Case) -> None:
    outputs = differentiable_outputs(case.outputs())
    if case.options.check_batched_grad:
        check_batched_gradients(outputs, case.targets)
    check_multiplies_by_gradient(outputs, case.targets)
    if case.options.check_undefined_grad:
        check_undefined_gradients(outputs, case.targets)
