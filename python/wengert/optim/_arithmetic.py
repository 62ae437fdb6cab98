"""Numbers and small pieces of arithmetic that rules share.

A hyperparameter may be a number or a tensor of one element; a tensor that requires grad counts only in a step that is
recorded (``differentiable=True``), where the result depends on it. The operations with a scalar argument take plain
numbers, which is also the fast way; a recorded tensor goes through multiplication instead.
"""

from __future__ import annotations

from typing import Any

import wengert as wg
from wengert._C import Tensor


def scalar(value: float) -> Tensor:
    """Return a number that a state holds: a tensor of the CPU, where it is computed with, whatever the default device.

    It is of float32, which other programs expect, unless the default is float64.
    """
    dtype = wg.float64 if wg.get_default_dtype() == wg.float64 else wg.float32
    return wg.tensor(float(value), dtype=dtype, device="cpu")


def as_number(value: Any) -> Any:
    """Return a hyperparameter as a number, or as a tensor without dimensions if its gradient is wanted."""
    if not isinstance(value, Tensor):
        return value
    if value.requires_grad and wg.is_grad_enabled():
        return value.reshape(())
    return value.item()


def move(param: Tensor, direction: Tensor, factor: Any) -> None:
    """``param += factor * direction``, in place."""
    if isinstance(factor, Tensor):
        param.addcmul_(direction, factor)
    else:
        param.add_(direction, alpha=factor)


def move_by_ratio(param: Tensor, numerator: Tensor, denominator: Tensor, factor: Any) -> None:
    """``param += factor * numerator / denominator``, in place."""
    if isinstance(factor, Tensor):
        param.addcmul_(numerator / denominator, factor)
    else:
        param.addcdiv_(numerator, denominator, value=factor)


def root_plus(square: Tensor, eps: Any) -> Tensor:
    """``sqrt(square) + eps``; where that is recorded, the root that its derivative needs is left alone."""
    root = square.sqrt()
    return root.add(eps) if wg.is_grad_enabled() else root.add_(eps)


def average(mean: Tensor, value: Tensor, weight: Any) -> None:
    """``mean += weight * (value - mean)``, in place: the running mean."""
    mean.lerp_(value, weight)


def average_square(square: Tensor, value: Tensor, decay: Any) -> None:
    """``square = decay * square + (1 - decay) * value**2``, in place: the running mean of squares."""
    if isinstance(decay, Tensor):
        square.lerp_(value * value, 1 - decay)
    else:
        square.mul_(decay).addcmul_(value, value, value=1 - decay)
