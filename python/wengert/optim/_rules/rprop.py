"""Rprop: only signs of gradients count."""

from __future__ import annotations

import wengert as wg
from wengert._C import Tensor

from .._groups import Params
from .._hyperparameters import Group, declared, require
from .._rule import Rule, State, counted, next_step


class Rprop(Rule):
    r"""Resilient backpropagation: each element has a step size of its own.

    A step size grows by ``etas[1]`` while the sign of its gradient :math:`g` stays, and shrinks by ``etas[0]`` when it
    turns; an element whose gradient has turned waits for one step::

        size = clip(size * (etas[1] if g * prev > 0 else etas[0] if g * prev < 0 else 1), *step_sizes)
        g = 0 where g * prev < 0
        p = p - size * sign(g)
        prev = g


    Made for full batches: the sign of a noisy gradient says little.

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        What to optimize, see `Optimizer`.
    lr : float or Tensor
        The step size of every element at the start.
    etas : tuple of float
        By what step sizes shrink and grow: one below 1, one above.
    step_sizes : tuple of float
        The smallest and the largest step.
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
    Riedmiller and Braun (1993), A direct adaptive method for faster backpropagation learning: the RPROP algorithm, IEEE
    International Conference on Neural Networks.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([3.0], requires_grad=True)
    >>> optimizer = wg.optim.Rprop([x], lr=0.5)
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
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        require(0 < etas[0] < 1 < etas[1], "eta values", f"{etas[0]}, {etas[1]}")

    def start(self, param: Tensor, grad: Tensor, group: Group) -> State:
        lr = float(group["lr"])
        size = wg.full_like(grad, complex(lr, lr) if param.is_complex() else lr)
        return counted() | {"prev": wg.zeros_like(param), "step_size": size}

    def advance(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        shrink, grow = group["etas"]
        previous, size = state["prev"], state["step_size"]
        next_step(state)
        agreement = grad * previous
        turned = agreement < 0
        factor = wg.ones_like(size).masked_fill_(agreement > 0, grow).masked_fill_(turned, shrink)
        size.mul_(factor).clamp_(*group["step_sizes"])
        grad = grad.masked_fill(turned, 0)
        param.addcmul_(grad.sign(), size, value=-1)
        previous.copy_(grad)
