"""The end of a backward pass: the ``inputs`` that users name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wengert._C import Tensor

from ._edges import GradientEdge


def as_targets(inputs: Any, caller: str) -> tuple[tuple[Any, ...], list[Any] | None]:
    """Return the targets as a tuple, and the keys if they came as a dict."""
    keys = None
    if isinstance(inputs, (Tensor, GradientEdge)):
        return (inputs,), None
    if isinstance(inputs, dict):
        keys = list(inputs)
        targets = tuple(inputs.values())
    elif isinstance(inputs, Mapping):
        raise TypeError(
            f"`inputs` argument to `{caller}` must be a dict, not {type(inputs).__name__}; convert it with dict(...)"
        )
    else:
        targets = tuple(inputs)
    if not targets:
        raise RuntimeError(f"`inputs` argument to `{caller}` cannot be empty; name at least one tensor.")
    return targets, keys
