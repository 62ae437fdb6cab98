"""Roots of systems of equations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ._flat import Layout
from ._minimize import structured
from ._objective import Evaluated

_WITH_JACOBIAN = {"hybr", "lm"}


def root(
    fun: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    method: str = "hybr",
    *,
    tol: float | None = None,
    callback: Callable[..., Any] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Any:
    """Find a root of as many equations as unknowns with `scipy.optimize.root` and exact Jacobians.

    Parameters
    ----------
    fun : callable
        ``fun(x, *args)``: from a tree of float64 tensors, structured as `x0`, to a tensor or tree of as many elements.
    x0 : tree of Tensor, ndarray or float
        Where to start.
    args : tuple
        Further arguments of `fun`.
    method : str
        SciPy's method. 'hybr' and 'lm' get the Jacobian; the others approximate it.
    tol : float, optional
        SciPy's tolerance.
    callback : callable, optional
        ``callback(x, f)`` with `x` a tree and `f` the residual vector; not for 'hybr' and 'lm'.
    options : dict, optional
        SciPy's options of the method.

    Returns
    -------
    scipy.optimize.OptimizeResult
        With `x` structured as `x0` and leaves of the same kinds; `x_flat` is the vector.

    Raises
    ------
    ValueError
        If `fun` does not return as many elements as `x0` has.

    Examples
    --------
    >>> import wengert as wg
    >>> solution = wg.optimize.root(lambda p: (p[0] + p[1] - 3, p[0] * p[1] - 2), (0.5, 3.0))
    >>> [round(value, 6) for value in solution.x]
    [1.0, 2.0]
    """
    from scipy import optimize

    layout = Layout(x0, "root")
    equations = Evaluated(fun, layout, args, "root")
    size = equations.values(layout.start).size
    if size != layout.size:
        raise ValueError(
            f"[root] needs as many equations as unknowns, but got {size} for {layout.size}; use least_squares"
        )
    inner = None if callback is None else lambda x, f: callback(layout.result(x), f)
    found = optimize.root(
        equations.values,
        layout.start,
        method=method,
        jac=equations.jacobian if method in _WITH_JACOBIAN else None,
        tol=tol,
        callback=inner,
        options=dict(options or {}),
    )
    return structured(found, layout)
