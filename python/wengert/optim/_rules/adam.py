"""Adam and AdamW: steps scaled by running moments of the gradient."""

from __future__ import annotations

from typing import Any

import wengert as wg
from wengert._C import Tensor

from .._arithmetic import as_number, average, average_square, move_by_ratio, root_plus
from .._groups import Params
from .._hyperparameters import Group, declared
from .._rule import Rule, State, counted, next_step


class Adam(Rule):
    r"""Adaptive moment estimation.

    With gradient :math:`g` (plus ``weight_decay * p``) at step :math:`t`::

        m = beta1 * m + (1 - beta1) * g               # exp_avg
        v = beta2 * v + (1 - beta2) * g**2            # exp_avg_sq
        p = p - lr * (m / (1 - beta1**t)) / (sqrt(v / (1 - beta2**t)) + eps)


    Complex parameters are treated as pairs of real ones.

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        What to optimize, see `Optimizer`.
    lr : float or Tensor
        Learning rate.
    betas : tuple of float, or of Tensor
        Decay of the two moments, each in [0, 1).
    eps : float
        Added to the denominator; bounds the step where the gradient is close to zero.
    weight_decay : float
        L2 penalty, added to the gradient.
    amsgrad : bool
        Divide by the largest second moment so far instead of the present one.
    maximize : bool
        Climb instead of descend.
    differentiable : bool
        Record the step, so that gradients flow through it.
    decoupled_weight_decay : bool
        Shrink the parameters themselves in place of adding a penalty to the gradient: `AdamW`.
    foreach, capturable, fused : bool, optional
        Accepted and saved, without effect: there is one implementation.

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
    >>> round(x.item(), 4)
    2.5
    """

    sparse_counterpart = "SparseAdam"

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None: ...

    def _set_up(self, params: Params, defaults: Group) -> None:
        if len({isinstance(beta, Tensor) for beta in defaults["betas"]}) > 1:
            raise ValueError("betas must be either both floats or both Tensors")
        super()._set_up(params, defaults)

    def start(self, param: Tensor, grad: Tensor, group: Group) -> State:
        state = counted() | {"exp_avg": wg.zeros_like(param), "exp_avg_sq": wg.zeros_like(param)}
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = wg.zeros_like(param)
        return state

    def advance(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        beta1, beta2 = map(as_number, group["betas"])
        step = next_step(state)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        average(mean, grad, 1 - beta1)
        average_square(square, grad, beta2)
        if group["amsgrad"]:
            square = state["max_exp_avg_sq"].clamp_(min=square)
        # Both corrections in the factor of the step, which spares a pass over the denominator.
        root = (1 - beta2**step) ** 0.5
        rate = -as_number(group["lr"]) * root / (1 - beta1**step)
        move_by_ratio(param, mean, root_plus(square, group["eps"] * root), rate)


class AdamW(Adam):
    r"""Adam with decoupled weight decay.

    Parameters shrink by ``1 - lr * weight_decay`` before each step, and the moments do not see the decay.

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        What to optimize, see `Optimizer`.
    lr : float or Tensor
        Learning rate.
    betas : tuple of float, or of Tensor
        Decay of the two moments, each in [0, 1).
    eps : float
        Added to the denominator; bounds the step where the gradient is close to zero.
    weight_decay : float
        By which share of the learning rate parameters shrink.
    amsgrad : bool
        Divide by the largest second moment so far instead of the present one.
    maximize : bool
        Climb instead of descend.
    differentiable : bool
        Record the step, so that gradients flow through it.
    foreach, capturable, fused : bool, optional
        Accepted and saved, without effect: there is one implementation.

    Raises
    ------
    ValueError
        If a hyperparameter is out of range.

    References
    ----------
    Loshchilov and Hutter (2019), Decoupled weight decay regularization, https://arxiv.org/abs/1711.05101.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([3.0], requires_grad=True)
    >>> optimizer = wg.optim.AdamW([x], lr=0.5, weight_decay=0.1)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    2.35
    """

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None: ...

    def _set_up(self, params: Params, defaults: Group) -> None:
        super()._set_up(params, defaults | {"decoupled_weight_decay": True})

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:  # also those that Adam had saved
            group["decoupled_weight_decay"] = True
