"""`gradgradcheck`: second derivatives, as first derivatives of the backward pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._gradcheck import gradcheck


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
    from ._second_order import backward_pass, check_second_order_options  # see gradcheck
    from ._sparse import has_sparse, of_dense

    check_second_order_options(check_fwd_over_rev, check_rev_over_rev, check_undefined_grad, check_batched_grad)
    if has_sparse(inputs):
        func, inputs = of_dense(func, inputs, masked)
    first_order, arguments = backward_pass(func, inputs, grad_outputs, gen_non_contig_grad_outputs)
    return gradcheck(
        first_order,
        arguments,
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
