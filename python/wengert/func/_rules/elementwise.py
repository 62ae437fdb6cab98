"""Elementwise operations: samples broadcast against each other as the batches do.

Tensors of one sample may have different ranks and broadcast from the right; with the batch in front, those of lower
rank get dimensions of size 1 behind it. Where all have the same layout nothing moves.

A tensor of one element without dimensions counts less in type promotion than others; as a batch of such it has a
dimension, so it is converted first where that would change the result's dtype.
"""

from __future__ import annotations

from typing import Any

import wengert
from wengert._C import Tensor

from .._batch import Batch, NoRuleError
from .._batched_tensor import BatchedTensor, open_levels
from .._compositions.losses import reduce_loss
from .._operations import Operation
from ._registry import handles, rule
from .memory import batched_memory


def alike(func: Any, args: tuple[Any, ...]) -> Any:
    """Run `func` on samples of one batch with the same layout, and numbers: most calls. None if they are others."""
    level, dim, rank, values = 0, 0, 0, []
    for arg in args:
        if type(arg) is BatchedTensor:
            value = arg._value
            if not level:
                level, dim, rank = arg._level, arg._batch_dim, value.ndim
                if level not in open_levels:
                    return None
            elif arg._level != level or arg._batch_dim != dim or value.ndim != rank:
                return None
            values.append(value)
        elif isinstance(arg, (float, int)):
            values.append(arg)
        else:
            return None
    result = func(*values)
    return result if result is NotImplemented else BatchedTensor.wrap(result, dim, level)


@rule
def elementwise(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch) -> Any:
    """Run `func` on aligned batches."""
    if len(args) == 1 and not kwargs:  # of one tensor: the batch may stay where it is
        tensor = args[0]
        return BatchedTensor.wrap(func(tensor._value), tensor._batch_dim, batch.level)
    tensors: list[Any] = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]
    rank = max(tensor.ndim for tensor in tensors)
    dims = {t._batch_dim if batch.has(t) and t.ndim == rank else None if t.ndim else -1 for t in tensors} - {-1}
    if len(dims) == 1 and None not in dims and all(batch.has(t) or not t.ndim for t in tensors) and rank:
        values = [t._value if batch.has(t) else t for t in args]
        named = {key: t._value if batch.has(t) else t for key, t in kwargs.items()}
        if not any(batch.has(t) and not t.ndim for t in tensors):
            result = func(*values, **named)
            return result if result is NotImplemented else BatchedTensor.wrap(result, dims.pop() or 0, batch.level)
    convert = _promotion(tensors, rank, batch)
    values = [convert(batch.aligned(value, rank), value) for value in args]
    named = {key: convert(batch.aligned(value, rank), value) for key, value in kwargs.items()}
    result = func(*values, **named)
    return result if result is NotImplemented else batch.wrap(result)


def _promotion(tensors: list[Any], rank: int, batch: Batch) -> Any:
    """Return what converts aligned batches of 0-dimensional samples to the dtype they would be promoted to."""
    zero = [t for t in tensors if batch.has(t) and not t.ndim]
    others = [t for t in tensors if (t.ndim if rank else not batch.has(t))]
    if not zero or not others:
        return lambda aligned, original: aligned
    dtype = others[0].dtype
    for other in others[1:]:
        dtype = wengert.promote_types(dtype, other.dtype)
    if not rank:
        for tensor in zero:
            dtype = wengert.promote_types(dtype, tensor.dtype)

    def convert(aligned: Any, original: Any) -> Any:
        if isinstance(original, Tensor) and not original.ndim and batch.has(original) and aligned.dtype != dtype:
            return aligned.to(dtype) if _category(aligned.dtype) == _category(dtype) else aligned
        return aligned

    return convert


def _category(dtype: Any) -> int:
    return 3 if dtype.is_complex else 2 if dtype.is_floating_point else 0 if dtype == wengert.bool else 1


def elementwise_in_place(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch) -> Any:
    """Run an in-place operation on the batch of its first argument.

    Raises
    ------
    RuntimeError
        If that cannot be a batch while another argument is one, or another has more dimensions.
    """
    target, *others = args
    batched_memory(target, batch)
    rank = target.ndim
    for other in (*others, *kwargs.values()):
        if isinstance(other, Tensor) and other.ndim > rank:
            raise RuntimeError(
                f"output with shape {list(target.shape)} doesn't match the broadcast shape of an operand with shape "
                f"{list(other.shape)}; use the operation out of place"
            )
    result = func(
        batch.front(target),
        *(batch.aligned(value, rank) for value in others),
        **{key: batch.aligned(value, rank) for key, value in kwargs.items()},
    )
    return result if result is NotImplemented else target


@handles(getattr(Tensor, "fill_"))  # noqa: B009
def filled(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch) -> Any:
    """Fill with a number, or with a value for each sample."""
    target, value = (*args, *kwargs.values())
    if not isinstance(value, Tensor) or value.ndim:
        return elementwise_in_place(func, (target, value), {}, batch)
    return write_back(target, value, batch)


def write_back(target: Any, result: Any, batch: Batch) -> Any:
    """Copy the result of an operation into its first argument.

    Raises
    ------
    RuntimeError
        If the target must be the same for all samples while results differ.
    """
    if batch.has(result):
        batched_memory(target, batch)
    target.copy_(result)
    return target


_OPERATORS = "add sub mul truediv floordiv mod pow and or xor lshift rshift"
_COMPARISONS = "eq ne lt le gt ge"
handles(
    *(getattr(Tensor, f"__{prefix}{name}__") for name in _OPERATORS.split() for prefix in ("", "r")),
    *(getattr(Tensor, f"__{name}__") for name in (*_COMPARISONS.split(), "neg", "pos", "abs", "invert")),
)(elementwise)
handles(*(getattr(Tensor, f"__i{name}__") for name in _OPERATORS.split()))(elementwise_in_place)


@rule
def reducing(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """Run the kernel on aligned batches, and reduce its results for each sample."""
    tensors = {name: value for name, value in values.items() if isinstance(value, Tensor)}

    def elements(*aligned: Any) -> Any:
        return op.call({**values, **dict(zip(tensors, aligned, strict=True)), op.reduces: "none"})

    return reduce_loss(elementwise(elements, tuple(tensors.values()), {}, batch), op.get(values, op.reduces))


@rule
def ending_in(op: Operation, values: dict[str, Any], batch: Batch, numbers: tuple[int, ...]) -> Any:
    """Every tensor ends in as many dimensions of its own as its number says; those in front broadcast."""
    cores = dict(zip((a.name for a in op.tensors), numbers, strict=True))
    if any(values[name].ndim < core for name, core in cores.items()):
        raise NoRuleError
    rank = max(values[name].ndim - core for name, core in cores.items())
    new = {name: batch.expanded_to(values[name], rank + core) for name, core in cores.items()}
    return batch.wrap_given(op.call({**values, **new}))


@rule
def leading(op: Operation, values: dict[str, Any], batch: Batch, numbers: tuple[int, ...] = ()) -> Any:
    """Dimensions in front are a batch already; tensors broadcast over them. With a number: the rank that matters."""
    named = [a.name for a in op.tensors if isinstance(values.get(a.name), Tensor)]
    rank = max(values[name].ndim for name in named)
    if numbers and any(values[name].ndim < numbers[0] for name in named):
        rank = 0
    place = batch.aligned if len(named) == 1 else batch.expanded_to
    return batch.wrap_given(op.call({**values, **{name: place(values[name], rank) for name in named}}))
