"""Constraints whose functions take trees, as SciPy wants them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..func._products import Vector
from ._flat import Layout
from ._objective import Evaluated


def wrapped_constraints(constraints: Any, layout: Layout) -> Any:
    """Return SciPy's constraints for the user's."""
    single = isinstance(constraints, Mapping) or hasattr(constraints, "lb")
    return [_wrapped(constraint, layout) for constraint in ([constraints] if single else constraints)]


def _wrapped(constraint: Any, layout: Layout) -> Any:
    from scipy.optimize import NonlinearConstraint

    if isinstance(constraint, Mapping):
        function = Evaluated(constraint["fun"], layout, tuple(constraint.get("args", ())), "constraint")
        rest = {key: value for key, value in constraint.items() if key not in ("fun", "jac", "args")}
        return {**rest, "fun": function.values, "jac": function.jacobian}
    if not isinstance(constraint, NonlinearConstraint):
        return constraint  # linear: matrices for the vector
    function = Evaluated(constraint.fun, layout, (), "constraint")
    return NonlinearConstraint(
        function.values,
        constraint.lb,
        constraint.ub,
        jac=function.jacobian,
        hess=_products(function),
        keep_feasible=constraint.keep_feasible,
    )


def _products(function: Evaluated) -> Any:
    from scipy.sparse.linalg import LinearOperator

    def hessian(point: Vector, weights: Vector) -> Any:
        point, weights = np.array(point), np.array(weights)

        def product(direction: Vector) -> Vector:
            return function.hvp(point, weights, np.asarray(direction).reshape(-1))

        size = function.layout.size
        return LinearOperator((size, size), matvec=product, rmatvec=product, dtype=np.dtype(np.float64))

    return hessian
