"""What every optimizer shares: parameter groups, per-parameter state and the loop over them.

An optimizer holds

- ``param_groups``, a list of dictionaries, each with its ``params`` and its hyperparameters;
- ``state``, which maps a parameter to a dictionary of what the rule remembers about it.

A rule derives from `Optimizer` and defines ``update(param, grad, group)`` for one parameter.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import wengert as wg
from wengert._C import Tensor

from . import _state_dict

Group = dict[str, Any]
Params = Iterable[Tensor] | Iterable[Group]


def require(condition: bool, name: str, value: Any) -> None:
    """Raise the ValueError that names a hyperparameter and its unusable value."""
    if not condition:
        raise ValueError(f"Invalid {name}: {value}")


class Optimizer:
    """Base class of all optimizers.

    Parameters
    ----------
    params : iterable of Tensor, or iterable of dict
        The leaf tensors to optimize, or parameter groups: dictionaries with a ``params`` entry and
        hyperparameters that differ from `defaults`.
    defaults : dict
        Hyperparameters of the groups that do not state their own.

    Attributes
    ----------
    param_groups : list of dict
    state : dict
        ``state[param]`` is what the rule remembers about ``param``.

    Raises
    ------
    TypeError
        If `params` is one tensor, a set, or holds something that is not a tensor.
    ValueError
        If `params` is empty, holds a tensor that is not a leaf, or names a parameter in two groups.
    """

    def __init__(self, params: Params, defaults: Group) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {type(params).__name__}; write [param]"
            )
        self.defaults = defaults
        self.state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[Group] = []

        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(dict(group))

    def add_param_group(self, param_group: Group) -> None:
        """Add a group of parameters, for instance layers unfrozen during training.

        Parameters
        ----------
        param_group : dict
            ``params`` (a tensor or an iterable of tensors) and any hyperparameters; missing ones
            are filled in from ``defaults``.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        param_group["params"] = _as_parameter_list(param_group["params"])
        for name, value in self.defaults.items():
            param_group.setdefault(name, value)

        present = {param for group in self.param_groups for param in group["params"]}
        if not present.isdisjoint(param_group["params"]):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients of all parameters.

        Parameters
        ----------
        set_to_none : bool
            Drop the gradients (the default) instead of filling them with zeros. A dropped gradient
            makes `step` skip its parameter; a zero gradient still decays weights and momentum.
        """
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is None:
                    continue
                if set_to_none:
                    param.grad = None
                    continue
                if param.grad.grad_fn is not None:
                    param.grad.detach_()
                else:
                    param.grad.requires_grad_(False)
                param.grad.zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move every parameter that has a gradient by one step, in place.

        Parameters
        ----------
        closure : callable, optional
            Evaluates the model again (with gradients enabled) and returns the loss.

        Returns
        -------
        loss
            What `closure` returned, or None without one.
        """
        loss = None
        if closure is not None:
            with wg.enable_grad():
                loss = closure()
        with wg.no_grad():
            for group in self.param_groups:
                for param in group["params"]:
                    grad = param.grad
                    if grad is not None:
                        self.update(param, -grad if group.get("maximize") else grad, group)
        return loss

    def update(self, param: Tensor, grad: Tensor, group: Group) -> None:
        """Apply the rule to one parameter. Runs without recording; `grad` points uphill."""
        raise NotImplementedError(f"{type(self).__name__} does not define update()")

    def state_dict(self) -> dict[str, Any]:
        """Return the state and the groups as plain data, parameters replaced by their positions.

        Returns
        -------
        dict
            ``state``: position to that parameter's state; ``param_groups``: hyperparameters and
            positions. Tensors are shared with the optimizer, not copied.
        """
        return _state_dict.pack(self.param_groups, self.state)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict` returned, here or in another optimizer of the same shape.

        Parameters
        ----------
        state_dict : dict
            Is not modified; its tensors are copied, in the dtype of the parameters.

        Raises
        ------
        ValueError
            If the numbers of groups, or of parameters in a group, differ.
        """
        self.param_groups, self.state = _state_dict.unpack(state_dict, self.param_groups)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for index, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {index}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join([*lines, ")"])


def _as_parameter_list(params: Tensor | Iterable[Tensor]) -> list[Tensor]:
    """Check the parameters of one group and return them as a list."""
    if isinstance(params, Tensor):
        params = [params]
    if isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of "
            "tensors in sets will change between runs. Please use a list instead."
        )
    params = list(params)
    for param in params:
        if not isinstance(param, Tensor):
            raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(param).__name__}")
        if not (param.is_leaf or param.retains_grad):
            raise ValueError("can't optimize a non-leaf Tensor; detach it or optimize its inputs")
    if len(set(params)) != len(params):
        warnings.warn("optimizer contains a parameter group with duplicate parameters", stacklevel=5)
    return params
