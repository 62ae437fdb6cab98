"""Samples of reductions, scans, sorting, shapes and indexing. Importing it registers them, see samples.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from .samples import Entry, Maker, Sample, samples

Arguments = dict[str, Any]


def with_self(tensor: np.ndarray, *arguments: Arguments) -> list[Arguments]:
    return [{"self": tensor, **a} for a in arguments]


def integers(*values: Any) -> np.ndarray:
    return np.array(values, dtype=np.int64)


# --- Reductions
@samples("reduction_dims")
def reduction_dims(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {}, {"dim": [1]}, {"dim": [0, -1]})


@samples("product")
def product(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.tensor(2, 3)
    zeros = x.copy()
    zeros[0, 1] = zeros[1, 0] = zeros[1, 2] = 0
    return [
        *with_self(x, {}, {"dim": [1], "keepdim": True}),
        *with_self(zeros, {}, {"dim": [1]}, {"dim": [0, 1]}),
        {"self": zeros[0], "dim": [0]},
        {"self": make.tensor()},
    ]


@samples("distinct_tensor")
def distinct_tensor(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.distinct(2, 3)}, {"self": make.distinct()}]


@samples("two_distinct")
def two_distinct(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.distinct(6)
    return [{"self": x[:3], "other": x[3:]}]


@samples("along_dim")
def along_dim(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.distinct(2, 3)
    return with_self(x, {"dim": 1}, {"dim": 0, "keepdim": True}, {"dim": -1})


@samples("distinct_reduction")
def distinct_reduction(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.distinct(2, 3), {}, {"dim": [1]}, {"dim": [0, 1], "keepdim": True})


@samples("moments")
def moments(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {}, {"dim": [1], "correction": 0.0}, {"dim": [0, 1], "keepdim": True})


@samples("unbiased")
def unbiased(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"unbiased": False}, {"unbiased": True})


@samples("dim_unbiased")
def dim_unbiased(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(
        make.tensor(2, 3), {"dim": [1], "unbiased": False}, {"dim": [0], "unbiased": True, "keepdim": True}
    )


@samples("vector_norm")
def vector_norm(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.distinct(2, 3) + (0.4j if make.is_complex else 0.05)
    orders = [{"ord": o} for o in (2.0, 1.0, 3.0, 0.5, -1.0, float("inf"), float("-inf"))]
    return with_self(x, {}, *orders, {"ord": 2.0, "dim": [1]}, {"ord": 3.0, "dim": [0], "keepdim": True})


@samples("norm")
def norm(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {}, {"p": 3.0, "dim": [1]}, {"p": 1.0})


@samples("norm_name")
def norm_name(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"p": "fro"}, {"p": "fro", "dim": [1]})


@samples("linalg_norm")
def linalg_norm(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.distinct(2, 3) + (0.4j if make.is_complex else 0.05)
    return with_self(x, {}, {"ord": 1.0}, {"ord": 3.0, "dim": [1]}, {"ord": float("inf")})


@samples("linalg_norm_name")
def linalg_norm_name(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"ord": "fro"})


@samples("matrix_norm")
def matrix_norm(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.distinct(2, 3) + (0.4j if make.is_complex else 0.05)
    return with_self(x, {"ord": 1.0}, {"ord": float("-inf"), "dim": [1, 0], "keepdim": True})


@samples("matrix_norm_name")
def matrix_norm_name(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 2, 2), {}, {"ord": "fro", "dim": [0, 2]})


@samples("dist")
def dist(make: Maker, entry: Entry) -> list[Arguments]:
    x, y = make.tensor(2, 3), make.tensor(3)
    return [{"self": x, "other": y}, {"self": x, "other": y, "p": 3.0}]


@samples("logsumexp")
def logsumexp(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"dim": [1]}, {"dim": [0, 1], "keepdim": True})


@samples("quantile")
def quantile(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(
        make.distinct(2, 3), {"q": 0.3}, {"q": 0.8, "dim": 1, "keepdim": True}, {"q": 0.3, "interpolation": "midpoint"}
    )


@samples("quantiles")
def quantiles(make: Maker, entry: Entry) -> list[Arguments]:
    q = np.array([0.23, 0.87])
    return with_self(make.distinct(2, 3), {"q": q}, {"q": q, "dim": 0, "keepdim": True})


@samples("trapezoid")
def trapezoid(make: Maker, entry: Entry) -> list[Arguments]:
    y = make.tensor(2, 3)
    return [{"y": y}, {"y": y, "x": np.sort(make.real(3))}, {"y": y, "dx": 0.5, "dim": 0}]


# --- Scans and sorting
@samples("scan")
def scan(make: Maker, entry: Entry) -> list[Arguments]:
    return [*with_self(make.tensor(2, 3), {"dim": 0}, {"dim": -1}), {"self": make.tensor(), "dim": 0}]


@samples("cumprod")
def cumprod(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.tensor(2, 3)
    zeros = x.copy()
    zeros[0, 1] = zeros[1, 0] = zeros[1, 2] = 0
    return [*with_self(x, {"dim": 0}, {"dim": 1}), {"self": zeros, "dim": 1}, {"self": make.tensor(), "dim": 0}]


@samples("distinct_scan")
def distinct_scan(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.distinct(2, 3), {"dim": 0}, {"dim": 1})


@samples("diff")
def diff(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.tensor(2, 3)
    return with_self(x, {}, {"n": 2}, {"dim": 0, "prepend": make.tensor(1, 3), "append": make.tensor(1, 3)})


@samples("sort")
def sort(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.distinct(2, 3), {}, {"dim": 0, "descending": True})


@samples("topk")
def topk(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.distinct(2, 3), {"k": 2}, {"k": 1, "dim": 0, "largest": False})


@samples("kthvalue")
def kthvalue(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.distinct(2, 3), {"k": 2}, {"k": 1, "dim": 0, "keepdim": True})


@samples("unique")
def unique(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(np.array([2.0, 1.0, 2.0]), {}, {"return_inverse": True, "return_counts": True})


@samples("unique_along")
def unique_along(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(np.array([[2.0, 1.0], [2.0, 1.0]]), {"dim": 0})


@samples("searchsorted")
def searchsorted(make: Maker, entry: Entry) -> list[Arguments]:
    return [
        {"sorted_sequence": np.array([1.0, 2.0, 3.0]), "self": np.array([0.5, 2.0]), "right": r} for r in (False, True)
    ]


@samples("searchsorted_scalar")
def searchsorted_scalar(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"sorted_sequence": np.array([1.0, 2.0, 3.0]), "self": 2.5}]


@samples("bucketize")
def bucketize(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": np.array([0.5, 2.0]), "boundaries": np.array([1.0, 2.0, 3.0])}]


@samples("nonzero_tuple")
def nonzero_tuple(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "as_tuple": True}]


@samples("histc")
def histc(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(5), "bins": 3, "min": -1, "max": 1}]


@samples("bincount")
def bincount(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": integers(0, 2, 2)}, {"self": integers(0, 2, 2), "weights": make.real(3)}]


# --- Views
@samples("matrix")
def matrix(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3)}]


@samples("squeeze")
def squeeze(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 1, 3)}, {"self": make.tensor(1)}]


@samples("squeeze_dim")
def squeeze_dim(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 1, 3), {"dim": 1}, {"dim": 0})


@samples("squeeze_dims")
def squeeze_dims(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(1, 2, 1), {"dim": [0, 2]}, {"dim": [0, 1]})


@samples("view")
def view(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"size": [3, 2]}, {"size": [-1]}, {"size": [1, 6]})


@samples("view_dtype")
def view_dtype(make: Maker, entry: Entry) -> list[Arguments]:
    import wengert

    return [{"self": make.real(2), "dtype": wengert.int64}]


@samples("diagonal")
def diagonal(make: Maker, entry: Entry) -> list[Arguments]:
    return [*with_self(make.tensor(2, 3), {}, {"offset": 1}), {"self": make.tensor(2, 1, 2), "dim1": 0, "dim2": 2}]


@samples("diagonal_backward")
def diagonal_backward(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"grad_output": make.tensor(2), "sizes": [2, 3], "offset": 1, "dim1": 0, "dim2": 1}]


@samples("unfold")
def unfold(make: Maker, entry: Entry) -> list[Arguments]:
    return [
        {"self": make.tensor(5), "dimension": 0, "size": 2, "step": 1},
        {"self": make.tensor(2, 4), "dimension": 1, "size": 2, "step": 2},
    ]


@samples("unfold_backward")
def unfold_backward(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"grad_output": make.tensor(3, 2), "sizes": [4], "dimension": 0, "size": 2, "step": 1}]


@samples("split")
def split(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"split_size": 2, "dim": 1}, {"split_size": 1})


@samples("split_sizes")
def split_sizes(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"split_size": [1, 2], "dim": 1})


@samples("split_with_sizes")
def split_with_sizes(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"split_sizes": [1, 2], "dim": 1})


@samples("chunk")
def chunk(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"chunks": 2, "dim": 1}, {"chunks": 2})


@samples("tensor_split")
def tensor_split(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"sections": 2, "dim": 1})


@samples("tensor_split_indices")
def tensor_split_indices(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"indices": [1, 2], "dim": 1})


@samples("meshgrid")
def meshgrid(make: Maker, entry: Entry) -> list[Arguments]:
    lines = [make.tensor(2), make.tensor(3)]
    return [{"tensors": lines}, {"tensors": lines, "indexing": "xy"}]


@samples("tensor_list")
def tensor_list(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"tensors": [make.tensor(2), make.tensor(2)]}, {"tensors": [make.tensor(2, 2), make.tensor(2, 2)]}]


@samples("expand_as")
def expand_as(make: Maker, entry: Entry) -> list[Sample]:
    return [Sample({"self": make.tensor(2, 1), "other": make.tensor(2, 3)}, frozenset({"other"}))]


@samples("view_as")
def view_as(make: Maker, entry: Entry) -> list[Sample]:
    return [Sample({"self": make.tensor(2, 3), "other": make.tensor(6)}, frozenset({"other"}))]


@samples("flatten")
def flatten(make: Maker, entry: Entry) -> list[Arguments]:
    return [*with_self(make.tensor(2, 1, 3), {}, {"start_dim": 1}, {"end_dim": 1}), {"self": make.tensor()}]


@samples("unflatten")
def unflatten(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(4), {"dim": 0, "sizes": [2, 2]}, {"dim": -1, "sizes": [-1, 2]})


@samples("swapaxes")
def swapaxes(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"axis0": 0, "axis1": 1})


@samples("movedim")
def movedim(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(
        make.tensor(2, 1, 3), {"source": [0], "destination": [2]}, {"source": [0, 1], "destination": [-1, 0]}
    )


@samples("narrow")
def narrow(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"dim": 1, "start": 1, "length": 2}, {"dim": 0, "start": -1, "length": 1})


# --- Rearranging
@samples("cat")
def cat(make: Maker, entry: Entry) -> list[Arguments]:
    return [
        {"tensors": [make.tensor(2), make.tensor(1)]},
        {"tensors": [make.tensor(2, 1), make.tensor(2, 2)], "dim": 1},
    ]


@samples("stack")
def stack(make: Maker, entry: Entry) -> list[Arguments]:
    x = [make.tensor(2), make.tensor(2)]
    return [{"tensors": x}, {"tensors": x, "dim": -1}]


@samples("block_diag")
def block_diag(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"tensors": [make.tensor(1, 2), make.tensor(2), make.tensor()]}]


@samples("repeat")
def repeat(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 1), {"repeats": [1, 2]}, {"repeats": [2, 1, 2]})


@samples("tile")
def tile(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 1), {"dims": [2]}, {"dims": [2, 1, 2]})


@samples("repeat_interleave")
def repeat_interleave(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 2), {"repeats": 2}, {"repeats": 3, "dim": 1})


@samples("repeat_interleave_tensor")
def repeat_interleave_tensor(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 2), {"repeats": integers(1, 2), "dim": 1}, {"repeats": integers(2), "dim": 0})


@samples("flip")
def flip(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"dims": [0]}, {"dims": [0, -1]})


@samples("roll")
def roll(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(
        make.tensor(2, 3), {"shifts": [1], "dims": [1]}, {"shifts": [1, -1], "dims": [0, 1]}, {"shifts": [2]}
    )


@samples("rot90")
def rot90(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {}, {"k": 2}, {"k": -1, "dims": [1, 0]})


@samples("triangle")
def triangle(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {}, {"diagonal": 1}, {"diagonal": -1})


@samples("diag_embed")
def diag_embed(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 2), {}, {"offset": 1, "dim1": 0, "dim2": 2})


@samples("diag")
def diag(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2)}, {"self": make.tensor(2, 3), "diagonal": 1}]


@samples("select_scatter")
def select_scatter(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "src": make.tensor(2), "dim": 1, "index": 2}]


@samples("slice_scatter")
def slice_scatter(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(4), "src": make.tensor(2), "start": 0, "end": 4, "step": 2}]


@samples("diagonal_scatter")
def diagonal_scatter(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "src": make.tensor(2), "offset": 1}]


# --- Indexing
@samples("index")
def index(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.tensor(2, 3)
    lists = [integers(0, 1, 1)], [None, integers(2, 2)], [make.mask(2, 3)], [integers(0, 1), integers(2, 0)]
    return with_self(x, *({"indices": i} for i in lists))


@samples("index_backward")
def index_backward(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"grad_output": make.tensor(2, 3), "sizes": [2, 3], "indices": [integers(1, 1)]}]


@samples("index_put")
def index_put(make: Maker, entry: Entry) -> list[Arguments]:
    x, i = make.tensor(4), [integers(0, 2, 0)]
    return [
        {"self": x, "indices": i, "values": make.tensor(3)},
        {"self": x, "indices": i, "values": make.tensor(1)},
        {"self": x, "indices": i, "values": make.tensor(3), "accumulate": True},
        {"self": make.tensor(2, 2), "indices": [None, integers(1)], "values": make.tensor(2, 1)},
    ]


@samples("index_select")
def index_select(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"dim": 1, "index": integers(0, 2, 0)}, {"dim": 0, "index": integers(1)})


@samples("index_select_backward")
def index_select_backward(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"grad_output": make.tensor(2, 2), "sizes": [2, 3], "dim": 1, "index": integers(0, 0)}]


@samples("index_add")
def index_add(make: Maker, entry: Entry) -> list[Arguments]:
    a = {"self": make.tensor(2, 3), "dim": 1, "index": integers(0, 0), "source": make.tensor(2, 2)}
    return [a, {**a, "alpha": 0.5}]


@samples("index_copy")
def index_copy(make: Maker, entry: Entry) -> list[Arguments]:
    return [
        {"self": make.tensor(2, 3), "dim": 1, "index": integers(*i), "source": make.tensor(2, 2)}
        for i in ((0, 2), (1, 1))
    ]


@samples("index_fill")
def index_fill(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "dim": 1, "index": integers(0, 2), "value": 1.5}]


@samples("index_fill_tensor")
def index_fill_tensor(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "dim": 1, "index": integers(0, 2), "value": make.tensor()}]


@samples("gather", "take_along_dim")
def gather(make: Maker, entry: Entry) -> list[Arguments]:
    name = "indices" if entry["name"] == "take_along_dim" else "index"
    return with_self(
        make.tensor(2, 3), {"dim": 1, name: integers([0, 0], [2, 1])}, {"dim": 0, name: integers([1, 0, 1])}
    )


@samples("gather_backward")
def gather_backward(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"grad_output": make.tensor(2, 2), "sizes": [2, 3], "dim": 1, "index": integers([0, 0], [2, 1])}]


@samples("scatter")
def scatter(make: Maker, entry: Entry) -> list[Arguments]:
    a = {"self": make.tensor(2, 3), "dim": 1, "index": integers([0, 0], [2, 1])}
    return [{**a, "src": make.tensor(2, 2)}, {**a, "src": make.tensor(2, 3)}]


@samples("scatter_value")
def scatter_value(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "dim": 1, "index": integers([0, 0], [2, 1]), "value": 1.5}]


@samples("scatter_with")
def scatter_with(make: Maker, entry: Entry) -> list[Arguments]:
    a = {"self": make.tensor(2, 3), "dim": 1, "index": integers([0, 0], [2, 1]), "src": make.tensor(2, 2)}
    return [{**a, "reduce": r} for r in ("add", "multiply")]


@samples("scatter_reduce")
def scatter_reduce(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.distinct(2, 5) + (0.3j if make.is_complex else 0)
    a = {"self": x[:, :3], "dim": 1, "index": integers([0, 0], [2, 1]), "src": x[:, 3:]}
    reduces = ("sum", "prod", "mean") if make.is_complex else ("sum", "prod", "mean", "amax", "amin")
    return [{**a, "reduce": r, "include_self": i} for r in reduces for i in (True, False)]


@samples("take")
def take(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "index": integers([0, 5], [5, -1])}]


@samples("take_backward")
def take_backward(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"grad_output": make.tensor(2), "sizes": [2, 3], "index": integers(4, 4)}]


@samples("put")
def put(make: Maker, entry: Entry) -> list[Arguments]:
    a = {"self": make.tensor(2, 2), "index": integers(3, 0, 3), "source": make.tensor(3)}
    return [a, {**a, "accumulate": True}]


@samples("masked_select")
def masked_select(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"mask": make.mask(2, 3)}, {"mask": make.mask(3)})


@samples("masked_select_backward")
def masked_select_backward(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"grad_output": make.tensor(3), "sizes": [2, 3], "mask": make.mask(2, 3)}]


@samples("masked_scatter")
def masked_scatter(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "mask": make.mask(2, 3), "source": make.tensor(4)}]


@samples("masked_scatter_backward")
def masked_scatter_backward(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"grad_output": make.tensor(2, 3), "mask": make.mask(2, 3), "sizes": [4]}]


@samples("embedding")
def embedding(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"weight": make.tensor(3, 2), "indices": i} for i in (integers(0, 2, 0), integers([1, 1], [0, 2]))]


@samples("embedding_backward")
def embedding_backward(make: Maker, entry: Entry) -> list[Arguments]:
    a = {"grad_output": make.tensor(3, 2), "indices": integers(0, 2, 0), "num_weights": 3}
    return [{**a, "padding_idx": p, "scale_grad_by_freq": s} for p, s in ((-1, False), (2, False), (-1, True))]


@samples("one_hot")
def one_hot(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": integers(0, 2)}, {"self": integers(0, 2), "num_classes": 4}]
