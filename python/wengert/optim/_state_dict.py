"""Optimizer state as plain data: tensors as dictionary keys become positions, and back.

Positions count the parameters of all groups in order, so the data names no tensor and can be restored
into an optimizer of another model of the same shape.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import wengert as wg
from wengert._C import Tensor

from ._arithmetic import scalar

Groups = list[dict[str, Any]]
State = defaultdict[Any, dict[str, Any]]

# Entries that count or weigh steps keep their own dtype.
_SCALARS = ("step", "mu_product", "eta", "mu")


def pack(param_groups: Groups, state: State) -> dict[str, Any]:
    """Return ``{"state", "param_groups"}`` with every parameter replaced by its position."""
    positions: dict[Any, int] = {}
    packed_groups = []
    for group in param_groups:
        for param in group["params"]:
            positions.setdefault(param, len(positions))
        packed = {name: value for name, value in group.items() if name != "params"}
        packed["params"] = [positions[param] for param in group["params"]]
        packed_groups.append(packed)
    packed_state = {positions.get(key, key) if isinstance(key, Tensor) else key: value for key, value in state.items()}
    return {"state": packed_state, "param_groups": packed_groups}


def unpack(state_dict: Mapping[str, Any], param_groups: Groups, defaults: dict[str, Any]) -> tuple[Groups, State]:
    """Return ``(param_groups, state)`` of `state_dict`, attached to the parameters of `param_groups`."""
    saved_groups: Groups = deepcopy(state_dict["param_groups"])
    if len(saved_groups) != len(param_groups):
        raise ValueError(
            "loaded state dict has a different number of parameter groups: "
            f"{len(saved_groups)} instead of {len(param_groups)}"
        )
    params: dict[int, Tensor] = {}
    for saved, group in zip(saved_groups, param_groups, strict=True):
        if len(saved["params"]) != len(group["params"]):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                f"optimizer's group: {len(saved['params'])} instead of {len(group['params'])}"
            )
        params.update(zip(saved["params"], group["params"], strict=True))
        saved["params"] = group["params"]
        if "param_names" in group:
            saved.setdefault("param_names", group["param_names"])
        for name, value in saved.items():
            saved[name] = _own(value)
        for name, value in defaults.items():
            saved.setdefault(name, value)

    state: State = defaultdict(dict)
    for position, entries in state_dict["state"].items():
        param = params.get(position)
        if param is None:
            state[position] = entries
        else:
            state[param] = {name: _matched(name, value, param) for name, value in entries.items()}
    return saved_groups, state


def _own(value: Any) -> Any:
    """Return a tensor of this package for a tensor of another, and anything else as it is."""
    return wg.from_dlpack(value) if hasattr(value, "__dlpack__") and not isinstance(value, Tensor) else value


def _matched(name: str, value: Any, param: Tensor) -> Any:
    """Copy one state entry; all but counts take the dtype and device of `param`.

    The copy keeps two optimizers that were restored from one dictionary from sharing buffers.
    """
    if isinstance(value, dict):
        return {key: _matched(key, entry, param) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_matched(name, entry, param) for entry in value)
    value = _own(value)
    if not isinstance(value, Tensor):
        return scalar(value) if name == "step" and isinstance(value, (int, float)) else deepcopy(value)
    if name in _SCALARS:
        return value.clone()
    alike = param.is_floating_point() or (param.is_complex() and value.is_complex())
    dtype = param.dtype if alike else value.dtype
    return value.to(device=param.device, dtype=dtype, copy=True)
