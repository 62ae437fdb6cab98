"""A backward pass as users name it: the roots, a cotangent for each, and the targets, where the pass stops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wengert._C import Tensor

from .._graph.edges import GradientEdge


def as_roots(tensors: Any) -> tuple[Any, ...]:
    """Return one tensor or edge, or a sequence of them, as a tuple."""
    return (tensors,) if isinstance(tensors, (Tensor, GradientEdge)) else tuple(tensors)


def as_gradients(gradients: Any, count: int) -> tuple[Any, ...]:
    """Return one cotangent, a sequence of them, or None for each of `count` roots, as a tuple."""
    if gradients is None:
        return (None,) * count
    return (gradients,) if isinstance(gradients, Tensor) else tuple(gradients)


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
