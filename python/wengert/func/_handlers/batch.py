"""The batch of one vmap, and how to get at tensors inside: what handlers of functions that are no operations use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wengert import _C

from .._batched_tensor import BatchedTensor, move_to_front


def batched_among(values: Any) -> Iterator[Any]:
    """Yield the samples of batches among values, and in the lists and dictionaries among them."""
    if isinstance(values, BatchedTensor):
        yield values
    elif isinstance(values, (list, tuple)):
        for value in values:
            yield from batched_among(value)
    elif isinstance(values, dict):
        yield from batched_among(list(values.values()))


class Batch:
    """The batch of one vmap, for one call of a function."""

    __slots__ = ("level", "size")

    def __init__(self, level: Any) -> None:
        self.level = level
        self.size: int = level.batch_size

    def has(self, value: Any) -> bool:
        """Return whether a value differs between samples."""
        return isinstance(value, BatchedTensor) and value._level == self.level

    def front(self, value: Any) -> Any:
        """Return the tensor inside with the batch in front; anything else as it is."""
        return move_to_front(value._value, value._batch_dim) if self.has(value) else value

    def expanded(self, value: Any) -> Any:
        """Return the tensor inside with the batch in front; of others an expanded view."""
        return _C._expanded(value, self.level)

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


def rebuilt(container: Any, items: list[Any]) -> Any:
    """Return a list, tuple, named tuple or structseq like `container` with other items."""
    cls = type(container)
    return cls(*items) if hasattr(cls, "_fields") else cls(items)
