"""Nonlinear least squares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..func._sparse._api import sparsity
from ._flat import Layout
from ._minimize import structured, wrapped_callback
from ._objective import Evaluated

_JACOBIANS = ("auto", "dense", "sparse")


def least_squares(
    fun: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    jac: str = "auto",
    bounds: Any = (-np.inf, np.inf),
    method: str = "trf",
    callback: Callable[[Any], Any] | None = None,
    **options: Any,
) -> Any:
    """Minimize half the sum of squares of residuals with `scipy.optimize.least_squares` and exact Jacobians.

    Parameters
    ----------
    fun : callable
        ``fun(x, *args)``: from a tree of float64 tensors, structured as `x0`, to a tensor or tree of residuals.
    x0 : tree of Tensor, ndarray or float
        Where to start.
    args : tuple
        Further arguments of `fun`.
    jac : {'auto', 'dense', 'sparse'}
        How to represent the Jacobian. 'sparse' finds its pattern once and compresses; 'auto' does so for 1,000 or more
        parameters if less than a tenth of the entries can differ from 0.
    bounds : (lower, upper) or scipy.optimize.Bounds
        As for SciPy; see `bounds_like` for trees.
    method : {'trf', 'dogbox', 'lm'}
        SciPy's method ('lm' takes no sparse Jacobian).
    callback : callable, optional
        ``callback(intermediate_result)`` with `x` a tree; raising StopIteration stops. Not for 'lm'.
    **options
        Further arguments of SciPy's function: ftol, xtol, gtol, loss, f_scale, x_scale, max_nfev, verbose, ...

    Returns
    -------
    scipy.optimize.OptimizeResult
        With `x` structured as `x0` and leaves of the same kinds; `x_flat` is the vector.

    Raises
    ------
    ValueError
        If `jac` is unknown.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> t = wg.linspace(0, 1, 20, dtype=wg.float64)
    >>> measured = 3 * wg.exp(-2 * t)
    >>> start = {"amplitude": 1.0, "rate": 0.0}
    >>> fit = wg.optimize.least_squares(lambda p: p["amplitude"] * wg.exp(-p["rate"] * t) - measured, start)
    >>> {name: round(value, 6) for name, value in fit.x.items()}
    {'amplitude': 3.0, 'rate': 2.0}
    """
    from scipy import optimize

    if jac not in _JACOBIANS:
        raise ValueError(f"[least_squares] jac must be one of {_JACOBIANS}, but got {jac!r}")
    layout = Layout(x0, "least_squares")
    residuals = Evaluated(fun, layout, args, "least_squares")
    jacobian: Any = residuals.jacobian
    if jac == "sparse" or (jac == "auto" and layout.size >= 1000 and method != "lm"):
        plan = sparsity(residuals.call, layout.leaves(layout.start))
        if jac == "sparse" or plan.pattern.nnz < 0.1 * plan.pattern.shape[0] * plan.pattern.shape[1]:

            def jacobian(point: Any) -> Any:
                return plan(layout.leaves(point))

    if callback is not None:
        options["callback"] = wrapped_callback(callback, layout)
    found = optimize.least_squares(
        residuals.values, layout.start, jac=jacobian, bounds=bounds, method=method, **options
    )
    return structured(found, layout)
