"""Products of a vector with a Jacobian or a Hessian.

Products from the right need no forward mode: a gradient is linear in its cotangent u, so differentiating it with
respect to u applies the transpose of the transpose.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert

from .._grad_mode import enable_grad
from ._derivatives import derivative, require_graph
from ._values import Tensors, as_tensors, call, check_vector, finish, prepare, unwrap


@enable_grad()
def vjp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return the outputs of `func` and the product of `v` with its Jacobian.

    Parameters
    ----------
    func : callable
        From tensors to a tensor or tuple of tensors.
    inputs : Tensor or tuple of Tensor
        Where to differentiate.
    v : Tensor or tuple of Tensor, optional
        Of the outputs' sizes; by default one, for a single output of one element.
    create_graph : bool
        Whether results can be differentiated.
    strict : bool
        Whether it is an error if an output does not depend on an input.

    Returns
    -------
    outputs, product
        Structured like the outputs and like `inputs`.

    Raises
    ------
    TypeError
        If inputs, outputs or `v` are no tensors.
    RuntimeError
        If `v` is missing or does not fit, or strict mode finds independence.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([1.0, 2.0])
    >>> wg.autograd.functional.vjp(lambda x: x * x, x, wg.tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    values, is_tuple = as_tensors(inputs, "inputs", "vjp")
    values = prepare(values, create_graph)
    outputs, outputs_are_tuple = call(func, values, "vjp")
    require_graph(outputs, "outputs", strict)
    if v is not None:
        cotangents: Any = check_vector(v, outputs, outputs_are_tuple, "vjp", create_graph)
    elif len(outputs) == 1 and outputs[0].numel() == 1:
        cotangents = None
    else:
        raise RuntimeError(
            "The vector v can only be None if the user-provided function returns a single Tensor with a single "
            f"element, but it returned shapes {[tuple(output.shape) for output in outputs]}."
        )
    product = derivative(outputs, values, cotangents, create_graph=create_graph, strict=strict)
    return (
        unwrap(finish(outputs, create_graph), outputs_are_tuple),
        unwrap(finish(product, create_graph), is_tuple),
    )


@enable_grad()
def jvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return the outputs of `func` and the product of its Jacobian with `v`, by two backward passes.

    Parameters and errors are those of `vjp`, but `v` has the sizes of the inputs.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([1.0, 2.0])
    >>> wg.autograd.functional.jvp(lambda x: x.prod(), x, wg.tensor([1.0, 10.0]))
    (tensor(2.), tensor(12.))
    """
    values, is_tuple = as_tensors(inputs, "inputs", "jvp")
    values = prepare(values, create_graph)
    tangents = _vector_like_inputs(v, values, is_tuple, "jvp", create_graph)
    outputs, outputs_are_tuple = call(func, values, "jvp")
    require_graph(outputs, "outputs", strict)
    duals = tuple(wengert.zeros_like(output).requires_grad_() for output in outputs)
    gradients = derivative(outputs, values, duals, create_graph=True, strict=strict)
    require_graph(gradients, "grad_inputs", strict)
    product = derivative(gradients, duals, tangents, create_graph=create_graph, strict=strict, stage="back_trick")
    return (
        unwrap(finish(outputs, create_graph), outputs_are_tuple),
        unwrap(finish(product, create_graph), outputs_are_tuple),
    )


@enable_grad()
def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return the output of a scalar `func` and the product of `v` with its Hessian.

    Parameters and errors are those of `vjp`, but `v` has the sizes of the inputs, and `func` must return one element.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([1.0, 2.0])
    >>> wg.autograd.functional.vhp(lambda x: (x**3).sum(), x, wg.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    values, is_tuple = as_tensors(inputs, "inputs", "vhp")
    values = prepare(values, create_graph)
    vector = _vector_like_inputs(v, values, is_tuple, "vhp", create_graph)
    output, gradients = _scalar_and_gradients(func, values, "vhp", strict)
    product = derivative(gradients, values, vector, create_graph=create_graph, strict=strict, stage="double_back")
    return finish(output, create_graph), unwrap(finish(product, create_graph), is_tuple)


@enable_grad()
def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return the output of a scalar `func` and the product of its Hessian with `v`, by three backward passes.

    The Hessian of a smooth function is symmetric, so `vhp` gives the same with two.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([1.0, 2.0])
    >>> wg.autograd.functional.hvp(lambda x: (x**3).sum(), x, wg.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    values, is_tuple = as_tensors(inputs, "inputs", "hvp")
    values = prepare(values, create_graph)
    vector = _vector_like_inputs(v, values, is_tuple, "hvp", create_graph)
    output, gradients = _scalar_and_gradients(func, values, "hvp", strict)
    duals = tuple(wengert.zeros_like(value).requires_grad_() for value in values)
    double = derivative(gradients, values, duals, create_graph=True, strict=strict, stage="double_back")
    require_graph(double, "hessian", strict)
    product = derivative(double, duals, vector, create_graph=create_graph, strict=strict, stage="double_back_trick")
    return finish(output, create_graph), unwrap(finish(product, create_graph), is_tuple)


def _vector_like_inputs(v: Any, inputs: Tensors, is_tuple: bool, caller: str, create_graph: bool) -> Tensors:
    if v is not None:
        return check_vector(v, inputs, is_tuple, caller, create_graph)
    if len(inputs) != 1 or inputs[0].numel() != 1:
        raise RuntimeError(
            "The vector v can only be None if the input to the user-provided function is a single Tensor with a single "
            f"element, but the inputs have shapes {[tuple(value.shape) for value in inputs]}."
        )
    return (wengert.ones_like(inputs[0]),)


def _scalar_and_gradients(func: Callable[..., Any], inputs: Tensors, caller: str, strict: bool) -> tuple[Any, Tensors]:
    """Return the scalar output and its gradients, which can be differentiated."""
    outputs, is_tuple = call(func, inputs, caller)
    require_graph(outputs, "outputs", strict)
    check_scalar(outputs, is_tuple, caller)
    gradients = derivative(outputs, inputs, create_graph=True, strict=strict, needs_graph=False)
    require_graph(gradients, "jacobian", strict)
    return outputs[0], gradients


def check_scalar(outputs: Tensors, is_tuple: bool, caller: str) -> None:
    """Raise RuntimeError unless a function returned one tensor of one element."""
    if is_tuple:
        raise RuntimeError(f"The function given to {caller} should return a single Tensor, but returned a tuple.")
    if outputs[0].numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {caller} should contain a single element, but has shape "
            f"{tuple(outputs[0].shape)}."
        )
