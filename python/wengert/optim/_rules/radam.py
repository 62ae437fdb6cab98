"""RAdam: Adam that waits until it knows the size of gradients."""

from __future__ import annotations

import wengert as wg
from wengert._C import Tensor

from .._arithmetic import as_number, average, average_square, move, move_by_ratio, root_plus
from .._groups import Params
from .._hyperparameters import Group, declared
from .._rule import Rule, State, counted, next_step


class RAdam(Rule):
    r"""Rectified Adam: the adaptive step, once its variance is known well enough.

    With gradient :math:`g` (plus ``weight_decay * p``) at step :math:`t`::

        m = beta1 * m + (1 - beta1) * g               # exp_avg
        v = beta2 * v + (1 - beta2) * g**2            # exp_avg_sq
        rho = inf - 2 * t * beta2**t / (1 - beta2**t) # with inf = 2 / (1 - beta2) - 1
        r = sqrt((rho - 4) * (rho - 2) * inf / ((inf - 4) * (inf - 2) * rho))
        p = p - lr * m / (1 - beta1**t) * (r * sqrt(1 - beta2**t) / (sqrt(v) + eps) if rho > 5 else 1)

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        What to optimize, see `Optimizer`.
    lr : float or Tensor
        Learning rate.
    betas : tuple of float
        Decay of the two moments, each in [0, 1).
    eps : float
        Added to the denominator; bounds the step where the gradient is close to zero.
    weight_decay : float
        L2 penalty, added to the gradient.
    decoupled_weight_decay : bool
        Shrink the parameters themselves, as AdamW does, in place of adding a penalty to the gradient.
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
    Liu, Jiang, He, Chen, Liu, Gao and Han (2020), On the variance of the adaptive learning rate and beyond,
    https://arxiv.org/abs/1908.03265.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([3.0], requires_grad=True)
    >>> optimizer = wg.optim.RAdam([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    2.4
    """

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None: ...

    def start(self, param: Tensor, grad: Tensor, group: Group) -> State:
        return counted() | {"exp_avg": wg.zeros_like(param), "exp_avg_sq": wg.zeros_like(param)}

    def advance(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        beta1, beta2 = map(as_number, group["betas"])
        step = next_step(state)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        average(mean, grad, 1 - beta1)
        average_square(square, grad, beta2)

        rate = as_number(group["lr"]) / (1 - beta1**step)
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * beta2**step / (1 - beta2**step)
        if length <= 5:
            move(param, mean, -rate)
            return
        known = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
        move_by_ratio(param, mean, root_plus(square, group["eps"]), -rate * (known * (1 - beta2**step)) ** 0.5)
