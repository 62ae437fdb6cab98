"""Adam: steps scaled by running moments of the gradient."""

from __future__ import annotations

from typing import Any

import wengert as wg
from wengert._C import Tensor

from ._optimizer import Group, Optimizer, Params, require


class Adam(Optimizer):
    r"""Adaptive moment estimation.

    With gradient :math:`g` (plus ``weight_decay * p``) at step :math:`t`::

        m = beta1 * m + (1 - beta1) * g               # exp_avg
        v = beta2 * v + (1 - beta2) * g**2            # exp_avg_sq
        p = p - lr * (m / (1 - beta1**t)) / (sqrt(v / (1 - beta2**t)) + eps)

    Complex parameters are treated as pairs of real ones.

    Parameters
    ----------
    params : iterable of Tensor, or iterable of dict
        What to optimize, see `Optimizer`.
    lr : float or Tensor
        Learning rate.
    betas : tuple of float
        Decay of the two moments, each in [0, 1).
    eps : float
        Added to the denominator; bounds the step where the gradient is close to zero.
    weight_decay : float
        L2 penalty, added to the gradient.
    amsgrad : bool
        Divide by the largest second moment so far instead of the present one.
    maximize : bool
        Climb instead of descend.

    Raises
    ------
    ValueError
        If a hyperparameter is out of range.

    References
    ----------
    Kingma and Ba (2015), Adam: a method for stochastic optimization, https://arxiv.org/abs/1412.6980;
    Reddi, Kale and Kumar (2018), On the convergence of Adam and beyond (``amsgrad``).

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([3.0], requires_grad=True)
    >>> optimizer = wg.optim.Adam([x], lr=0.5)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 6)
    2.5
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        require(float(lr) >= 0, "learning rate", lr)
        require(eps >= 0, "epsilon value", eps)
        for index, beta in enumerate(betas):
            require(0 <= beta < 1, f"beta parameter at index {index}", beta)
        require(weight_decay >= 0, "weight_decay value", weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def update(self, param: Tensor, grad: Tensor, group: Group) -> None:
        """Apply the rule to one parameter."""
        beta1, beta2 = group["betas"]
        state = self.state[param] or self._start(param, group["amsgrad"])
        state["step"] += 1
        step = state["step"].item()

        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        largest = state.get("max_exp_avg_sq")
        if param.is_complex():
            param, grad, mean, square = map(wg.view_as_real, (param, grad, mean, square))
            largest = None if largest is None else wg.view_as_real(largest)

        mean.mul_(beta1).add_(grad, alpha=1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        if group["amsgrad"] and largest is not None:
            square = largest.copy_(wg.maximum(largest, square))
        denominator = square.sqrt().div_((1 - beta2**step) ** 0.5).add_(group["eps"])
        param.addcdiv_(mean, denominator, value=-float(group["lr"]) / (1 - beta1**step))

    def _start(self, param: Tensor, amsgrad: bool) -> dict[str, Any]:
        """Fill in and return the state of a parameter that has its first gradient."""
        state = self.state[param]
        state["step"] = wg.tensor(0.0)
        state["exp_avg"] = wg.zeros_like(param)
        state["exp_avg_sq"] = wg.zeros_like(param)
        if amsgrad:
            state["max_exp_avg_sq"] = wg.zeros_like(param)
        return state
