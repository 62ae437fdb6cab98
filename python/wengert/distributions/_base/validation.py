"""Checks of values, the only place here where a program depends on them.

Inside vmap and the other transforms the whole batch is checked at once.
"""

from __future__ import annotations

from typing import Any

from wengert import _C
from wengert._C import Tensor

from .._constraints.constraint import is_dependent


def holds(valid: Any) -> bool:
    """Return whether a condition holds everywhere, in all samples of a batch."""
    return bool(_C._unbatched(valid).all())


def check_parameters(distribution: Any) -> None:
    """Raise unless all parameters that were given satisfy their constraints."""
    for name, constraint in distribution.arg_constraints.items():
        value = vars(distribution).get(name)
        if isinstance(getattr(type(distribution), name, None), property):  # of the distribution that is transformed
            value = getattr(distribution, name)
        if value is None or is_dependent(constraint):
            continue
        if not holds(constraint.check(value)):
            raise ValueError(
                f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                f"{distribution!r} to satisfy the constraint {constraint!r}, but found invalid values:\n"
                f"{value.detach()}"
            )


def check_value(distribution: Any, value: Any) -> None:
    """Raise unless a value has a shape that fits and lies in the support."""
    if not isinstance(value, Tensor):
        raise ValueError("The value argument to log_prob must be a Tensor")
    event = distribution.event_shape
    start = value.dim() - len(event)
    if start < 0 or value.shape[start:] != event:
        raise ValueError(f"The right-most size of value must match event_shape: {value.shape} vs {event}.")
    expected = (*distribution.batch_shape, *event)
    for size, wanted in zip(reversed(tuple(value.shape)), reversed(expected), strict=False):
        if size not in (1, wanted) and wanted != 1:
            raise ValueError(
                f"Value is not broadcastable with batch_shape+event_shape: {value.shape} vs {_C.Size(expected)}."
            )
    try:
        support = distribution.support
    except NotImplementedError:
        return
    if support is not None and not holds(support.check(value)):
        raise ValueError(
            f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the support "
            f"({support!r}) of the distribution {distribution!r}, but found invalid values:\n{value.detach()}"
        )
