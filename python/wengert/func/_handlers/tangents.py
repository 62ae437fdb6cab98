"""Dual tensors of samples: the batch of tangents is the tangent of the batch."""

from __future__ import annotations

from typing import Any

from wengert.autograd._forward_ad import UnpackedDualTensor, make_dual, unpack_dual

from .batch import Batch
from .dispatch import handles


@handles(make_dual)
def dual(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch) -> Any:
    """One of the two may be the same for all samples."""
    return batch.wrap(func(*map(batch.expanded, args), **kwargs))


@handles(unpack_dual)
def unpacked(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch) -> Any:
    """Primal and tangent, or None."""
    primal, tangent = func(batch.front(args[0]), **kwargs)
    return UnpackedDualTensor(batch.wrap(primal), None if tangent is None else batch.wrap(tangent))
