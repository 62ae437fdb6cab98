"""`gradgradcheck`: second derivatives, as first derivatives of the backward pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert
from wengert._C import Tensor

from .._backward import grad
from ._coordinates import from_coordinates, size
from ._gradcheck import gradcheck
from ._inputs import as_tuple, call, differentiable_outputs, positions_to_check
from ._options import check_second_order_options


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Check the second derivatives of `func` at `inputs` and `grad_outputs` against central differences.

    Parameters
    ----------
    func, inputs, eps, atol, rtol, raise_exception, nondet_tol, check_undefined_grad, check_grad_dtypes, \
check_batched_grad, fast_mode, masked
        As for `gradcheck`.
    grad_outputs : Tensor or tuple, optional
        The gradients to run backward with, one for each differentiable output; random ones by default.
    gen_non_contig_grad_outputs : bool
        Whether the random ones are non-contiguous.
    check_fwd_over_rev, check_rev_over_rev : bool
        Which modes to apply to the backward pass.

    Returns
    -------
    bool
        True if all is right.

    Raises
    ------
    GradcheckError
        If a derivative is wrong and `raise_exception` is set.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([0.5, 2.0], dtype=wg.float64, requires_grad=True)
    >>> wg.autograd.gradgradcheck(lambda x: x * x * x, x)
    True
    """
    check_second_order_options(check_fwd_over_rev, check_rev_over_rev, check_undefined_grad, check_batched_grad)
    inputs = as_tuple(inputs)
    outputs = differentiable_outputs(call(func, inputs))
    if grad_outputs is None:
        random = np.random.default_rng(0)
        gradients = tuple(_random_gradient(output, random, gen_non_contig_grad_outputs) for output in outputs)
    else:
        gradients = as_tuple(grad_outputs)
    return gradcheck(
        _backward_pass(func, inputs, len(gradients)),
        inputs + gradients,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _random_gradient(output: Any, random: np.random.Generator, noncontiguous: bool) -> Any:
    """Return a leaf with random values in [-1, 1) and the shape and dtype of `output`."""
    gradient = from_coordinates(random.uniform(-1.0, 1.0, size(output)), output)
    if noncontiguous and gradient.dim() > 0:
        gradient = wengert.stack([gradient, gradient], -1)[..., 0]
    return gradient.detach().requires_grad_()


def _backward_pass(func: Callable[..., Any], inputs: tuple[Any, ...], count: int) -> Callable[..., Any]:
    """Return the function from inputs and `count` gradients to the gradients of the inputs."""
    positions = set(positions_to_check(inputs))

    def backward_pass(*arguments: Any) -> tuple[Any, ...]:
        primals, gradients = arguments[: len(inputs)], arguments[len(inputs) :]
        for position in positions:
            # Forward mode passes its inputs without requires_grad, but this function differentiates inside.
            if not primals[position].requires_grad:
                primals[position].requires_grad_()
        outputs = differentiable_outputs(call(func, primals))
        targets = [value for value in primals if isinstance(value, Tensor) and value.requires_grad]
        results = grad(outputs, targets, gradients, create_graph=True, allow_unused=True)
        return tuple(result for result in results if result is not None)

    return backward_pass
