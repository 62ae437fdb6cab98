"""Gradients where nothing is missing: zeros for independence, or an error in strict mode."""

from __future__ import annotations

from typing import Any

import wengert

from .._backward import grad
from ._values import Tensors

_STRICT = "This is not allowed in strict mode."

# What a missing gradient means at each stage: of the first backward pass, of a pass over its cotangents (which gives
# forward products), of a second pass, and of a pass over the cotangents of that.
_INDEPENDENT = {
    "back": f"The output of the user-provided function is independent of input {{i}}. {_STRICT}",
    "row": f"Output {{output}} of the user-provided function is independent of input {{i}}. {_STRICT}",
    "back_trick": (
        "The gradient with respect to the input is independent of entry {i} in the grad_outputs when using the double "
        f"backward trick to compute forward mode gradients. {_STRICT}"
    ),
    "double_back": f"The jacobian of the user-provided function is independent of input {{i}}. {_STRICT}",
    "double_back_trick": (
        "The hessian of the user-provided function is independent of entry {i} in the grad_jacobian. "
        f"{_STRICT} It prevents the double backward trick from replacing forward mode."
    ),
}

_NO_GRAPH = {
    "outputs": (
        "Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
        "differentiable manner from the input when running in strict mode."
    ),
    "grad_inputs": (
        "The gradient with respect to input {i} is independent of the inputs of the user-provided function. "
        f"{_STRICT}"
    ),
    "jacobian": (
        "While computing the hessian, found that the jacobian of the user-provided function with respect to input {i} "
        f"is independent of the input. {_STRICT} The function must be twice differentiable, and not linear."
    ),
    "hessian": (
        "The hessian of the user-provided function with respect to input {i} is independent of the input. "
        f"{_STRICT} The function must be three times differentiable."
    ),
}


def require_graph(values: Tensors, kind: str, strict: bool) -> None:
    """Raise RuntimeError in strict mode if one of `values` does not require grad."""
    if strict:
        for index, value in enumerate(values):
            if not value.requires_grad:
                raise RuntimeError(_NO_GRAPH[kind].format(i=index))


def derivative(
    outputs: Tensors,
    inputs: Tensors,
    cotangents: Any = None,
    *,
    create_graph: bool = False,
    strict: bool = False,
    stage: str = "back",
    needs_graph: bool | None = None,
    output: int = 0,
) -> Tensors:
    """Return the product of `cotangents` with the Jacobian of `outputs`, one tensor for each input.

    Parameters
    ----------
    strict : bool
        Whether an input without influence is an error rather than zeros.
    stage : str
        Which pass this is, for the message.
    needs_graph : bool, optional
        Whether strict mode wants differentiable results; by default `create_graph`.
    output : int
        Which output this is about, for the message of a row.
    """
    if cotangents is None:
        cotangents = (None,) * len(outputs)
    pairs = [pair for pair in zip(outputs, cotangents, strict=True) if pair[0].requires_grad]
    results: Tensors = (None,) * len(inputs)
    if pairs:
        tracked, given = zip(*pairs, strict=True)
        results = grad(tracked, inputs, given, retain_graph=True, create_graph=create_graph, allow_unused=True)
    wants_graph = create_graph if needs_graph is None else needs_graph
    filled = []
    for index, (result, value) in enumerate(zip(results, inputs, strict=True)):
        if result is None:
            if strict:
                raise RuntimeError(_INDEPENDENT[stage].format(i=index, output=output))
            result = wengert.zeros_like(value)
        elif strict and wants_graph and not result.requires_grad:
            order = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(
                f"The {order} of the user-provided function is independent of input {index}. This is not allowed in "
                "strict mode when create_graph=True."
            )
        filled.append(result)
    return tuple(filled)
