"""Methods and functions that are no rows: conversions, creation like another tensor, detaching."""

from __future__ import annotations

from typing import Any

import wengert
from wengert import _C
from wengert._C import Tensor

from .._batch import Batch
from .._batched_tensor import BatchedTensor
from ._registry import handles
from .elementwise import elementwise

_CONVERSIONS = "float double cfloat cdouble bool byte char short int long cpu detach type"
handles(
    *(getattr(Tensor, name) for name in _CONVERSIONS.split()),
    *(getattr(_C, f"{name}_like") for name in ("zeros", "ones", "empty", "full")),
)(elementwise)


@handles(getattr(Tensor, "to"))  # noqa: B009  # written in C++, unknown to the stubs
def to(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch) -> Any:
    """Convert; another tensor gives its dtype."""
    tensor, *others = args
    given = [other.dtype if isinstance(other, Tensor) else other for other in others]
    if isinstance(kwargs.get("other"), Tensor):
        given, kwargs = [kwargs["other"].dtype], {key: kwargs[key] for key in kwargs if key != "other"}
    if not batch.has(tensor):
        return func(tensor, *given, **kwargs)
    return BatchedTensor.wrap(func(tensor._value, *given, **kwargs), tensor._batch_dim, batch.level)


@handles(*(getattr(Tensor, f"new_{name}") for name in ("zeros", "ones", "empty")))
def new(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch) -> Any:
    """Make a tensor for each sample, so that results can be written into it."""
    tensor, *size = args
    sizes = kwargs.pop("size", size[0] if len(size) == 1 and isinstance(size[0], (list, tuple)) else size)
    return batch.wrap(func(tensor._value, (batch.size, *sizes), **kwargs))


@handles(getattr(Tensor, "new_full"))  # noqa: B009
def new_full(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch) -> Any:
    """The same, filled with a value."""
    tensor, size, *rest = args
    return batch.wrap(func(tensor._value, (batch.size, *size), *rest, **kwargs))


@handles(*(getattr(_C, name) for name in ("is_floating_point", "is_complex", "is_signed", "is_inference", "numel")))
def question(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch) -> Any:
    """What all samples answer alike."""
    (tensor,) = args or tuple(kwargs.values())
    return getattr(tensor, func.__name__)()


@handles(_C.result_type, _C.can_cast)
def promoted(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch) -> Any:
    """Decided by dtypes and ranks of samples."""
    return func(*(wengert.empty((1,) * a.ndim, dtype=a.dtype) if isinstance(a, Tensor) else a for a in args), **kwargs)


@handles(*(getattr(Tensor, name) for name in ("as_subclass", "resize_", "set_")))
def refused(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch) -> Any:
    """Raise RuntimeError: these act on the memory of one tensor."""
    raise RuntimeError(
        f"vmap: {func.__name__} is not supported inside vmap; it would change the memory of a whole batch"
    )
