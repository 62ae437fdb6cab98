"""The start of a backward pass as users name it: the roots, and a cotangent for each."""

from __future__ import annotations

from typing import Any

from wengert._C import Tensor

from ._edges import GradientEdge


def as_roots(tensors: Any) -> tuple[Any, ...]:
    """Return one tensor or edge, or a sequence of them, as a tuple."""
    return (tensors,) if isinstance(tensors, (Tensor, GradientEdge)) else tuple(tensors)


def as_gradients(gradients: Any, count: int) -> tuple[Any, ...]:
    """Return one cotangent, a sequence of them, or None for each of `count` roots, as a tuple."""
    if gradients is None:
        return (None,) * count
    return (gradients,) if isinstance(gradients, Tensor) else tuple(gradients)
