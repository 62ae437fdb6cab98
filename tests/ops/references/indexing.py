"""Reading and writing at places."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import reference, transposed


def as_index(indices: Any) -> tuple[Any, ...]:
    return tuple(slice(None) if i is None else i for i in indices)


reference("index")(lambda self, indices: self[as_index(indices)])
reference("index_backward")(
    lambda grad_output, sizes, indices: transposed(lambda x: x[as_index(indices)], grad_output, sizes)
)


@reference("index_put")
def index_put(self: np.ndarray, indices: Any, values: Any, accumulate: bool = False) -> np.ndarray:
    out = self.copy()
    if accumulate:
        np.add.at(out, as_index(indices), values)
    else:
        out[as_index(indices)] = values
    return out


reference("index_select")(lambda self, dim, index: np.take(self, index, dim))
reference("index_select_backward")(
    lambda grad_output, sizes, dim, index: transposed(lambda x: np.take(x, index, dim), grad_output, sizes)
)


def with_rows(self: np.ndarray, dim: int, index: Any, update: Any) -> np.ndarray:
    """`update(row, i)` for each place of the index in turn, i counting them."""
    out = np.moveaxis(self.copy(), dim, 0)
    for i, place in enumerate(index):
        out[place] = update(out[place], i)
    return np.moveaxis(out, 0, dim)


@reference("index_add")
def index_add(self: Any, dim: int, index: Any, source: Any, alpha: complex = 1) -> np.ndarray:
    return with_rows(self, dim, index, lambda row, i: row + alpha * np.take(source, i, dim))


@reference("index_copy")
def index_copy(self: Any, dim: int, index: Any, source: Any) -> np.ndarray:
    return with_rows(self, dim, index, lambda row, i: np.take(source, i, dim))


@reference("index_fill", "index_fill_tensor")
def index_fill(self: Any, dim: int, index: Any, value: Any) -> np.ndarray:
    return with_rows(self, dim, index, lambda row, i: value)


COMBINE = {"sum": np.add, "add": np.add, "prod": np.multiply, "multiply": np.multiply, "mean": np.add,
           "amax": np.maximum, "amin": np.minimum}  # fmt: skip


def reduced_at(self: np.ndarray, places: list[Any], values: list[Any], reduce: str, include_self: bool) -> np.ndarray:
    """`values` combined at `places`, with what is there or without."""
    out, counts = self.copy(), np.full(self.shape, int(include_self))
    for place, value in zip(places, values, strict=True):
        is_first = not include_self and np.all(counts[place] == 0)
        out[place] = value if is_first else COMBINE[reduce](out[place], value)
        counts[place] += 1
    return out / np.maximum(counts, 1) if reduce == "mean" else out


def scattered(dim: int, index: np.ndarray) -> list[tuple[int, ...]]:
    """Where each element of an index goes."""
    places = []
    for at in np.ndindex(index.shape):
        place = list(at)
        place[dim] = index[at]
        places.append(tuple(place))
    return places


@reference("index_reduce")
def index_reduce(self: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool = True) -> np.ndarray:
    places = [(slice(None),) * dim + (i,) for i in index]
    values = [np.take(source, i, dim) for i in range(len(index))]
    return reduced_at(self, places, values, reduce, include_self)


@reference("scatter_reduce", "scatter_reduce_with")
def scatter_reduce(self: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool = True) -> np.ndarray:
    values = [src[at] for at in np.ndindex(index.shape)]
    return reduced_at(self, scattered(dim, index), values, reduce, include_self)


@reference("scatter_add")
def scatter_add(self: Any, dim: int, index: Any, src: Any) -> np.ndarray:
    return scatter_reduce(self, dim, index, src, "sum")


@reference("scatter")
def scatter(self: Any, dim: int, index: Any, src: Any) -> np.ndarray:
    out = self.copy()
    for place, at in zip(scattered(dim, index), np.ndindex(index.shape), strict=True):
        out[place] = src[at]
    return out


reference("scatter_value")(lambda self, dim, index, value: scatter(self, dim, index, np.full(index.shape, value)))


def gathered(x: np.ndarray, dim: int, index: np.ndarray) -> np.ndarray:
    return np.array([x[place] for place in scattered(dim, index)]).reshape(index.shape)


reference("gather")(lambda self, dim, index: gathered(self, dim, index))
reference("gather_backward")(
    lambda grad_output, sizes, dim, index: transposed(lambda x: gathered(x, dim, index), grad_output, sizes)
)
reference("take_along_dim")(lambda self, indices, dim=None: np.take_along_axis(self, indices, dim))
reference("take")(lambda self, index: np.take(self, index))
reference("take_backward")(
    lambda grad_output, sizes, index: transposed(lambda x: np.take(x, index), grad_output, sizes)
)


@reference("put")
def put(self: np.ndarray, index: Any, source: Any, accumulate: bool = False) -> np.ndarray:
    flat = self.reshape(-1).copy()
    for i, value in zip(index, source, strict=True):
        flat[i] = flat[i] + value if accumulate else value
    return flat.reshape(self.shape)


# --- Masks
def selected(x: np.ndarray, mask: np.ndarray) -> np.ndarray:
    x, mask = np.broadcast_arrays(x, mask)
    return x[mask]


reference("masked_select")(lambda self, mask: selected(self, mask))
reference("masked_select_backward")(
    lambda grad_output, sizes, mask: transposed(lambda x: selected(x, mask), grad_output, sizes)
)


def masked_scattered(self: np.ndarray, mask: np.ndarray, source: np.ndarray) -> np.ndarray:
    out = np.array(self, dtype=np.result_type(self, source))
    out[mask] = source.reshape(-1)[: mask.sum()]
    return out


reference("masked_scatter")(masked_scattered)
reference("masked_scatter_backward")(
    lambda grad_output, mask, sizes: transposed(
        lambda source: masked_scattered(np.zeros(mask.shape), mask, source), grad_output, sizes
    )
)
reference("argwhere", "nonzero")(lambda self: np.argwhere(self))
reference("nonzero_tuple", "nonzero_numpy")(
    lambda self, as_tuple=True: list(np.nonzero(self if self.ndim else self.reshape(1)))
)


@reference("nonzero_static")
def nonzero_static(self: np.ndarray, size: int, fill_value: int = -1) -> np.ndarray:
    out = np.full((size, self.ndim), fill_value)
    found = np.argwhere(self)[:size]
    out[: len(found)] = found
    return out


# --- Rows of a table
reference("embedding", "embedding_lookup")(
    lambda weight, indices=None, input=None: weight[indices if input is None else input]
)
reference("one_hot")(lambda self, num_classes=-1: np.eye(max(num_classes, self.max() + 1), dtype=np.int64)[self])


@reference("embedding_backward")
def embedding_backward(
    grad_output: Any, indices: Any, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> np.ndarray:
    out = np.zeros((num_weights, grad_output.shape[-1]), grad_output.dtype)
    for row, i in zip(grad_output, indices, strict=True):
        if i != padding_idx:
            out[i] += row / (np.sum(indices == i) if scale_grad_by_freq else 1)
    return out


def named_by_bags(indices: np.ndarray, offsets: np.ndarray, padding_idx: int) -> np.ndarray:
    """[bags, indices]: whether an index is in a bag."""
    at = np.arange(len(indices))
    inside = (offsets[:-1, None] <= at) & (at < offsets[1:, None])
    return inside & (indices != padding_idx)


@reference("bag_sums")
def bag_sums(
    weight: np.ndarray, factors: np.ndarray, indices: np.ndarray, offsets: np.ndarray, padding_idx: int, **flags: bool
) -> np.ndarray:
    return named_by_bags(indices, offsets, padding_idx) @ (factors[:, None] * weight[indices])


@reference("bag_rows")
def bag_rows(
    grad_output: np.ndarray,
    factors: np.ndarray,
    indices: np.ndarray,
    offsets: np.ndarray,
    num_weights: int,
    padding_idx: int,
    **flags: bool,
) -> np.ndarray:
    of_rows = np.arange(num_weights)[:, None] == indices
    return of_rows @ (factors[:, None] * (named_by_bags(indices, offsets, padding_idx).T @ grad_output))


@reference("bag_dots")
def bag_dots(
    grad_output: np.ndarray,
    weight: np.ndarray,
    indices: np.ndarray,
    offsets: np.ndarray,
    padding_idx: int,
    **flags: bool,
) -> np.ndarray:
    of_bags = named_by_bags(indices, offsets, padding_idx).T @ grad_output
    return np.asarray((of_bags * weight[indices]).sum(1))


@reference("bag_maxima")
def bag_maxima(weight: np.ndarray, indices: np.ndarray, offsets: np.ndarray, padding_idx: int) -> np.ndarray:
    bags = [indices[named] for named in named_by_bags(indices, offsets, padding_idx)]
    none = np.full(weight.shape[1], -1)
    return np.stack([bag[weight[bag].argmax(0)] if len(bag) else none for bag in bags])


@reference("embedding_bag")
def embedding_bag(
    input: np.ndarray,
    weight: np.ndarray,
    offsets: Any = None,
    mode: str = "mean",
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> np.ndarray:
    if offsets is None:
        bags = list(input)
    else:
        ends = [*offsets[1:], len(input)] if not include_last_offset else list(offsets[1:])
        bags = [input[a:b] for a, b in zip(offsets, ends, strict=False)]
    rows, done = [], 0
    for bag in bags:
        kept = [i for i in bag if i != padding_idx]
        scale = np.ones(len(bag)) if per_sample_weights is None else per_sample_weights[done : done + len(bag)]
        done += len(bag)
        values = weight[kept] * scale[: len(kept), None]
        combine = {"mean": np.mean, "sum": np.sum, "max": np.max}[mode]
        rows.append(combine(values, axis=0) if len(kept) else np.zeros(weight.shape[1], weight.dtype))
    return np.stack(rows)


reference("unravel_index")(lambda indices, shape: np.unravel_index(indices, tuple(shape)))
