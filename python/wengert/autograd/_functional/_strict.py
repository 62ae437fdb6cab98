"""Strict mode: errors where an output or a derivative does not depend on the inputs.

A gradient that depends on nothing is zero to the transforms. What shows the difference is a pass over the graph of the
call, in which inputs without influence get none. Each function here makes the passes that its product will make.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import wengert

from .._backward.entry import grad

_STRICT = "This is not allowed in strict mode."
_OUTPUT = (
    "Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
    "differentiable manner from the input when running in strict mode."
)
_INDEPENDENT = f"The output of the user-provided function is independent of input {{i}}. {_STRICT}"
_ROW = f"Output {{output}} of the user-provided function is independent of input {{i}}. {_STRICT}"
_ENTRY = (
    "The gradient with respect to the input is independent of entry {i} in the grad_outputs when using the double "
    f"backward trick to compute forward mode gradients. {_STRICT}"
)
_GRAD_INPUT = (
    f"The gradient with respect to input {{i}} is independent of the inputs of the user-provided function. {_STRICT}"
)
_CONSTANT = "The {order} of the user-provided function is independent of input {i}. This is not allowed in strict mode"
_JACOBIAN = (
    "While computing the hessian, found that the jacobian of the user-provided function with respect to input {i} "
    f"is independent of the input. {_STRICT} The function must be twice differentiable, and not linear."
)
_HESSIAN = (
    "The hessian of the user-provided function with respect to input {i} is independent of the input. "
    f"{_STRICT} The function must be three times differentiable."
)
_HESSIAN_ENTRY = (
    f"The hessian of the user-provided function is independent of entry {{i}} in the grad_jacobian. {_STRICT} It "
    "prevents the double backward trick from replacing forward mode."
)


def vjp(outputs: Any, inputs: Any, create_graph: bool) -> None:
    """Check the first derivative."""
    outputs_require_graph(outputs, inputs)
    _derivative(outputs, inputs, create_graph, _INDEPENDENT, "jacobian")


def jvp(outputs: Any, inputs: Any, create_graph: bool) -> None:
    """Check the first derivative, as a function of its cotangents."""
    outputs_require_graph(outputs, inputs)
    duals = _duals(outputs)
    gradients = _derivative(outputs, inputs, True, _INDEPENDENT, "", duals)
    _require_graph(gradients, _GRAD_INPUT)
    _derivative(gradients, duals, create_graph, _ENTRY, "jacobian")


def rows(outputs: Any, inputs: Any, create_graph: bool) -> None:
    """Check the first derivative of every output."""
    outputs_require_graph(outputs, inputs)
    for place, output in enumerate(outputs):
        _derivative([output], inputs, create_graph, _ROW.replace("{output}", str(place)), "jacobian")


def vhp(outputs: Any, inputs: Any, create_graph: bool) -> None:
    """Check both derivatives of a function with one output."""
    _derivative(_gradients(outputs, inputs), inputs, create_graph, f"{_CONSTANT}.", "hessian")


def hvp(outputs: Any, inputs: Any, create_graph: bool) -> None:
    """Check both derivatives, the second as a function of its cotangents."""
    gradients = _gradients(outputs, inputs)
    duals = _duals(gradients)
    double = _derivative(gradients, inputs, True, f"{_CONSTANT}.", "hessian", duals)
    _require_graph(double, _HESSIAN)
    _derivative(double, duals, create_graph, _HESSIAN_ENTRY, "hessian")


def outputs_require_graph(outputs: Any, *_: Any) -> None:
    """Raise RuntimeError if an output is a constant."""
    _require_graph(outputs, _OUTPUT)


def gradients_require_graph(gradients: Any, *_: Any) -> None:
    """Raise RuntimeError if a gradient is a constant."""
    _require_graph(gradients, _JACOBIAN)


def _gradients(outputs: Any, inputs: Any) -> list[Any]:
    outputs_require_graph(outputs)
    gradients = _derivative(outputs, inputs, True, _INDEPENDENT, "")
    gradients_require_graph(gradients)
    return gradients


def _require_graph(values: Sequence[Any], message: str) -> None:
    for index, value in enumerate(values):
        if not value.requires_grad:
            raise RuntimeError(message.format(i=index))


def _duals(values: Sequence[Any]) -> list[Any]:
    return [wengert.zeros_like(value).requires_grad_() for value in values]


def _derivative(
    outputs: Any, inputs: Any, record: bool, independent: str, order: str, cotangents: Any = None
) -> list[Any]:
    """Return the gradients of the inputs, none of which may be independent, nor, if it is recorded, constant."""
    if cotangents is None:
        cotangents = [wengert.ones_like(output) for output in outputs]
    gradients = grad(outputs, inputs, cotangents, retain_graph=True, create_graph=record, allow_unused=True)
    for index, gradient in enumerate(gradients):
        if gradient is None:
            raise RuntimeError(independent.format(i=index, order="jacobian"))
        if record and order and not gradient.requires_grad:
            raise RuntimeError(f"{_CONSTANT} when create_graph=True.".format(i=index, order=order))
    return list(gradients)
