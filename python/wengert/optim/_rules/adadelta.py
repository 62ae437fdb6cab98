"""Adadelta: steps in units of the steps before."""

from __future__ import annotations

import wengert as wg
from wengert._C import Tensor

from .._arithmetic import as_number, average_square, move
from .._groups import Params
from .._hyperparameters import Group, declared
from .._rule import Rule, State, counted, next_step


class Adadelta(Rule):
    r"""Gradients scaled by the running size of past steps over that of past gradients.

    With gradient :math:`g` (plus ``weight_decay * p``)::

        v = rho * v + (1 - rho) * g**2                # square_avg
        d = sqrt(u + eps) / sqrt(v + eps) * g
        u = rho * u + (1 - rho) * d**2                # acc_delta
        p = p - lr * d

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        What to optimize, see `Optimizer`.
    lr : float or Tensor
        By what to scale a step; the paper has none.
    rho : float
        Decay of the two running means, in [0, 1].
    eps : float
        Added to both mean squares; it makes the first steps possible.
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
    Zeiler (2012), ADADELTA: an adaptive learning rate method, https://arxiv.org/abs/1212.5701.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([3.0], requires_grad=True)
    >>> optimizer = wg.optim.Adadelta([x], eps=0.01)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    2.6842
    """

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None: ...

    def start(self, param: Tensor, grad: Tensor, group: Group) -> State:
        return counted() | {"square_avg": wg.zeros_like(param), "acc_delta": wg.zeros_like(param)}

    def advance(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        rho, eps = group["rho"], group["eps"]
        square, moved = state["square_avg"], state["acc_delta"]
        next_step(state)
        average_square(square, grad, rho)
        step = (moved + eps).div(square + eps).sqrt().mul(grad)
        average_square(moved, step, rho)
        move(param, step, -as_number(group["lr"]))
