"""Adagrad: steps scaled by all gradients so far."""

from __future__ import annotations

from typing import Any

import wengert as wg
from wengert._C import Tensor

from .._arithmetic import as_number, move, move_by_ratio, root_plus
from .._groups import Params
from .._hyperparameters import Group, declared
from .._rule import Rule, State, counted, next_step


class Adagrad(Rule):
    r"""Gradients divided by the root of the sum of their squares.

    With gradient :math:`g` (plus ``weight_decay * p``) at step :math:`t`::

        s = s + g**2                                  # sum
        p = p - lr / (1 + (t - 1) * lr_decay) * g / (sqrt(s) + eps)

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        What to optimize, see `Optimizer`.
    lr : float or Tensor
        Learning rate.
    lr_decay : float
        By how much each step more lowers the learning rate.
    weight_decay : float
        L2 penalty, added to the gradient.
    initial_accumulator_value : float
        Where the sum of squares starts.
    eps : float
        Added to the denominator; bounds the step where the gradient is close to zero.
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
    Duchi, Hazan and Singer (2011), Adaptive subgradient methods for online learning and stochastic optimization,
    Journal of Machine Learning Research 12.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([3.0], requires_grad=True)
    >>> optimizer = wg.optim.Adagrad([x], lr=0.5)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    2.5
    """

    takes_sparse = True

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None: ...

    def _set_up(self, params: Params, defaults: Group) -> None:
        super()._set_up(params, defaults)
        for group in self.param_groups:
            for param in group["params"]:
                self.state[param] = self.start(param, param, group)

    def start(self, param: Tensor, grad: Tensor, group: Group) -> State:
        value = group["initial_accumulator_value"]
        return counted() | {"sum": wg.full_like(param, complex(value, value) if param.is_complex() else value)}

    def advance(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        step = next_step(state)
        if grad.is_sparse:
            rate = as_number(group["lr"]) / (1 + (step - 1) * group["lr_decay"])
            self._advance_rows(param, grad.coalesce(), state["sum"], rate, group["eps"])
            return
        total = state["sum"].addcmul_(grad, grad)
        rate = as_number(group["lr"]) / (1 + (step - 1) * group["lr_decay"])
        move_by_ratio(param, grad, root_plus(total, group["eps"]), -rate)

    def _advance_rows(self, param: Tensor, grad: Tensor, total: Tensor, rate: Any, eps: float) -> None:
        """Move the rows that a sparse gradient has."""
        rows, values = grad.indices(), grad.values()
        total.add_(wg.sparse_coo_tensor(rows, values * values, grad.shape))
        step = values / root_plus(total.sparse_mask(grad).values(), eps)
        move(param, wg.sparse_coo_tensor(rows, step, grad.shape), -rate)
