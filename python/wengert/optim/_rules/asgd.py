"""Averaged stochastic gradient descent."""

from __future__ import annotations

import wengert as wg
from wengert._C import Tensor

from .._arithmetic import average, move, scalar
from .._groups import Params
from .._hyperparameters import Group, declared
from .._rule import Rule, State, counted, next_step


class ASGD(Rule):
    r"""Stochastic gradient descent whose positions are averaged.

    With gradient :math:`g` (plus ``weight_decay * p``) at step :math:`t`::

        p = (1 - lambd * eta) * p - eta * g
        ax = ax + mu * (p - ax)                       # the average: state[p]["ax"]
        eta = lr / (1 + lambd * lr * t)**alpha        # for the next step
        mu = 1 / max(1, t - t0)

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        What to optimize, see `Optimizer`.
    lr : float or Tensor
        Learning rate.
    lambd : float
        How fast parameters and learning rate decay.
    alpha : float
        The power by which the learning rate falls.
    t0 : float
        The step at which averaging starts.
    weight_decay : float
        L2 penalty, added to the gradient.
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
    Polyak and Juditsky (1992), Acceleration of stochastic approximation by averaging, SIAM Journal on Control and
    Optimization 30; Bottou (2010), Large-scale machine learning with stochastic gradient descent (the schedule).

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([3.0], requires_grad=True)
    >>> optimizer = wg.optim.ASGD([x], lr=0.25)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    1.4999
    """

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None: ...

    def start(self, param: Tensor, grad: Tensor, group: Group) -> State:
        return counted() | {"eta": scalar(group["lr"]), "mu": scalar(1), "ax": wg.zeros_like(param)}

    def advance(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        lr, lambd = float(group["lr"]), group["lambd"]
        eta, mu, mean = state["eta"].item(), state["mu"].item(), state["ax"]
        step = next_step(state)
        param.mul_(1 - lambd * eta)
        move(param, grad, -eta)
        if mu == 1:
            mean.copy_(param)
        else:
            average(mean, param, mu)
        state["eta"].fill_(lr / (1 + lambd * lr * step) ** group["alpha"])
        state["mu"].fill_(1 / max(1, step - group["t0"]))
