"""Operations that are told sizes: the batch is one more size in front."""

from __future__ import annotations

from typing import Any

import wengert

from .._batch import Batch, NoRuleError
from .._operations import Operation, rebuilt
from ._registry import rule
from .dims import shifted


@rule
def sizes(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """Put the batch's size in front of the sizes of one sample."""
    (tensor,) = (a.name for a in op.tensors)
    new = {**values, tensor: batch.front(values[tensor])}
    for argument in op.arguments:
        if argument.is_size:
            new[argument.name] = [batch.size, *values[argument.name]]
    return batch.wrap(op.call(new))


@rule
def expansion(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """Expand: sizes stand for the last dimensions, and -1 for the size that is there."""
    tensor, size = values["self"], list(values["size"])
    if len(size) < tensor.ndim:
        raise RuntimeError(
            f"expand: the number of sizes provided ({len(size)}) must be greater or equal to the number "
            f"of dimensions in "
            f"the tensor ({tensor.ndim})"
        )
    return batch.wrap(batch.aligned(tensor, len(size)).expand(batch.size, *size))


@rule
def row_major(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """Contiguous: the sample itself where samples are."""
    tensor = values["self"]
    return tensor if tensor.is_contiguous() else batch.wrap(op.call({**values, "self": batch.front(tensor)}))


@rule
def in_format(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """Copies in a memory format, in which every sample lies."""
    tensor = batch.front(values["self"])
    if values["memory_format"] not in (wengert.channels_last, wengert.channels_last_3d) or tensor.ndim < 2:
        return batch.wrap(op.call({**values, "self": tensor}))
    merged = op.call({**values, "self": tensor.flatten(0, 1)})  # a sample's first dimension stays the outermost
    return batch.wrap(merged.unflatten(0, tensor.shape[:2]))


@rule
def repetition(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """Repeat: counts stand for the last dimensions."""
    tensor, counts = values["self"], list(values["repeats"])
    if len(counts) < tensor.ndim:
        raise RuntimeError(
            f"Number of dimensions of repeat dims ({len(counts)}) can not be smaller than number of "
            f"dimensions of tensor "
            f"({tensor.ndim})"
        )
    return batch.wrap(batch.aligned(tensor, len(counts)).repeat(1, *counts))


@rule
def permutation(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """Permute the dimensions behind the batch."""
    tensor = values["self"]
    if len(values["dims"]) != tensor.ndim:
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {tensor.ndim} is not equal to len(dims) = {len(values['dims'])}"
        )
    if not tensor.ndim:
        return tensor
    return batch.wrap(batch.front(tensor).permute(0, *(shifted(dim, tensor.ndim) for dim in values["dims"])))


@rule
def squeezing(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """Drop all dimensions of size 1, but not the batch's."""
    value = batch.front(values["self"])
    return batch.wrap(value.squeeze([dim for dim in range(1, value.ndim) if value.shape[dim] == 1]))


@rule
def strided(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """Views of the storage: one for each sample, as far apart as samples are."""
    value = batch.front(values["self"])
    size, stride = list(values["size"]), list(values["stride"])
    if len(size) != len(stride):
        raise RuntimeError(f"[as_strided] size and stride must have the same length, got {size} and {stride}")
    step = value.stride(0) if batch.size > 1 else 0
    offset = op.get(values, "storage_offset")
    reach = sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    sample_reach = sum((n - 1) * s for n, s in zip(value.shape[1:], value.stride()[1:], strict=True))
    start = value.storage_offset() if offset is None else offset
    if 0 not in size and not value.storage_offset() <= start <= start + reach <= value.storage_offset() + sample_reach:
        raise RuntimeError(
            f"result = tensor.as_strided({size}, {stride}, {offset}) can access memory outside of `tensor`: the first "
            f"sample ends at element {value.storage_offset() + sample_reach} of the storage. This is not supported "
            "inside of vmap, where each sample is as_strided in the same way: choose sizes and strides that stay in it"
        )
    return batch.wrap(value.as_strided([batch.size, *size], [step, *stride], offset))


@rule
def rolled(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """Roll along dimensions, or the elements in their order where none is named."""
    tensor = values["self"]
    value = batch.front(tensor)
    chosen = op.get(values, "dims")
    if chosen:
        return batch.wrap(value.roll(values["shifts"], [shifted(dim, tensor.ndim) for dim in chosen]))
    flat = value.reshape(batch.size, -1).roll(values["shifts"], [1])
    return batch.wrap(flat.reshape(value.shape))


@rule
def embedded_diagonal(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """Dimensions are those of the result, which has one more than the samples."""
    tensor = values["self"]
    rank = tensor.ndim + 1
    chosen = [shifted(op.get(values, name), rank) for name in ("dim1", "dim2")]
    return batch.wrap(op.function(batch.front(tensor), op.get(values, "offset"), *chosen))


@rule
def diagonal_filled(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """fill_diagonal_: of all samples at once, through indices."""
    target, wrap = values["self"], op.get(values, "wrap")
    shape = target.shape
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        raise NoRuleError
    last = shape[-1]
    flat = wengert.arange(0, shape[0] * last if wrap else min(shape) * last, last + 1) if last else wengert.arange(0)
    rows = flat // max(last, 1)
    columns = [flat % max(last, 1)] if len(shape) == 2 else [rows] * (len(shape) - 1)
    batch.front(target)[(slice(None), rows, *columns)] = values["fill_value"]
    return target


@rule
def padding(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """Constants around the last dimensions; other modes go by the rank, so the batch joins the samples' "
    "first dimension."""
    if "mode" in op.by_name and op.get(values, "mode") != "constant":
        return samples(op, values, batch, (len(values["pad"]) // 2 + 2,))
    name = op.tensors[0].name
    return batch.wrap(op.call({**values, name: batch.front(values[name])}))


@rule
def samples(op: Operation, values: dict[str, Any], batch: Batch, numbers: tuple[int, ...] = (0,)) -> Any:
    """Operations that take ``[N, ...]`` of a certain rank: the batch joins N, or is N where samples have none."""
    name = op.tensors[0].name
    if any(batch.has(values.get(a.name)) for a in op.arguments if a.name != name):
        raise NoRuleError
    value = batch.front(values[name])
    if numbers[0] and value.ndim - 1 != numbers[0]:
        return batch.wrap(op.call({**values, name: value}))
    return _split(op.call({**values, name: value.flatten(0, 1)}), batch, value.shape[1])


def _split(result: Any, batch: Batch, inner: int) -> Any:
    if isinstance(result, (list, tuple)):
        items = [_split(item, batch, inner) for item in result]
        return rebuilt(result, items)
    return batch.wrap(result.reshape(batch.size, inner, *result.shape[1:]))
