"""L-BFGS: Newton's method with a Hessian that is estimated from the last steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert as wg
from wengert._C import Tensor

from .._groups import Params
from .._hyperparameters import Group, check, declared
from .._optimizer import Optimizer
from . import strong_wolfe
from .strong_wolfe import Point

# Pairs of a step and a change of gradient whose product is not larger say nothing about the curvature.
_LEAST_CURVATURE = 1e-10


class LBFGS(Optimizer):
    """The limited-memory method of Broyden, Fletcher, Goldfarb and Shanno.

    One call of `step` makes up to `max_iter` iterations and evaluates the loss several times, so it needs a closure.
    Where SciPy's solvers fit, see `wengert.optimize.minimize` instead.

    Parameters
    ----------
    params : iterable of Tensor, or of (str, Tensor)
        What to optimize, in one group. All parameters move along one direction.
    lr : float or Tensor
        The length of a step (without line search), or of the first that the line search tries.
    max_iter : int
        Iterations of one call of `step`.
    max_eval : int, optional
        Evaluations of one call; ``max_iter * 5 // 4`` if not given.
    tolerance_grad : float
        Stop when no element of the gradient is larger.
    tolerance_change : float
        Stop when the loss, or every parameter, changes by less.
    history_size : int
        How many steps the estimate remembers; each takes the memory of two gradients.
    line_search_fn : {None, "strong_wolfe"}

    Raises
    ------
    ValueError
        If there is more than one group, or the learning rate is negative.
    RuntimeError
        In `step`, if the line search is another one.

    References
    ----------
    Liu and Nocedal (1989), On the limited memory BFGS method for large scale optimization, Mathematical Programming 45;
    Nocedal and Wright (2006), Numerical optimization, algorithm 7.4.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([-1.2, 1.0], dtype=wg.float64, requires_grad=True)
    >>> optimizer = wg.optim.LBFGS([x], max_iter=100, line_search_fn="strong_wolfe")
    >>> def rosenbrock():
    ...     optimizer.zero_grad()
    ...     loss = 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2
    ...     loss.backward()
    ...     return loss
    >>> _ = optimizer.step(rosenbrock)
    >>> x.detach().round(decimals=4)
    tensor([1., 1.], dtype=wengert.float64)
    """

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None: ...

    def _set_up(self, params: Params, defaults: Group) -> None:
        if defaults["max_eval"] is None:
            defaults["max_eval"] = defaults["max_iter"] * 5 // 4
        check(defaults)
        super()._set_up(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Make up to ``max_iter`` iterations.

        Parameters
        ----------
        closure : callable
            Clears the gradients, evaluates the loss, calls ``backward()`` and returns the loss.

        Returns
        -------
        loss
            What `closure` returned first.
        """
        group = self.param_groups[0]
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError(
                f"only 'strong_wolfe' is supported as line_search_fn, but got {group['line_search_fn']!r}"
            )
        state = self.state[group["params"][0]]  # of the whole model: the first parameter lends its dtype
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

        with wg.no_grad():
            first, gradient = self._evaluate(closure)
            state["func_evals"] += 1
            if _largest(gradient) > group["tolerance_grad"]:
                self._iterate(closure, float(first), gradient)
        return first

    def _iterate(self, closure: Callable[[], Any], loss: float, gradient: Tensor) -> None:
        group = self.param_groups[0]
        state = self.state[group["params"][0]]
        lr, smallest, evaluations = float(group["lr"]), group["tolerance_change"], 1
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            state["d"] = direction = self._direction(state, gradient)
            state["t"] = t = min(1.0, 1.0 / float(gradient.abs().sum())) * lr if state["n_iter"] == 1 else lr
            state["prev_flat_grad"], state["prev_loss"], before = gradient, loss, loss
            slope = float(gradient.dot(direction))
            if slope > -smallest:
                break

            last, used = iteration == group["max_iter"], 0
            if group["line_search_fn"] is not None:
                start = Point(0.0, loss, gradient, slope)
                limit = group["max_eval"] - evaluations
                evaluate = self._along(closure, direction)
                found, used = strong_wolfe.search(evaluate, start, t, _largest(direction), smallest, limit)
                t, loss, gradient, _ = found
                state["t"] = t
                self._move(t, direction)
            else:
                self._move(t, direction)
                if not last:  # a loss that is drawn at random would say nothing about the next one
                    value, gradient = self._evaluate(closure)
                    loss, used = float(value), 1
            evaluations += used
            state["func_evals"] += used
            if last or evaluations >= group["max_eval"] or _largest(gradient) <= group["tolerance_grad"]:
                break
            if _largest(direction) * abs(t) <= smallest or abs(loss - before) < smallest:
                break

    def _direction(self, state: dict[str, Any], gradient: Tensor) -> Tensor:
        """Remember the last step, and return minus the estimated inverse Hessian times the gradient."""
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1.0)
            return -gradient
        changes, steps, weights = state["old_dirs"], state["old_stps"], state["ro"]
        change, step = gradient - state["prev_flat_grad"], state["d"] * float(state["t"])
        curvature = float(change.dot(step))
        if curvature > _LEAST_CURVATURE:
            if len(changes) == self.param_groups[0]["history_size"]:
                for remembered in (changes, steps, weights):
                    del remembered[0]
            changes.append(change)
            steps.append(step)
            weights.append(1.0 / curvature)
            state["H_diag"] = curvature / float(change.dot(change))

        direction, shares = -gradient, [0.0] * len(steps)
        for i in reversed(range(len(steps))):
            shares[i] = float(steps[i].dot(direction)) * float(weights[i])
            direction.add_(changes[i], alpha=-shares[i])
        direction.mul_(float(state["H_diag"]))
        for i in range(len(steps)):
            share = float(changes[i].dot(direction)) * float(weights[i])
            direction.add_(steps[i], alpha=shares[i] - share)
        return direction

    def _evaluate(self, closure: Callable[[], Any]) -> tuple[Any, Tensor]:
        """Return the loss, and the gradients of all parameters in one vector of its own memory."""
        with wg.enable_grad():
            loss = closure()
        parts = []
        for param in self.param_groups[0]["params"]:
            grad = wg.zeros_like(param) if param.grad is None else param.grad
            parts.append(_as_vector(grad))
        return loss, wg.cat(parts)

    def _along(self, closure: Callable[[], Any], direction: Tensor) -> strong_wolfe.Evaluate:
        """Return the function that looks at the end of a step, and returns to its start."""
        params = self.param_groups[0]["params"]
        origin = [param.clone() for param in params]

        def evaluate(t: float) -> Point:
            self._move(t, direction)
            loss, gradient = self._evaluate(closure)
            for param, value in zip(params, origin, strict=True):
                param.copy_(value)
            return Point(t, float(loss), gradient, float(gradient.dot(direction)))

        return evaluate

    def _move(self, t: float, direction: Tensor) -> None:
        start = 0
        for param in self.param_groups[0]["params"]:
            real = wg.view_as_real(param) if param.is_complex() else param
            stop = start + real.numel()
            real.add_(direction[start:stop].view(real.shape), alpha=t)
            start = stop


def _as_vector(grad: Tensor) -> Tensor:
    return (wg.view_as_real(grad.contiguous()) if grad.is_complex() else grad).reshape(-1)


def _largest(vector: Tensor) -> float:
    return float(vector.abs().max())
