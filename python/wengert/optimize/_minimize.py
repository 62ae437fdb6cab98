"""Minimization of a scalar function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._progress_bars import counter
from ..func._products import Vector
from ..func._sparse._api import sparsity
from ._constraints import wrapped_constraints
from ._flat import Layout
from ._objective import Evaluated

# What SciPy's methods take. Methods that are not listed here (a callable, or one that SciPy gains) get the gradient.
_WITHOUT_GRADIENT = {"nelder-mead", "powell", "cobyla", "cobyqa"}
_WITH_MATRIX = {"dogleg", "trust-exact"}
_WITH_PRODUCTS = {"newton-cg", "trust-ncg", "trust-krylov", "trust-constr"}
_HESSIANS = ("auto", "dense", "product", "sparse")


def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    method: Any = None,
    *,
    hess: Any = "auto",
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    callback: Callable[[Any], Any] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Any:
    """Minimize a scalar function of a tree of parameters with `scipy.optimize.minimize` and exact derivatives.

    Parameters
    ----------
    fun : callable
        ``fun(x, *args)``: from a tree of float64 tensors, structured as `x0`, to a tensor of one element.
    x0 : tree of Tensor, ndarray or float
        Where to start.
    args : tuple
        Further arguments of `fun`.
    method : str or callable, optional
        SciPy's method; by default BFGS, L-BFGS-B or SLSQP, depending on bounds and constraints.
    hess : {'auto', 'dense', 'product', 'sparse'}, callable or scipy.optimize.HessianUpdateStrategy
        How methods of second order get the Hessian: as a matrix, by products with vectors, or as a sparse matrix whose
        pattern is found once ('trust-constr' only). 'auto' takes what the method is made for; anything else is handed
        to SciPy.
    bounds : sequence of pairs or scipy.optimize.Bounds, optional
        One pair for each element, leaf after leaf; see `bounds_like` for trees.
    constraints : dict, NonlinearConstraint, LinearConstraint or list of them
        As for SciPy, with functions of the tree; their Jacobians and Hessians come from automatic differentiation.
    tol : float, optional
        SciPy's tolerance.
    callback : callable, optional
        ``callback(intermediate_result)``, with at least `x` (a tree); raising StopIteration stops.
    options : dict, optional
        SciPy's options of the method.

    Returns
    -------
    scipy.optimize.OptimizeResult
        With `x` structured as `x0` and leaves of the same kinds; `x_flat` is the vector.

    Raises
    ------
    ValueError
        If `fun` returns more than one element, or `hess` does not suit.
    TypeError
        If `x0` has complex leaves, or something that is no tensor, array or number.

    Examples
    --------
    >>> import wengert as wg
    >>> def rosenbrock(p):
    ...     return (1 - p["x"]) ** 2 + 100 * (p["y"] - p["x"] ** 2) ** 2
    >>> result = wg.optimize.minimize(rosenbrock, {"x": -1.0, "y": 2.0}, method="trust-exact")
    >>> {name: round(value, 4) for name, value in result.x.items()}
    {'x': 1.0, 'y': 1.0}
    """
    from scipy import optimize

    layout = Layout(x0, "minimize")
    objective = Evaluated(fun, layout, args, "minimize")
    one = np.ones(1)

    def value(point: Vector) -> float:
        values = objective.values(point)
        if values.size != 1:
            raise ValueError(
                f"[minimize] expected fun to return one element, but got {values.size}; reduce with .sum() or .mean(), "
                "or use least_squares for residuals"
            )
        return float(values[0])

    def gradient(point: Vector) -> Vector:
        return objective.vjp(point, one)

    known: dict[str, Any] = {}
    name = method.lower() if isinstance(method, str) else ""
    if name not in _WITHOUT_GRADIENT:
        known["jac"] = gradient
    known.update(_second_order(objective, one, name, hess, args))
    with counter("minimize") as bar:
        found = optimize.minimize(
            value,
            layout.start,
            method=method,
            bounds=bounds,
            constraints=wrapped_constraints(constraints, layout),
            tol=tol,
            callback=wrapped_callback(callback, layout, bar),
            options=dict(options or {}),
            **known,
        )
    return structured(found, layout)


def _second_order(objective: Evaluated, one: Vector, name: str, hess: Any, arguments: Any) -> dict[str, Any]:
    if isinstance(hess, str) and hess not in _HESSIANS:
        raise ValueError(f"[minimize] hess must be one of {_HESSIANS}, a callable or a strategy, but got {hess!r}")
    if not isinstance(hess, str):
        if not callable(hess):
            return {} if hess is None else {"hess": hess}
        return {"hess": lambda point: np.asarray(hess(objective.layout.tree(point), *arguments), np.float64)}
    if name not in _WITH_MATRIX | _WITH_PRODUCTS:
        if hess != "auto":
            raise ValueError(f"[minimize] method {name or 'by default'} takes no Hessian; leave out hess={hess!r}")
        return {}
    if hess == "auto":
        hess = "dense" if name in _WITH_MATRIX else "product"
    if hess == "product":
        if name in _WITH_MATRIX:
            raise ValueError(f"[minimize] method {name} needs the matrix; pass hess='dense' or use 'trust-ncg'")
        return {"hessp": lambda point, direction: objective.hvp(point, one, direction)}
    if hess == "dense":
        return {"hess": lambda point: objective.hessian(point, one)}
    if name != "trust-constr":
        raise ValueError(f"[minimize] method {name} takes no sparse matrix; use method='trust-constr'")
    return {"hess": _sparse_hessian(objective)}


def _sparse_hessian(objective: Evaluated) -> Callable[[Vector], Any]:
    layout = objective.layout
    plan = sparsity(lambda leaves: objective.call(leaves)[0], layout.leaves(layout.start), order=2)
    return lambda point: plan(layout.leaves(point))


def wrapped_callback(callback: Callable[[Any], Any] | None, layout: Layout, bar: Any = None) -> Any:
    """Return SciPy's callback for the user's, which gets trees."""
    if callback is None and bar is None:
        return None
    from scipy.optimize import OptimizeResult

    def inner(intermediate_result: Any) -> Any:  # SciPy looks at the name of the argument
        if not isinstance(intermediate_result, OptimizeResult):  # some methods pass the vector only
            intermediate_result = OptimizeResult(x=intermediate_result)
        if bar is not None:
            bar.set_postfix({"objective": intermediate_result.get("fun", "?")}, refresh=False)
            bar.update()
        if callback is None:
            return None
        return callback(OptimizeResult({**intermediate_result, "x": layout.result(intermediate_result.x)}))

    return inner


def structured(found: Any, layout: Layout) -> Any:
    """Put the tree in the place of the vector."""
    found.x_flat = found.x
    found.x = layout.result(found.x)
    return found
