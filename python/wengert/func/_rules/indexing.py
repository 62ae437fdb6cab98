"""Indexing, gathering and scattering.

``x[...]`` is read here as the compiled code reads it: views for ints, slices, None and Ellipsis, then one operation for
the tensors. An index that differs between samples, and a mask that is the same for all, become one index of the batch:
tensors with a dimension in front, beside an arange that counts samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert
from wengert._C import Tensor

from .._batch import Batch, NoRuleError
from .._compositions.arrangement import filled_along
from .._operations import Operation, operations
from ._registry import handles, rule
from .dims import shifted
from .memory import batched_memory

_MASK = (
    "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over "
    "indexing with a "
    "boolean mask: each sample would select another number of elements. Use wengert.where(mask, x, other)."
)


def _index_vectors(indices: list[Any], batch: Batch) -> list[Any]:
    """Return the indices with masks replaced by the positions they select.

    Raises
    ------
    RuntimeError
        If a mask differs between samples.
    """
    found: list[Any] = []
    for index in indices:
        if isinstance(index, Tensor) and index.dtype in (wengert.bool, wengert.uint8):
            if batch.has(index):
                raise RuntimeError(_MASK)
            found += [index.nonzero()[:, d] for d in range(index.ndim)]
        else:
            found.append(index)
    return found


def _batched_index(tensor: Any, indices: list[Any], batch: Batch) -> tuple[Any, list[Any], int]:
    """Return the batch, its indices, and the rank that the index tensors of one sample broadcast to.

    The indexed dimensions come first behind the batch where they are not neighbours, as their result does.
    """
    indices = _index_vectors(indices, batch)
    value = batch.expanded(tensor)
    places = [place for place, index in enumerate(indices) if index is not None]
    given = [indices[place] for place in places]
    rank = max(index.ndim for index in given)
    if places != list(range(places[0], places[-1] + 1)):
        others = [d for d in range(tensor.ndim) if d not in places]
        value = value.permute(0, *(d + 1 for d in (*places, *others)))
        places = list(range(len(given)))
    prefix: list[Any] = [None] * (places[0] + 1)
    if any(batch.has(index) for index in given):
        if places[0]:  # the counter of samples must stand beside the indices
            value = value.movedim(list(range(places[0] + 1, places[-1] + 2)), list(range(1, len(places) + 1)))
        counter = wengert.arange(batch.size).reshape(batch.size, *[1] * rank)
        return value, [counter, *(batch.aligned(index, rank) for index in given)], rank
    return value, [*prefix, *given], rank


def _moved_back(result: Any, tensor_places: int, rank: int) -> Any:
    """Move the dimensions of the indices from the front to where the indexed dimensions were."""
    if not tensor_places:
        return result
    return result.movedim(list(range(1, rank + 1)), list(range(tensor_places + 1, tensor_places + rank + 1)))


def _first_place(indices: list[Any]) -> int:
    """Return where the result of neighbouring indices stands; 0 if they are no neighbours."""
    places = [place for place, index in enumerate(indices) if index is not None]
    return places[0] if places == list(range(places[0], places[-1] + 1)) else 0


@rule
def gathered(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """``index``: tensors in place of dimensions."""
    tensor, indices = values["self"], _index_vectors(list(values["indices"]), batch)
    if all(index is None for index in indices):
        return tensor
    value, index, rank = _batched_index(tensor, indices, batch)
    result = _index(value, index)
    if any(batch.has(i) for i in indices):
        result = _moved_back(result, _first_place(indices), rank)
    return batch.wrap(result)


def _index(value: Any, indices: list[Any]) -> Any:
    return value[tuple(slice(None) if index is None else index for index in indices)]


@rule
def scattered(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """``index_put``: values into the places that tensors name."""
    tensor, indices, source = values["self"], _index_vectors(list(values["indices"]), batch), values["values"]
    target = batch.expanded(tensor).clone()
    _put(target, tensor.ndim, indices, source, op.get(values, "accumulate"), batch)
    return batch.wrap(target)


def _put(target: Any, rank: int, indices: list[Any], source: Any, accumulate: bool, batch: Batch) -> None:
    """Write into a batch, in place: the indexed dimensions in front, and the source's beside them."""
    places = [place for place, index in enumerate(indices) if index is not None]
    given = [indices[place] for place in places]
    others = [d for d in range(rank) if d not in places]
    index_rank = max(index.ndim for index in given)
    view = target.permute(0, *(d + 1 for d in (*places, *others)))
    first = _first_place(indices)
    full = index_rank + len(others)
    value = batch.aligned(source, full)
    if not batch.has(source):
        value = source.reshape(*[1] * (full - source.ndim), *source.shape) if source.ndim < full else source
        value = value.expand(batch.size, *value.shape)
    if first:  # the dimensions of the indices stand behind `first` others in the source
        value = value.movedim(list(range(first + 1, first + index_rank + 1)), list(range(1, index_rank + 1)))
    counter = wengert.arange(batch.size).reshape(batch.size, *[1] * index_rank)
    indices = [counter, *(batch.aligned(index, index_rank) for index in given)]
    view.index_put_(indices, value.to(view.dtype), accumulate)


# --- Along one dimension
@rule
def selected(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """index_select: the same elements of a dimension in all samples, or others in each."""
    tensor, dim, index = values["self"], values["dim"], values["index"]
    if not tensor.ndim:
        raise NoRuleError
    dim = shifted(dim, tensor.ndim)
    if not batch.has(index):
        return batch.wrap(op.function(batch.front(tensor), dim, index))
    return gathered(op, {"self": tensor, "indices": [*[None] * (dim - 1), index.reshape(-1)]}, batch)


@rule
def along(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """gather, scatter and their like: all tensors have the rank of the first, the batch is one more dimension."""
    named = [a.name for a in op.tensors if isinstance(values.get(a.name), Tensor)]
    rank = values[named[0]].ndim
    new = {**values, **{name: batch.expanded(values[name]) for name in named}}
    if any(values[name].ndim == 0 for name in named):
        new.update({name: new[name].reshape(batch.size, -1) for name in named})
    new["dim"] = shifted(values["dim"], rank)
    result = op.call(new)
    if rank == 0 and values[named[-1]].ndim == 0:
        result = result.reshape(batch.size)
    return batch.wrap(result)


@rule
def rows_along(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """index_add, index_copy and index_fill: one index for all samples moves back by a dimension."""
    tensor = values["self"]
    if not tensor.ndim:
        raise NoRuleError
    if batch.has(values["index"]):
        return _rows_of_each(op, values)
    new = {**values, "self": batch.expanded(tensor), "dim": shifted(values["dim"], tensor.ndim)}
    if isinstance(values.get("source"), Tensor):
        source = values["source"]
        new["source"] = batch.expanded(source) if source.ndim else batch.expanded(source).unsqueeze(1)
    if batch.has(values.get("value")):
        raise NoRuleError
    return batch.wrap(op.call(new))


def _rows_of_each(op: Operation, values: dict[str, Any]) -> Any:
    """An index for each sample: several values are put where it says, one value where it names a row."""
    tensor, dim, index = values["self"], values["dim"] % values["self"].ndim, values["index"].reshape(-1)
    if "value" in values:
        return filled_along(tensor, dim, index, values["value"])
    source = values["source"]
    if not source.ndim or source.ndim != tensor.ndim:
        raise NoRuleError
    if "reduce" in op.by_name:
        size = [-1 if d == dim else n for d, n in enumerate(source.shape)]
        places = index.reshape([-1 if d == dim else 1 for d in range(source.ndim)]).expand(*size)
        how = {"reduce": values["reduce"], "include_self": op.get(values, "include_self")}
        return operations()["scatter_reduce"](tensor, dim, places, source, **how)
    adds = "alpha" in op.by_name
    source = source * op.get(values, "alpha") if adds else source
    return operations()["index_put"](tensor, [*[None] * dim, index], source, accumulate=adds)


@rule
def embedded(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """Rows of one matrix, or of a matrix for each sample."""
    weight, indices = values["weight"], values["indices"]
    if not batch.has(weight):
        return batch.wrap(op.call({**values, "indices": batch.front(indices)}))
    count, width = weight.shape
    padding = op.get(values, "padding_idx")
    if padding not in (-1, None):
        raise NoRuleError
    rows = wengert.arange(batch.size) * count
    offset = batch.expanded(indices) + rows.reshape(batch.size, *[1] * indices.ndim)
    return batch.wrap(op.call({**values, "weight": batch.front(weight).reshape(-1, width), "indices": offset}))


# --- x[...] and x[...] = v
class _Reader:
    """What an index is read into: a view, and a tensor or None for each of its dimensions."""

    def __init__(self, tensor: Any, index: Any) -> None:
        items = list(index) if isinstance(index, tuple) else [index]
        items = [self._converted(item) for item in items]
        used = sum(map(self._consumed, items))
        if used > tensor.ndim:
            raise IndexError(f"too many indices for tensor of dimension {tensor.ndim}")
        self.view = tensor
        self.gathers: list[Any] = []
        self.reversed: list[int] = []  # dimensions of `view` that the index runs backwards through
        self._dim = 0
        whole = tensor.ndim - used
        for item in items:
            if item is Ellipsis:
                self._dim, whole = self._dim + whole, 0
            else:
                self._read(item)

    @staticmethod
    def _converted(item: Any) -> Any:
        if isinstance(item, (np.ndarray, list, tuple)):
            return wengert.as_tensor(np.asarray(item)) if not isinstance(item, Tensor) else item
        return item.__index__() if isinstance(item, np.integer) else item

    @staticmethod
    def _consumed(item: Any) -> int:
        if item is None or item is Ellipsis or isinstance(item, bool):
            return 0
        if isinstance(item, Tensor) and item.dtype in (wengert.bool, wengert.uint8):
            return item.ndim
        return 1

    def _read(self, item: Any) -> None:
        if item is None:
            self.view = self.view.unsqueeze(self._dim)
            self._dim += 1
        elif isinstance(item, slice):
            self._slice(item)
        elif isinstance(item, bool):
            self.view = self.view.unsqueeze(self._dim)
            self._gather(wengert.tensor([item]), 1)
        elif isinstance(item, Tensor):
            self._gather(item, max(self._consumed(item), 0))
        else:
            self.view = self.view.select(self._dim, item)

    def _slice(self, item: slice) -> None:
        start, stop, step = item.indices(self.view.shape[self._dim])
        if step < 0:  # the same elements in forward order, and then reversed
            start, stop, step = _forwards(range(start, stop, step))
            self.reversed.append(self._dim)
        if (start, stop, step) != (0, self.view.shape[self._dim], 1):
            whole = (slice(None),)
            self.view = _slice_along(self.view, self._dim, start, max(stop, start), step, whole)
        self._dim += 1

    def _gather(self, index: Any, dims: int) -> None:
        while sum(1 if g is None else max(self._consumed(g), 1) for g in self.gathers) < self._dim:
            self.gathers.append(None)
        if index.dtype in (wengert.bool, wengert.uint8) and index.ndim == 0:
            raise NoRuleError
        self.gathers.append(index)
        self._dim += dims


def _forwards(places: range) -> tuple[int, int, int]:
    """Return start, stop and step of the same places in forward order."""
    return (places[-1], places[0] + 1, -places.step) if places else (0, 0, 1)


def _slice_along(tensor: Any, dim: int, start: int, stop: int, step: int, whole: Any) -> Any:
    if hasattr(tensor, "_batch_dim"):
        moved = tensor._value.movedim(tensor._batch_dim, 0)
        return type(tensor).wrap(_slice_along(moved, dim + 1, start, stop, step, whole), 0, tensor._level)
    return tensor[(*whole * dim, slice(start, stop, step))]


@handles(Tensor.__getitem__)
def get_item(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch) -> Any:
    """``x[index]``."""
    tensor, index = args
    reader = _Reader(tensor, index)
    view = reader.view.flip(reader.reversed) if reader.reversed else reader.view
    if not reader.gathers:
        return view
    return gathered(operations()["index"], {"self": view, "indices": reader.gathers}, batch)


@handles(Tensor.__setitem__)
def set_item(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch) -> Any:
    """``x[index] = value``."""
    tensor, index, value = args
    view = batched_memory(tensor, batch)
    reader = _Reader(view, index)
    view = reader.view
    if not isinstance(value, Tensor):
        value = wengert.as_tensor(value, dtype=view.dtype)
    gathers = _index_vectors(reader.gathers, batch)
    if gathers and reader.reversed:
        raise IndexError("an assignment takes no negative steps beside tensors, lists or masks")
    if not gathers:
        while value.ndim > view.ndim and value.shape[0] == 1:
            value = value.select(0, 0)
        if own := [
            d - view.ndim for d in reader.reversed if view.ndim - d <= value.ndim and value.shape[d - view.ndim] > 1
        ]:
            value = value.flip(own)
        view.copy_(value)
    else:
        _put(batch.front(view), view.ndim, gathers, value, False, batch)
    return None
