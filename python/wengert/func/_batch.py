"""What a batching rule knows: the level it works at, the size of the batch, and how to get at tensors inside."""

from __future__ import annotations

from typing import Any

from wengert._C import Tensor

from ._batched_tensor import BatchedTensor, move_to_front
from ._operations import rebuilt


class NoRuleError(Exception):
    """A rule does not cover these arguments; the loop does."""


class Batch:
    """The batch of one vmap, for one call of an operation."""

    __slots__ = ("level", "size")

    def __init__(self, level: int, size: int) -> None:
        self.level = level
        self.size = size

    def has(self, value: Any) -> bool:
        """Return whether a value differs between samples."""
        return isinstance(value, BatchedTensor) and value._level == self.level

    def front(self, value: Any) -> Any:
        """Return the tensor inside with the batch in front; anything else as it is."""
        return move_to_front(value._value, value._batch_dim) if self.has(value) else value

    def expanded(self, value: Any) -> Any:
        """Return the tensor inside with the batch in front; of others an expanded view."""
        if self.has(value):
            return move_to_front(value._value, value._batch_dim)
        return value.expand(self.size, *value.shape)

    def aligned(self, value: Any, rank: int) -> Any:
        """Return the tensor inside as ``[B, 1.., *sample]``, so that samples broadcast as tensors of `rank`."""
        if not self.has(value):
            return value
        inner = move_to_front(value._value, value._batch_dim)
        missing = rank - (inner.ndim - 1)
        return inner.reshape(self.size, *[1] * missing, *inner.shape[1:]) if missing > 0 else inner

    def sample(self, value: Any, index: int) -> Any:
        """Return one sample of a tensor, also of those in lists; anything else as it is."""
        if isinstance(value, BatchedTensor):
            return value._value.select(value._batch_dim, index) if value._level == self.level else value
        if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
            return type(value)(self.sample(item, index) for item in value)
        return value

    def wrap(self, result: Any) -> Any:
        """Return results with the batch in front as samples."""
        if isinstance(result, (list, tuple)):
            items = [self.wrap(item) for item in result]
            return rebuilt(result, items)
        return BatchedTensor.wrap(result, 0, self.level)

    def wrap_given(self, results: Any) -> Any:
        """Wrap results of which some may have been left out: an empty vector stands for each of those."""
        if isinstance(results, Tensor):
            absent = self.size and results.shape == (0,)
            return self.wrap(results.expand(self.size, 0) if absent else results)
        return rebuilt(results, [self.wrap_given(result) for result in results])

    def expanded_to(self, value: Any, rank: int) -> Any:
        """Return `aligned` with the batch also where a value is the same for all samples."""
        value = value if self.has(value) else BatchedTensor.wrap(self.expanded(value), 0, self.level)
        return self.aligned(value, rank)
