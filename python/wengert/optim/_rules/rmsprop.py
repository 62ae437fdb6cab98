"""RMSprop: steps scaled by the running size of the gradient."""

from __future__ import annotations

import wengert as wg
from wengert._C import Tensor

from .._arithmetic import as_number, average, average_square, move, move_by_ratio, root_plus
from .._groups import Params
from .._hyperparameters import Group, declared, require
from .._rule import Rule, State, counted, next_step


class RMSprop(Rule):
    r"""Gradients divided by their running root mean square.

    With gradient :math:`g` (plus ``weight_decay * p``)::

        v = alpha * v + (1 - alpha) * g**2            # square_avg
        a = alpha * a + (1 - alpha) * g               # grad_avg, if centered; then v - a**2 stands for v below
        b = momentum * b + g / (sqrt(v) + eps)        # momentum_buffer
        p = p - lr * b

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        What to optimize, see `Optimizer`.
    lr : float or Tensor
        Learning rate.
    alpha : float
        Decay of the mean square.
    eps : float
        Added to the denominator; bounds the step where the gradient is close to zero.
    weight_decay : float
        L2 penalty, added to the gradient.
    momentum : float
        Share of the last step that is kept.
    centered : bool
        Divide by the standard deviation of the gradient in place of its root mean square.
    maximize : bool
        Climb instead of descend.
    differentiable : bool
        Record the step, so that gradients flow through it.
    foreach, capturable : bool, optional
        Accepted and saved, without effect: there is one implementation.

    Raises
    ------
    ValueError
        If a hyperparameter is out of range.

    References
    ----------
    Hinton (2012), Neural networks for machine learning, lecture 6e; Graves (2013), Generating sequences with recurrent
    neural networks, https://arxiv.org/abs/1308.0850 (``centered``).

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([3.0], requires_grad=True)
    >>> optimizer = wg.optim.RMSprop([x], lr=0.05)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    2.5
    """

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        require(alpha >= 0, "alpha value", alpha)

    def start(self, param: Tensor, grad: Tensor, group: Group) -> State:
        state = counted() | {"square_avg": wg.zeros_like(param)}
        if group["momentum"] > 0:
            state["momentum_buffer"] = wg.zeros_like(param)
        if group["centered"]:
            state["grad_avg"] = wg.zeros_like(param)
        return state

    def advance(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        alpha, lr = group["alpha"], as_number(group["lr"])
        square = state["square_avg"]
        next_step(state)
        average_square(square, grad, alpha)
        if group["centered"]:
            mean = state["grad_avg"]
            average(mean, grad, 1 - alpha)
            square = square.addcmul(mean, mean, value=-1)
        size = root_plus(square, group["eps"])
        if group["momentum"] > 0:
            velocity = state["momentum_buffer"].mul_(group["momentum"]).addcdiv_(grad, size)
            move(param, velocity, -lr)
        else:
            move_by_ratio(param, grad, size, -lr)
