"""What published rules have in common, so that the file of each one states its mathematics and nothing else."""

from __future__ import annotations

from typing import Any, ClassVar

import wengert as wg
from wengert._C import Tensor

from . import _arithmetic, _hyperparameters
from ._groups import Params
from ._hyperparameters import Group
from ._optimizer import Optimizer

State = dict[str, Any]


class Rule(Optimizer):
    """An optimizer that moves the elements of a parameter by a formula.

    A rule defines ``start(param, grad, group)``, the state of a parameter at its first gradient, and
    ``advance(param, grad, state, group)``, which changes `param` and the tensors in `state` in place. Before, the base
    has added the weight decay, or applied it if it is decoupled (Loshchilov and Hutter, 2019); has turned complex
    tensors into pairs of real ones; and, in a recorded step, has put copies into the state, so that the next step
    overwrites nothing that the derivative of this one needs.

    ``foreach``, ``fused`` and ``capturable`` choose between implementations elsewhere. Here there is one, so they are
    checked, saved and without effect.
    """

    # Whether the formula takes real and imaginary parts for two numbers. Linear rules need not care.
    complex_as_pairs: ClassVar[bool] = True
    # Whether it knows what to do with a sparse gradient (`wengert.sparse`); what to use instead.
    takes_sparse: ClassVar[bool] = False
    sparse_counterpart: ClassVar[str] = ""

    def _set_up(self, params: Params, defaults: Group) -> None:
        _hyperparameters.check(defaults)
        super()._set_up(params, defaults)

    def add_param_group(self, param_group: Group) -> None:
        super().add_param_group(param_group)
        for param in self.param_groups[-1]["params"]:
            if param_group.get("fused") and not param.is_floating_point():
                raise RuntimeError(
                    f"`fused=True` requires all the params to be floating point Tensors, but got {param.dtype}"
                )

    def update(self, param: Tensor, grad: Tensor, group: Group) -> None:
        state = self.state.get(param)
        recorded = group.get("differentiable")
        if recorded and state:
            state.update({name: value.clone() for name, value in state.items() if isinstance(value, Tensor)})

        decay = group.get("weight_decay", 0)
        if grad.is_sparse:
            self._require_sparse(decay)
        if isinstance(decay, Tensor) or decay != 0:
            decay = _arithmetic.as_number(decay)
            if group.get("decoupled_weight_decay"):
                param.mul_(1 - _arithmetic.as_number(group["lr"]) * decay)
            elif isinstance(decay, Tensor):
                grad = grad + param.clone() * decay  # `param` is about to change
            else:
                grad = grad.add(param, alpha=decay)

        if not state:
            state = self.start(param, grad, group)
            if state:
                self.state[param] = state
        if self.complex_as_pairs and param.is_complex():
            param, grad = wg.view_as_real(param), wg.view_as_real(grad)
            state = {name: _as_pairs(value) for name, value in state.items()}
        self.advance(param, grad, state, group)

    def _require_sparse(self, decay: Any) -> None:
        if not self.takes_sparse:
            counterpart = f", please consider {self.sparse_counterpart} instead" if self.sparse_counterpart else ""
            raise RuntimeError(f"{type(self).__name__} does not support sparse gradients{counterpart}")
        if isinstance(decay, Tensor) or decay != 0:
            raise RuntimeError(
                "weight_decay option is not compatible with sparse gradients: a decay moves every row; use dense "
                "gradients, or decay the rows that a batch uses in the loss"
            )

    def start(self, param: Tensor, grad: Tensor, group: Group) -> State:
        """Return the state of a parameter before its first step."""
        raise NotImplementedError

    def advance(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        """Take one step."""
        raise NotImplementedError


def _as_pairs(value: Any) -> Any:
    return wg.view_as_real(value) if isinstance(value, Tensor) and value.is_complex() else value


def counted() -> State:
    """Return a state with a count of steps."""
    return {"step": _arithmetic.scalar(0)}


def next_step(state: State) -> float:
    """Count one step and return its number, from 1."""
    return float(state["step"].add_(1).item())
