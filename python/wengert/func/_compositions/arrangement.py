"""Splitting, joining and gathering."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

import wengert

from .._batch import NoRuleError


def as_dtype(tensor: Any, dtype: Any) -> Any:
    """Return the tensor in a dtype, or as it is."""
    return tensor if dtype is None else tensor.to(dtype)


def is_complex_dtype(dtype: Any) -> bool:
    """Whether numbers of a dtype are complex."""
    return dtype.is_complex  # type: ignore[no-any-return]


def logical_negation(value: Any) -> Any:
    """Return ``not value``, elementwise for tensors."""
    return wengert.logical_not(value) if isinstance(value, wengert.Tensor) else not value


def sliced(tensor: Any, dim: int, start: Any, end: Any, step: int = 1) -> Any:
    """Return the elements of one dimension from `start` to `end`."""
    return tensor[(*(slice(None),) * (dim % tensor.ndim), slice(start, end, step))]


def reversed_dims(ndim: int) -> list[int]:
    """Return the dimensions from the last to the first."""
    return list(range(ndim))[::-1]


def at(tensor: Any, index: Any) -> Any:
    """Return ``tensor[index]``."""
    return tensor[index]


def diagonal_of(tensor: Any, offset: int) -> Any:
    """Return a diagonal of a matrix."""
    return tensor.diagonal(offset)


def equal_sections(tensor: Any, sections: int, dim: int) -> Any:
    """Split into parts of one size.

    Raises
    ------
    RuntimeError
        If the tensor lacks the dimension, or its size is not divisible.
    """
    dim = 0 if dim == 1 and tensor.ndim == 1 else dim
    name = "dsplit" if dim == 2 else "hsplit" if dim == 1 or tensor.ndim == 1 else "vsplit"
    if tensor.ndim <= dim:
        raise RuntimeError(
            f"[{name}] requires a tensor with at least {dim + 1} dimension, but got a tensor with {tensor.ndim} "
            "dimensions!"
        )
    if sections <= 0 or tensor.shape[dim] % sections:
        raise RuntimeError(
            f"[{name}] attempted to split along dimension {dim}, but the size of the dimension {tensor.shape[dim]} is "
            f"not divisible by the split_size {sections}!"
        )
    return wengert.tensor_split(tensor, sections, dim)


def sections_at(tensor: Any, indices: Any, dim: int) -> Any:
    """Split before each of the indices."""
    bounds = [0, *indices, tensor.shape[dim]]
    return [sliced(tensor, dim, start, end) for start, end in pairwise(bounds)]


def each_at_least(tensors: Any, rank: int) -> list[Any]:
    """Return tensors with at least so many dimensions."""
    return [getattr(wengert, f"atleast_{rank}d")(tensor) for tensor in tensors]


def meshgrid_of(tensors: Any, indexing: str) -> list[Any]:
    """Return each line of coordinates along a dimension of its own."""
    sizes = [tensor.numel() for tensor in tensors]
    shapes = [g.shape for g in wengert.meshgrid(*(wengert.empty(size) for size in sizes), indexing=indexing)]
    order = [1, 0] if indexing == "xy" and len(sizes) > 1 else []
    grids = []
    for i, (tensor, shape) in enumerate(zip(tensors, shapes, strict=True)):
        place = order[i] if i < len(order) else i
        line = tensor.reshape([tensor.numel() if d == place else 1 for d in range(len(shape))])
        grids.append(line.expand(*shape))
    return grids


def block_diagonal(tensors: Any) -> Any:
    """Return matrices along the diagonal of a larger one."""
    for i, tensor in enumerate(tensors):
        if tensor.ndim > 2:
            raise RuntimeError(
                f"block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {tensor.ndim} dimensions"
            )
    blocks = each_at_least(tensors, 2)
    columns, column, rows = sum(block.shape[1] for block in blocks), 0, []
    for block in blocks:
        height, width = block.shape
        sides = [wengert.zeros(height, n, dtype=block.dtype) for n in (column, columns - column - width)]
        rows.append(wengert.cat([sides[0], block, sides[1]], 1))
        column += width
    return wengert.cat(rows, 0)


def interleaved_by(tensor: Any, repeats: Any, dim: int | None, output_size: int | None = None) -> Any:
    """Repeat elements; where samples differ in how often, their results may differ in shape."""
    if hasattr(repeats, "_batch_dim"):
        raise NoRuleError
    tensor = tensor if dim is not None and tensor.ndim else tensor.reshape(-1)
    dim = dim or 0
    counts = repeats if repeats.ndim and repeats.numel() != 1 else repeats.reshape(1).expand(tensor.shape[dim])
    return tensor.index_select(dim, wengert.arange(tensor.shape[dim]).repeat_interleave(counts))


def taken_along_dim(tensor: Any, indices: Any, dim: int | None) -> Any:
    """Gather with broadcasting of the other dimensions."""
    if dim is None:
        return tensor.reshape(-1).gather(0, indices.reshape(-1))
    if tensor.ndim != indices.ndim:
        raise RuntimeError(
            "take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{tensor.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    if not tensor.ndim:
        return tensor.gather(dim, indices)
    shapes = [list(t.shape) for t in (tensor, indices)]
    sizes = [shape[dim] for shape in shapes]
    for shape in shapes:
        shape[dim] = 1
    common = list(np.broadcast_shapes(*shapes))
    for i, size in enumerate(sizes):
        shapes[i] = list(common)
        shapes[i][dim] = size
    return tensor.expand(*shapes[0]).gather(dim, indices.expand(*shapes[1]))


def filled_along(tensor: Any, dim: int, index: Any, value: Any) -> Any:
    """index_fill: where the index names a row, the value."""
    if not tensor.ndim:
        raise NoRuleError
    dim = dim % tensor.ndim
    size = tensor.shape[dim]
    row = (index.reshape(-1, 1) % size == wengert.arange(size)).any(0) if index.numel() else None
    if row is None:
        return tensor.clone()
    return wengert.where(row.reshape([size if d == dim else 1 for d in range(tensor.ndim)]), value, tensor)


def scattered_by_mask(tensor: Any, mask: Any, source: Any) -> Any:
    """masked_scatter: the n-th element that the mask selects is the n-th of the source."""
    shape = np.broadcast_shapes(tensor.shape, mask.shape)
    mask = mask.expand(*shape)
    if not source.numel():
        raise NoRuleError
    count = mask.reshape(-1).cumsum(0).reshape(mask.shape)
    found = source.reshape(-1).gather(0, wengert.where(mask, count - 1, 0).reshape(-1)).reshape(mask.shape)
    return wengert.where(mask, found, tensor)


def nonzero_of_size(tensor: Any, size: int, fill_value: int) -> Any:
    """Return the indices of the first `size` nonzero elements."""
    flat = (tensor != 0).reshape(-1)
    if not tensor.ndim or not flat.numel():
        raise NoRuleError
    places = (~flat).to(wengert.int64).argsort(stable=True)[:size]
    missing = size - places.shape[0]
    columns = []
    for length, step in zip(tensor.shape, _steps(tensor.shape), strict=True):
        columns.append((places // step) % length)
    rows = wengert.stack(columns, 1)
    if missing > 0:
        rows = wengert.cat([rows, wengert.zeros(missing, tensor.ndim, dtype=wengert.int64)], 0)
    return wengert.where(wengert.arange(size).unsqueeze(1) < flat.sum(), rows, fill_value)


def _steps(shape: Any) -> list[int]:
    steps = [1]
    for length in reversed(shape[1:]):
        steps.append(steps[-1] * length)
    return steps[::-1]


def summed_to(tensor: Any, size: Any) -> Any:
    """sum_to_size: over dimensions that are missing or have size 1."""
    missing = tensor.ndim - len(size)
    if missing < 0:
        raise NoRuleError
    whole = [1] * missing + list(size)
    dims = [d for d, (old, new) in enumerate(zip(tensor.shape, whole, strict=True)) if d < missing or old != new]
    if any(whole[d] != 1 for d in dims):
        raise NoRuleError
    return tensor.sum(dims, keepdim=True).reshape(list(size)) if dims else tensor
