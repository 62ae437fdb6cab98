"""Stochastic gradient descent, RMSProp and Adam: plain loops over gradients that the caller computes.

They take nests of lists, tuples and dicts of arrays, and what they compute can itself be differentiated. Beside these
three of autograd's, `wengert.optim` has the optimisers of PyTorch.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .flatten import flatten

__all__ = ["adam", "rmsprop", "sgd", "unflatten_optimizer"]


def unflatten_optimizer(optimize: Callable[..., Any]) -> Callable[..., Any]:
    """Return an optimiser of nests of arrays, given one of vectors.

    Parameters
    ----------
    optimize : callable
        ``optimize(grad, x0, callback, *args, **kwargs)``, of a vector `x0`; returns the last one.

    Returns
    -------
    callable
        The same of a nest: `grad`, which takes it and the number of the step, and `callback`, which takes the gradient
        as well, see nests; so does the caller.
    """

    @functools.wraps(optimize)
    def of_nests(grad: Any, x0: Any, callback: Any = None, *args: Any, **kwargs: Any) -> Any:
        start, nest = flatten(x0)

        def slope(x: Any, step: int) -> Any:
            return flatten(grad(nest(x), step))[0]

        def tell(x: Any, step: int, g: Any) -> Any:
            return callback(nest(x), step, nest(g))

        return nest(optimize(slope, start, tell if callback else None, *args, **kwargs))

    return of_nests


def _descend(grad: Any, x: Any, callback: Any, num_iters: int, step_from: Callable[[Any, int], Any]) -> Any:
    """Subtract ``step_from(gradient, number of the step)`` again and again."""
    for i in range(num_iters):
        g = grad(x, i)
        if callback:
            callback(x, i, g)
        x = x - step_from(g, i)
    return x


@unflatten_optimizer
def sgd(
    grad: Any, x: Any, callback: Any = None, num_iters: int = 200, step_size: float = 0.1, mass: float = 0.9
) -> Any:
    """Descend along a running mean of the gradients, of which each step keeps the share `mass`.

    Examples
    --------
    >>> from wengert.compat.autograd import grad
    >>> from wengert.compat.autograd.misc.optimizers import sgd
    >>> slope = grad(lambda p: (p["x"] - 3.0) ** 2)
    >>> float(sgd(lambda p, step: slope(p), {"x": 0.0})["x"].round(3))
    3.0
    """
    velocity: Any = np.zeros(len(x))

    def step(g: Any, i: int) -> Any:
        nonlocal velocity
        velocity = mass * velocity + (1.0 - mass) * g
        return step_size * velocity

    return _descend(grad, x, callback, num_iters, step)


@unflatten_optimizer
def rmsprop(
    grad: Any, x: Any, callback: Any = None, num_iters: int = 100, step_size: float = 0.1, gamma: float = 0.9,
    eps: float = 1e-8,
) -> Any:  # fmt: skip
    """Divide gradients by the root of a running mean of their squares (Tieleman and Hinton, 2012)."""
    squares: Any = np.ones(len(x))

    def step(g: Any, i: int) -> Any:
        nonlocal squares
        squares = gamma * squares + (1 - gamma) * g**2
        return step_size * g / (np.sqrt(squares) + eps)

    return _descend(grad, x, callback, num_iters, step)


@unflatten_optimizer
def adam(
    grad: Any, x: Any, callback: Any = None, num_iters: int = 100, step_size: float = 0.001, b1: float = 0.9,
    b2: float = 0.999, eps: float = 1e-8,
) -> Any:  # fmt: skip
    """Divide a running mean of the gradients by the root of one of their squares (Kingma and Ba, arXiv:1412.6980)."""
    mean: Any = np.zeros(len(x))
    squares: Any = np.zeros(len(x))

    def step(g: Any, i: int) -> Any:
        nonlocal mean, squares
        mean = b1 * mean + (1 - b1) * g
        squares = b2 * squares + (1 - b2) * g**2
        corrected = squares / (1 - b2 ** (i + 1))
        return step_size * (mean / (1 - b1 ** (i + 1))) / (np.sqrt(corrected) + eps)

    return _descend(grad, x, callback, num_iters, step)
