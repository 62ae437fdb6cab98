"""`scipy.integrate.odeint` with derivatives with respect to the state at the start, the times and the arguments.

`odeint` flattens its arguments into one vector; `_solution` is the primitive. Its derivatives are solutions of larger
systems of equations, solved by the same primitive, so they can be differentiated again:

- reverse, the adjoint system (Pontryagin et al. 1962; Fröhlich, Loos and Hasenauer 2017, arXiv:1711.08079): from one
  time back to the one before, the state y runs along with the cotangents of y and of the arguments p,
  ``d(ybar)/dt = -(df/dy)^T ybar`` and ``d(pbar)/dt = -(df/dp)^T ybar``. The cotangent of a time is ``ybar . f`` of what
  was given for it, and that of the first time has the sign of a start that comes later;
- forward, the variational system: ``d(dy)/dt = (df/dy) dy + (df/dp) dp`` from ``dy0 - f dt0``, to which each time adds
  ``f dt``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.integrate

from .. import differential_operators as operators
from .._boxes import isbox
from .._forwarding import forward
from ..extend import defjvp_argnums, defvjp_argnums, primitive
from ..misc.flatten import flatten

# Options about the Jacobian of a function, which the larger systems have another one of.
_OF_THE_JACOBIAN = ("Dfun", "col_deriv", "ml", "mu")


def odeint(func: Any, y0: Any, t: Any, args: Any = (), **options: Any) -> Any:
    """Solve a system of ordinary differential equations.

    Parameters
    ----------
    func : callable
        The derivative of the state with respect to time, ``func(y, t, *args)``; of the functions of `autograd.numpy`.
    y0 : array of shape (n,), or number
        The state at the first time; differentiable.
    t : array of shape (times,)
        The times, increasing or decreasing; differentiable.
    args : tuple
        What `func` takes besides: nests of arrays; differentiable. What it closes over is not.
    **options
        Of `scipy.integrate.odeint`. Derivatives are solved for with the same tolerances; ``full_output=True`` has none.

    Returns
    -------
    array of shape (times, n)
        The states.

    Examples
    --------
    >>> import numpy as np
    >>> from wengert.compat.autograd import grad
    >>> from wengert.compat.autograd.scipy.integrate import odeint
    >>> decay = lambda y, t, rate: -rate * y
    >>> at_the_end = lambda rate: odeint(decay, np.array([1.0]), np.array([0.0, 2.0]), (rate,))[-1, 0]
    >>> float(round(grad(at_the_end)(0.5), 6))  # -2 exp(-1)
    -0.735759
    """
    parameters, nest = flatten(args)
    if not any(map(isbox, (y0, t, parameters))):
        return scipy.integrate.odeint(func, y0, t, args, **options)
    if options.get("full_output"):
        raise NotImplementedError("[odeint] full_output=True has no derivatives; leave it out where they are wanted")
    if options.pop("tfirst", False):
        func = _state_first(func)
    return _solution(lambda y, time, p: func(y, time, *nest(p)), y0, t, parameters, **options)


def _state_first(func: Callable[..., Any]) -> Callable[..., Any]:
    return lambda y, t, *args: func(t, y, *args)


@primitive
def _solution(func: Any, y0: Any, t: Any, parameters: Any, **options: Any) -> Any:
    return scipy.integrate.odeint(func, y0, t, (parameters,), **options)


def _of_larger(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options for a system with more equations: tolerances of elements become those of all."""
    kept = {name: value for name, value in options.items() if name not in _OF_THE_JACOBIAN}
    return {name: np.min(value) if name in ("rtol", "atol") and value is not None else value
            for name, value in kept.items()}  # fmt: skip


def _vjp(argnums: Any, states: Any, args: Any, options: Any) -> Callable[[Any], Any]:
    func, y0, t, parameters = args
    n = states.shape[1]

    def adjoint(both: Any, time: Any, p: Any) -> Any:
        pull, slope = operators.make_vjp(func, (0, 2))(both[:n], time, p)
        return np.concatenate([np.ravel(slope), *(-np.ravel(part) for part in pull(both[n : 2 * n]))])

    def vjp(g: Any) -> Any:
        of_times, of_state, of_parameters = [], g[-1], np.zeros(np.shape(parameters))
        of_start: Any = 0.0
        for i in range(len(t) - 1, 0, -1):
            of_times.append(np.dot(np.ravel(func(states[i], t[i], parameters)), g[i]))
            start = np.concatenate([states[i], of_state, of_parameters])
            back = _solution(adjoint, start, np.stack([t[i], t[i - 1]]), parameters, **_of_larger(options))[1]
            of_state, of_parameters = back[n : 2 * n] + g[i - 1], back[2 * n :]
        if len(t) > 1:
            of_start = -np.dot(np.ravel(func(states[0], t[0], parameters)), of_state - g[0])
        found = {
            1: np.reshape(of_state, np.shape(y0)),
            2: np.stack([of_start + 0.0 * t[0], *of_times[::-1]]),
            3: of_parameters,
        }
        return tuple(found[place] for place in argnums)

    return vjp


def _jvp(argnums: Any, tangents: Any, states: Any, args: Any, options: Any) -> Any:
    func, _, t, parameters = args
    n, given = states.shape[1], dict(zip(argnums, tangents, strict=True))
    of_parameters = given.get(3, np.zeros(np.shape(parameters)))
    of_times = given.get(2, np.zeros(np.shape(t)))
    of_start = np.ravel(given.get(1, np.zeros(n)))
    m = np.size(parameters)

    def variational(both: Any, time: Any, more: Any) -> Any:
        push = operators.make_jvp(lambda pair: func(pair[0], time, pair[1]))((both[:n], more[:m]))
        return np.concatenate([np.ravel(part) for part in push((both[n:], more[m:]))])

    slopes = np.stack([np.ravel(func(state, time, parameters)) for state, time in zip(states, t, strict=True)])
    start = np.concatenate([states[0], of_start - slopes[0] * of_times[0]])
    both = _solution(variational, start, t, np.concatenate([parameters, of_parameters]), **_of_larger(options))
    return both[:, n:] + slopes * of_times[:, None]


defvjp_argnums(_solution, _vjp)
defjvp_argnums(_solution, _jvp)

forward(globals(), scipy.integrate)
