"""Parameter groups: what a user hands in, checked and brought into one form."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from wengert._C import Tensor

from ._hyperparameters import Group

Params = Iterable[Tensor] | Iterable[tuple[str, Tensor]] | Iterable[Group]

# A default that every group must state for itself.
required: Any = type("_Required", (), {"__repr__": lambda self: "<required parameter>"})()


def as_groups(params: Params) -> list[Group]:
    """Return the groups that the first argument of an optimizer stands for, not yet checked one by one."""
    if isinstance(params, Tensor):
        raise TypeError(
            "params argument given to the optimizer should be an iterable of Tensors or dicts, "
            f"but got {type(params).__name__}; write [param]"
        )
    groups: list[Any] = list(params)
    if not groups:
        raise ValueError("optimizer got an empty parameter list")
    return groups if isinstance(groups[0], dict) else [{"params": groups}]


def complete(group: Group, defaults: Group, present: list[Group]) -> None:
    """Check one group against those that are there, and fill in its names and defaults, in place."""
    if not isinstance(group, dict):
        raise TypeError(f"param_group must be a dict, but got {type(group)}")
    group["params"], names = _params_and_names(group["params"])
    if names:
        group["param_names"] = names
    _check_params(group["params"], bool(defaults.get("differentiable")))

    for name, value in defaults.items():
        if value is required and name not in group:
            raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
        group.setdefault(name, value)

    taken = {param for other in present for param in other["params"]}
    if any(("param_names" in group) != ("param_names" in other) for other in present):
        raise ValueError(
            "all optimizer param groups should be with/without names. cannot add param group "
            f"{'with names' if names else 'without names'} to the optimizer"
        )
    if not taken.isdisjoint(group["params"]):
        raise ValueError("some parameters appear in more than one parameter group")


def _params_and_names(params: Any) -> tuple[list[Any], list[str]]:
    """Split what may be one tensor, tensors, or pairs of a name and a tensor."""
    if isinstance(params, Tensor):
        return [params], []
    if isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of "
            "tensors in sets will change between runs. Please use a list instead."
        )
    entries = list(params)
    names = [entry[0] for entry in entries if isinstance(entry, tuple)]
    if names and len(names) != len(entries):
        raise ValueError("all optimizer params should be with/without names. Some param names are missing")
    return [entry[1] if isinstance(entry, tuple) else entry for entry in entries], names


def _check_params(params: list[Any], differentiable: bool) -> None:
    for param in params:
        if not isinstance(param, Tensor):
            raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(param).__name__}")
        if not (differentiable or param.is_leaf or param.retains_grad):
            raise ValueError("can't optimize a non-leaf Tensor; detach it or optimize its inputs")
    if len(set(params)) != len(params):
        warnings.warn("optimizer contains a parameter group with duplicate parameters", stacklevel=6)
