"""`gradcheck`: first derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._errors import GradcheckError


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Check the derivatives of `func` at `inputs` against central differences.

    Parameters
    ----------
    func : callable
        Takes `inputs`, returns a Tensor or a tuple of Tensors.
    inputs : Tensor or tuple
        Those that require grad are checked; they should be float64 or complex128, without shared memory.
    eps : float
        Step of the differences.
    atol, rtol : float
        Tolerances of the comparison.
    raise_exception : bool
        Whether a failure raises; otherwise it returns False.
    nondet_tol : float
        How much two runs of one backward pass may differ.
    check_undefined_grad : bool
        Whether missing gradients (and tangents) must count as zeros.
    check_grad_dtypes : bool
        Whether gradients must have the dtypes of their inputs.
    check_batched_grad, check_batched_forward_grad : bool
        Whether batches of gradients, or tangents, must give what single ones give.
    check_forward_ad, check_backward_ad : bool
        Which modes to check.
    fast_mode : bool
        Compare random projections instead of whole Jacobians: a few calls instead of one for each element.
    masked : bool, optional
        Whether places of sparse inputs without an element are constant; if not, all elements are changed, and the
        gradient must have those too. Dense tensors have no masked elements.

    Returns
    -------
    bool
        True if all is right.

    Raises
    ------
    GradcheckError
        If a derivative is wrong and `raise_exception` is set.
    ValueError, RuntimeError, AssertionError
        If inputs, outputs or options do not allow the check.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([0.5, 2.0], dtype=wg.float64, requires_grad=True)
    >>> wg.autograd.gradcheck(lambda x: x * x, x)
    True
    """
    from ._checks import Options, check_first_order  # `import wengert` need not load all that checks
    from ._sparse import has_sparse, of_dense

    options = Options(
        eps,
        atol,
        rtol,
        nondet_tol,
        check_undefined_grad,
        check_grad_dtypes,
        check_batched_grad,
        check_batched_forward_grad,
        check_forward_ad,
        check_backward_ad,
        fast_mode,
    )
    if has_sparse(inputs):
        func, inputs = of_dense(func, inputs, bool(masked))
    try:
        check_first_order(func, inputs, options)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True
