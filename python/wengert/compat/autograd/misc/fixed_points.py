"""`fixed_point`: iterate a function until it stays where it is; differentiable by the implicit function theorem.

Where ``x = f(a)(x)``, the cotangent of `a` is that of ``f(a)(x)`` for the cotangent ``w = g + (df/dx)^T w``, itself a
fixed point (Christianson 1994), so derivatives of any order follow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..differential_operators import make_vjp
from ..extend import defvjp, primitive
from .flatten import flatten


def fixed_point(f: Any, a: Any, x0: Any, distance: Any, tol: float) -> Any:
    """Return the `x` at which ``f(a)(x)`` is `x`.

    Parameters
    ----------
    f : callable
        Takes `a` and returns the function to be iterated.
    a : nest of arrays
        What the function hangs on; differentiable.
    x0 : array
        Where to start, of no influence on the derivative.
    distance : callable
        Of two iterates.
    tol : float
        Iterates this close together end the iteration.

    Returns
    -------
    array
        The fixed point.

    Examples
    --------
    >>> from wengert.compat.autograd import grad
    >>> from wengert.compat.autograd.misc.fixed_points import fixed_point
    >>> newton = lambda a: lambda x: 0.5 * (x + a / x)
    >>> root = lambda a: fixed_point(newton, a, 1.0, lambda x, y: abs(x - y), 1e-10)
    >>> float(round(root(2.0), 6)), float(round(grad(root)(2.0), 6))
    (1.414214, 0.353553)
    """
    parameters, nest = flatten(a)
    return _fixed_point(lambda p: f(nest(p)), parameters, x0, distance, tol)


@primitive
def _fixed_point(f: Any, a: Any, x0: Any, distance: Any, tol: float) -> Any:
    step = f(a)
    x, before = step(x0), x0
    while distance(x, before) > tol:
        x, before = step(x), x
    return x


def _vjp(ans: Any, f: Any, a: Any, x0: Any, distance: Any, tol: float) -> Callable[[Any], Any]:
    def cotangents(given: Any) -> Callable[[Any], Any]:
        p, x, g = given
        pull, _ = make_vjp(f(p))(x)
        return lambda w: pull(w) + g

    pull, _ = make_vjp(lambda p: f(p)(ans))(a)
    return lambda g: pull(fixed_point(cotangents, (a, ans, g), np.zeros(np.shape(g)), distance, tol))


defvjp(_fixed_point, None, _vjp, None)
