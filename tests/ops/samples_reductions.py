"""Samples of reductions, scans and sorting. Importing it registers them, see samples.py."""

from __future__ import annotations

import numpy as np

from .samples import Arguments, Entry, Maker, integers, samples, with_self


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
