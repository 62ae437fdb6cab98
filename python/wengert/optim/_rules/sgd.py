"""Stochastic gradient descent, with momentum."""

from __future__ import annotations

from wengert._C import Tensor

from .._arithmetic import as_number, move
from .._groups import Params
from .._hyperparameters import Group, declared
from .._rule import Rule, State


class SGD(Rule):
    r"""Stochastic gradient descent, optionally with (Nesterov) momentum.

    With gradient :math:`g` (plus ``weight_decay * p``), velocity :math:`v` and parameter :math:`p`::

        v = momentum * v + (1 - dampening) * g        # the first step starts from v = g
        p = p - lr * v                                # plain momentum
        p = p - lr * (g + momentum * v)               # nesterov

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        What to optimize, see `Optimizer`.
    lr : float or Tensor
        Learning rate.
    momentum : float
        Share of the velocity that is kept.
    dampening : float
        Share of the gradient that does not enter the velocity.
    weight_decay : float
        L2 penalty, added to the gradient.
    nesterov : bool
        Look ahead by one step of the velocity. Needs a momentum and no dampening.
    maximize : bool
        Climb instead of descend.
    differentiable : bool
        Record the step, so that gradients flow through it.
    foreach, fused : bool, optional
        Accepted and saved, without effect: there is one implementation.

    Raises
    ------
    ValueError
        If a hyperparameter is out of range.

    References
    ----------
    Sutskever, Martens, Dahl and Hinton (2013), On the importance of initialization and momentum in
    deep learning, in the form in which the learning rate stands outside the velocity.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([3.0], requires_grad=True)
    >>> optimizer = wg.optim.SGD([x], lr=0.25)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    1.5
    """

    complex_as_pairs = False
    takes_sparse = True

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")

    def start(self, param: Tensor, grad: Tensor, group: Group) -> State:
        return {}

    def advance(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        momentum = group["momentum"]
        if momentum != 0:
            velocity = state.get("momentum_buffer")
            if velocity is None:
                self.state[param]["momentum_buffer"] = velocity = grad.clone()
            else:
                velocity.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(velocity, alpha=momentum) if group["nesterov"] else velocity
        move(param, grad, -as_number(group["lr"]))
