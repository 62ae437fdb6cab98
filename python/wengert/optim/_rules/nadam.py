"""NAdam: Adam with Nesterov's momentum."""

from __future__ import annotations

import wengert as wg
from wengert._C import Tensor

from .._arithmetic import as_number, average, average_square, move_by_ratio, root_plus, scalar
from .._groups import Params
from .._hyperparameters import Group, declared
from .._rule import Rule, State, counted, next_step


class NAdam(Rule):
    r"""Adam that looks ahead by one step of its momentum.

    With gradient :math:`g` (plus ``weight_decay * p``) at step :math:`t`::

        mu(t) = beta1 * (1 - 0.96**(t * momentum_decay) / 2)
        m = beta1 * m + (1 - beta1) * g               # exp_avg
        v = beta2 * v + (1 - beta2) * g**2            # exp_avg_sq
        h = mu(t + 1) * m / (1 - mu(1) * ... * mu(t + 1)) + (1 - mu(t)) * g / (1 - mu(1) * ... * mu(t))
        p = p - lr * h / (sqrt(v / (1 - beta2**t)) + eps)

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
    momentum_decay : float
        How fast the momentum rises from half of ``betas[0]`` to all of it.
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
    Dozat (2016), Incorporating Nesterov momentum into Adam, ICLR workshop.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([3.0], requires_grad=True)
    >>> optimizer = wg.optim.NAdam([x], lr=0.5)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    2.4718
    """

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None: ...

    def start(self, param: Tensor, grad: Tensor, group: Group) -> State:
        moments = {"exp_avg": wg.zeros_like(param), "exp_avg_sq": wg.zeros_like(param)}
        return counted() | {"mu_product": scalar(1)} | moments

    def advance(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        beta1, beta2 = map(as_number, group["betas"])
        step = next_step(state)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        average(mean, grad, 1 - beta1)
        average_square(square, grad, beta2)

        now, then = (beta1 * (1 - 0.5 * 0.96 ** (t * group["momentum_decay"])) for t in (step, step + 1))
        product = as_number(state["mu_product"].mul_(now))
        root = (1 - beta2**step) ** 0.5
        rate = -as_number(group["lr"]) * root
        size = root_plus(square, group["eps"] * root)
        move_by_ratio(param, grad, size, rate * (1 - now) / (1 - product))
        move_by_ratio(param, mean, size, rate * then / (1 - product * then))
