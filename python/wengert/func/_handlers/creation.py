"""Creation like another tensor: for each sample, so that results can be written into it."""

from __future__ import annotations

from typing import Any

from wengert import _C
from wengert._C import Tensor

from .._batch import Batch
from .._batched_tensor import BatchedTensor
from .._dispatch import handles


@handles(*(getattr(_C, f"{name}_like") for name in ("zeros", "ones", "empty", "full")))
def like(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch) -> Any:
    """Make a tensor like the batch; the value of `full_like` is a number."""
    if args:
        tensor, *rest = args
    else:
        tensor, rest = kwargs.pop("input"), []
    return BatchedTensor.wrap(func(tensor._value, *rest, **kwargs), tensor._batch_dim, batch.level)


@handles(*(getattr(Tensor, f"new_{name}") for name in ("zeros", "ones", "empty")))
def new(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch) -> Any:
    """Make a tensor of another size."""
    tensor, *size = args
    sizes = kwargs.pop("size", size[0] if len(size) == 1 and isinstance(size[0], (list, tuple)) else size)
    return batch.wrap(func(tensor._value, (batch.size, *sizes), **kwargs))


@handles(getattr(Tensor, "new_full"))  # noqa: B009
def new_full(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch) -> Any:
    """The same, filled with a value."""
    tensor, size, *rest = args
    return batch.wrap(func(tensor._value, (batch.size, *size), *rest, **kwargs))
