"""The momenta of an optimizer, which some schedules change along with the rates."""

from __future__ import annotations

from typing import Any

from .._optimizer import Optimizer
from ._base import one_per_group


def uses_beta1(optimizer: Optimizer) -> bool:
    """Whether the momentum is the first of ``betas``.

    Raises
    ------
    ValueError
        If the optimizer has no momentum at all.
    """
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
    return "betas" in optimizer.defaults


def set_momentum(group: dict[str, Any], momentum: float, beta1: bool) -> None:
    if beta1:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum


def bounds(optimizer: Optimizer, lower: Any, upper: Any, beta1: bool, fresh: bool) -> tuple[list[Any], list[Any]]:
    """Return the bounds of all groups; a schedule that starts anew notes them there and begins with the upper ones."""
    lowers = one_per_group("base_momentum", optimizer, lower)
    uppers = one_per_group("max_momentum", optimizer, upper)
    if fresh:
        for low, high, group in zip(lowers, uppers, optimizer.param_groups, strict=True):
            set_momentum(group, high, beta1)
            group["max_momentum"], group["base_momentum"] = high, low
    return lowers, uppers
