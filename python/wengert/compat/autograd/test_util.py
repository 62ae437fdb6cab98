"""`check_grads`: derivatives beside differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .differential_operators import make_jvp, make_vjp
from .extend import vspace
from .misc.flatten import flatten


def check_grads(
    f: Callable[..., Any], argnum: Any = None, modes: Sequence[str] = ("rev", "fwd"), order: int = 2
) -> Callable[..., None]:
    """Return the function of the arguments of `f` that raises AssertionError where derivatives are not differences.

    Parameters
    ----------
    f : callable
    argnum : int or sequence of int, optional
        With respect to which arguments, all by default.
    modes : sequence of {"rev", "fwd"}
    order : int
        Up to which order.
    """

    def check(*args: Any, **kwargs: Any) -> None:
        chosen = tuple(range(len(args))) if argnum is None else argnum
        places = (chosen,) if isinstance(chosen, int) else tuple(chosen)

        def unary(x: Any) -> Any:
            given = list(args)
            for place, value in zip(places, x, strict=True):
                given[place] = value
            return f(*given, **kwargs)

        _check(unary, tuple(args[place] for place in places), modes, order)

    return check


def _check(f: Callable[[Any], Any], x: Any, modes: Sequence[str], order: int) -> None:
    random = np.random.default_rng(0)
    start, unflatten = flatten(x)
    way = random.standard_normal(start.shape)
    step = 1e-5
    ahead, behind = (flatten(f(unflatten(start + sign * step * way)))[0] for sign in (1, -1))
    slope = (ahead - behind) / (2 * step)
    if "rev" in modes:
        vjp, end = make_vjp(f)(x)
        g = vspace(end).ones()
        back = flatten(vjp(g))[0]
        np.testing.assert_allclose(np.sum(back * way), np.sum(slope * flatten(g)[0]), rtol=1e-5, atol=1e-6)
    if "fwd" in modes:
        forward = flatten(make_jvp(f)(x)(unflatten(way))[1])[0]
        np.testing.assert_allclose(forward, slope, rtol=1e-5, atol=1e-6)
    if order > 1:
        _check(lambda y: make_vjp(f)(y)[0](vspace(f(x)).ones()), x, modes, order - 1)
