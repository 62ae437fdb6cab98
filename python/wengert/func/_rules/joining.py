"""Operations on lists of tensors."""

from __future__ import annotations

from typing import Any

from .._batch import Batch
from .._operations import Operation
from ._registry import rule
from .dims import shifted


@rule
def joined(op: Operation, values: dict[str, Any], batch: Batch, numbers: tuple[int, ...] = (0,)) -> Any:
    """cat and stack: every tensor with the batch in front. The number: dimensions that are added."""
    tensors = values["tensors"]
    dim = op.get(values, "dim")
    rank = max(tensor.ndim for tensor in tensors)
    if not numbers[0] and rank > 1:  # cat skips empty vectors
        tensors = [t for t in tensors if t.shape != (0,)] or tensors
    return batch.wrap(op.function([batch.expanded(t) for t in tensors], shifted(dim, rank + numbers[0])))


@rule
def broadcasts(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """broadcast_tensors: to the shape that they have together."""
    tensors = values["tensors"]
    rank = max(tensor.ndim for tensor in tensors)
    return batch.wrap(op.function([batch.aligned(batch.wrap(batch.expanded(t)), rank) for t in tensors]))
