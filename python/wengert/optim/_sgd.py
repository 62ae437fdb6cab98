"""Stochastic gradient descent, with momentum."""

from __future__ import annotations

from wengert._C import Tensor

from ._optimizer import Group, Optimizer, Params, require


class SGD(Optimizer):
    r"""Stochastic gradient descent, optionally with (Nesterov) momentum.

    With gradient :math:`g` (plus ``weight_decay * p``), velocity :math:`v` and parameter :math:`p`::

        v = momentum * v + (1 - dampening) * g        # the first step starts from v = g
        p = p - lr * v                                # plain momentum
        p = p - lr * (g + momentum * v)               # nesterov

    Parameters
    ----------
    params : iterable of Tensor, or iterable of dict
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
    >>> optimizer = wg.optim.SGD([x], lr=0.5)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> x.item()
    0.0
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        require(float(lr) >= 0, "learning rate", lr)
        require(momentum >= 0, "momentum value", momentum)
        require(weight_decay >= 0, "weight_decay value", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def update(self, param: Tensor, grad: Tensor, group: Group) -> None:
        """Apply the rule to one parameter."""
        momentum = group["momentum"]
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        if momentum != 0:
            velocity = self._velocity(param, grad, momentum, group["dampening"])
            grad = grad.add(velocity, alpha=momentum) if group["nesterov"] else velocity
        param.add_(grad, alpha=-float(group["lr"]))

    def _velocity(self, param: Tensor, grad: Tensor, momentum: float, dampening: float) -> Tensor:
        """Advance and return the velocity of `param`."""
        state = self.state[param]
        velocity: Tensor | None = state.get("momentum_buffer")
        if velocity is None:
            state["momentum_buffer"] = velocity = grad.detach().clone()
        else:
            velocity.mul_(momentum).add_(grad, alpha=1 - dampening)
        return velocity
