"""Operations along dimensions: with the batch in front, every dimension that an argument names moves back by one.

Reductions over all dimensions become reductions over all but the first. A sample without dimensions is treated as one
with a single dimension of size 1.
"""

from __future__ import annotations

from typing import Any

import wengert
from wengert._C import Tensor

from .._batch import Batch
from .._operations import Argument, Operation, rebuilt
from ._registry import rule


def shifted(dim: int, rank: int) -> int:
    """Return a dimension of a sample as one of the batch.

    Raises
    ------
    IndexError
        If it is out of range.
    """
    bound = max(rank, 1)
    if not -bound <= dim < bound:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], but got {dim})")
    return dim % bound + 1


@rule
def dims(op: Operation, values: dict[str, Any], batch: Batch, numbers: tuple[int, ...] = ()) -> Any:
    """Shift the arguments that name dimensions. With a number: results have so many dimensions more than samples."""
    named = [a.name for a in op.tensors if isinstance(values.get(a.name), Tensor)]
    first = values[named[0]]
    rank = first.ndim
    extra = numbers[0] if numbers else 0
    if rank == 0 and op.view and not extra:
        op.call({**values, named[0]: wengert.zeros(())})  # what is an error for it is one here
        return first
    tensors = {name: batch.front(values[name]) if len(named) == 1 else batch.expanded(values[name]) for name in named}
    if rank == 0 and not extra:
        tensors = {name: tensor.unsqueeze(1) for name, tensor in tensors.items()}
    new = {**values, **tensors}
    for argument in op.dims:
        value = op.get(values, argument.name)
        if value is None or (value == [] and argument.nullable):
            _whole(new, argument, named[0], max(rank, 1))
        elif isinstance(value, (list, tuple)):
            new[argument.name] = [shifted(dim, rank + extra) for dim in value]
        else:
            new[argument.name] = shifted(value, rank + extra)
    result = op.call(new)
    if rank == 0 and not extra:
        result = _without_dimension(result)
    elif op.get(values, "keepdim") if "keepdim" in op.by_name else False:
        result = _with_dimensions(result, rank)
    return batch.wrap(result)


def _whole(new: dict[str, Any], argument: Argument, tensor: str, rank: int) -> None:
    """Over all dimensions: all of them named, or flattened into one where only one can be."""
    if argument.is_list:
        new[argument.name] = list(range(1, rank + 1))
    else:
        new[tensor] = new[tensor].reshape(new[tensor].shape[0], -1)
        new[argument.name] = 1


def _without_dimension(result: Any) -> Any:
    if isinstance(result, (list, tuple)):
        items = [_without_dimension(item) for item in result]
        return rebuilt(result, items)
    return result.squeeze(1) if result.ndim > 1 else result


def _with_dimensions(result: Any, rank: int) -> Any:
    """Give back the dimensions that flattening took: kept ones have size 1."""
    if isinstance(result, (list, tuple)):
        items = [_with_dimensions(item, rank) for item in result]
        return rebuilt(result, items)
    missing = rank + 1 - result.ndim
    return result.reshape(*result.shape, *[1] * missing) if missing > 0 else result


@rule
def aligned_dims(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """The same for tensors that broadcast against each other."""
    named = [a.name for a in op.tensors if isinstance(values.get(a.name), Tensor)]
    rank = max(values[name].ndim for name in named)
    new = {**values, **{name: batch.expanded_to(values[name], rank) for name in named}}
    for argument in op.dims:
        value = op.get(values, argument.name)
        new[argument.name] = value if value is None else shifted(value, rank)
    return batch.wrap(op.call(new))


@rule
def dynamic(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """Raise RuntimeError: samples would have results of different shapes."""
    raise RuntimeError(
        "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
        f"{op.python['name']}: each sample would return a differently shaped Tensor. Use where or a mask instead."
    )
