"""Adamax: Adam with the largest gradient in place of the second moment."""

from __future__ import annotations

import wengert as wg
from wengert._C import Tensor

from .._arithmetic import as_number, average, move_by_ratio
from .._groups import Params
from .._hyperparameters import Group, declared
from .._rule import Rule, State, counted, next_step


class Adamax(Rule):
    r"""Adam with an infinity norm.

    With gradient :math:`g` (plus ``weight_decay * p``) at step :math:`t`::

        m = beta1 * m + (1 - beta1) * g               # exp_avg
        u = max(beta2 * u, abs(g) + eps)              # exp_inf
        p = p - lr / (1 - beta1**t) * m / u

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        What to optimize, see `Optimizer`.
    lr : float or Tensor
        Learning rate.
    betas : tuple of float
        Decay of the mean and of the norm, each in [0, 1).
    eps : float
        Added to the size of each gradient, so that the norm is never zero.
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
    Kingma and Ba (2015), Adam: a method for stochastic optimization, section 7.1, https://arxiv.org/abs/1412.6980.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([3.0], requires_grad=True)
    >>> optimizer = wg.optim.Adamax([x], lr=0.5)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    2.5
    """

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None: ...

    def start(self, param: Tensor, grad: Tensor, group: Group) -> State:
        return counted() | {"exp_avg": wg.zeros_like(param), "exp_inf": wg.zeros_like(param)}

    def advance(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        beta1, beta2 = map(as_number, group["betas"])
        step = next_step(state)
        mean, norm = state["exp_avg"], state["exp_inf"]
        average(mean, grad, 1 - beta1)
        norm.mul_(beta2).clamp_(min=grad.abs().add(group["eps"]))
        move_by_ratio(param, mean, norm, -as_number(group["lr"]) / (1 - beta1**step))
