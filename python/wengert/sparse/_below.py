"""What the core asks for below recording: copies, sums of gradients, and writes to sparse tensors in place.

Nothing is differentiated here; values are taken as they are stored, coalesced or not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import _C

from ._elementwise import add, require_same_shape, without_elements
from ._pattern import COO, Pattern
from ._rules import below
from ._tensor import become, is_sparse, sparse


@below("to_dtype")
def _to_dtype(input: Any, dtype: Any, *args: Any, **kwargs: Any) -> Any:
    return sparse(input._pattern, input._stored.to(dtype))


@below("on_device")
def _on_device(input: Any, device: Any, *args: Any, **kwargs: Any) -> Any:
    return sparse(input._pattern, input._stored.to(device))


@below("detach", "alias", "view")
def _alias(input: Any, *args: Any) -> Any:
    if args and tuple(args[0]) != tuple(input.shape):
        return NotImplemented
    return sparse(input._pattern, input._stored)


@below("clone", "contiguous")
def _clone(input: Any, *args: Any, **kwargs: Any) -> Any:
    return sparse(input._pattern, input._stored.clone())


@below("ones_like")
def _ones_like(input: Any, *args: Any, **kwargs: Any) -> Any:
    return sparse(input._pattern, _C.ones_like(input._stored))


@below("zero_")
def _zero(input: Any) -> Any:
    return become(input, without_elements(input, input.dtype, input.device))


@below("copy_")
def _copy(input: Any, source: Any, *args: Any) -> Any:
    if not is_sparse(input):
        return input.copy_(source.to_dense())
    if not is_sparse(source):
        return NotImplemented
    require_same_shape(input, source)
    return become(input, sparse(source._pattern, source._stored.clone()))


@below("add")
def _sum_of_gradients(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """As `add`; two tensors of coordinates that are not coalesced stay so, one behind the other."""
    if is_sparse(input) and is_sparse(other) and input.layout == other.layout == COO:
        require_same_shape(input, other)
        a, b = input._pattern, other._pattern
        scaled = other._stored if alpha == 1 else other._stored * alpha
        if a is b or (a.layout == COO and a.arrays is b.arrays):
            return sparse(a, input._stored + scaled)
        if not (a.is_coalesced and b.is_coalesced):
            both = tuple(np.concatenate(pair) for pair in zip(a.coordinates, b.coordinates, strict=True))
            joined = sparse(Pattern(COO, a.shape, both, is_private=True), _C.cat([input._stored, scaled]))
            return joined if joined._pattern.nnz <= input.numel() else joined.coalesce()  # it must not grow for ever
    return add(input, other, alpha=alpha)


@below("add_")
def _add_in_place(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    if is_sparse(input):
        return NotImplemented if not is_sparse(other) else become(input, _sum_of_gradients(input, other, alpha=alpha))
    values = other._stored if alpha == 1 else other._stored * alpha
    axes = tuple(axis.to(input.device) for axis in other._pattern.axes)
    input.index_put_(axes, values.to(input.dtype), accumulate=True)
    return input


@below("sum_to_size")
def _sum_to_size(input: Any, size: Any) -> Any:
    if tuple(size) == tuple(input.shape):
        return sparse(input._pattern, input._stored)
    return input.to_dense().sum_to_size(size) if len(size) else input._stored.sum()
