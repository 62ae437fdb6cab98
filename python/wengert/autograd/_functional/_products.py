"""Products of a vector with a Jacobian or a Hessian.

Those from the right need no forward mode: `linearize` differentiates a gradient with respect to its cotangent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.func._grad import grad
from wengert.func._vjp import linearize, record

from . import _strict
from ._run import Run, recording


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
    run = Run(func, inputs, "vjp", create_graph, _strict.vjp if strict else None)
    with recording(create_graph):
        frame, outputs, *_ = record(run, run.inputs, False, "vjp")
        product = frame.gradients(tuple(outputs), run.cotangents(v, outputs), False)
        return run.like_outputs(frame.release(outputs)), run.like_inputs(product)


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
    run = Run(func, inputs, "jvp", create_graph, _strict.jvp if strict else None)
    with recording(create_graph):
        tangents = run.tangents(v)
        outputs, push = linearize(run, *run.inputs)
        return run.like_outputs(outputs), run.like_outputs(push(*tangents))


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
    run = Run(func, inputs, "vhp", create_graph, _strict.vhp if strict else None)
    with recording(create_graph):
        vector = run.tangents(v)
        gradient = grad(run.scalar, run.places, has_aux=True)
        frame, gradients, _, _, output = record(gradient, run.inputs, True, "vhp")
        product = frame.gradients(tuple(gradients), vector, False)
        return frame.release(output), run.like_inputs(product)


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
    run = Run(func, inputs, "hvp", create_graph, _strict.hvp if strict else None)
    with recording(create_graph):
        vector = run.tangents(v)
        gradient = grad(run.scalar, run.places, has_aux=True)
        _, push, output = linearize(gradient, *run.inputs, has_aux=True)
        return output, run.like_inputs(push(*vector))
