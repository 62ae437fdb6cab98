"""Samples of statistics, sets, histograms, and of rows about the places of elements. Importing it registers them."""

from __future__ import annotations

import numpy as np

from .samples import Arguments, Entry, Maker, integers, samples


# --- Statistics
@samples("cov")
def cov(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.tensor(2, 3)
    return [
        {"self": x},
        {"self": x, "correction": 0, "fweights": integers(1, 3, 2)},
        {"self": x, "fweights": integers(1, 3, 2), "aweights": make.real(3, low=0.5, high=1)},
        {"self": x[0]},
    ]


@samples("corrcoef")
def corrcoef(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 4)}, {"self": make.tensor(3)}]


@samples("renorm")
def renorm(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.tensor(2, 3)
    return [
        {"self": x, "p": 2, "dim": 0, "maxnorm": 1.0},
        {"self": x, "p": 1, "dim": 1, "maxnorm": 1.5},
        {"self": x, "p": 3, "dim": -1, "maxnorm": 100.0},
    ]


@samples("histogram_edges")
def histogram_edges(make: Maker, entry: Entry) -> list[Arguments]:
    edges = np.array([-1.5, 0.0, 0.3, 1.5])
    x = make.tensor(2, 3)
    return [
        {"self": x, "bins": edges},
        {"self": x, "bins": edges, "weight": make.real(2, 3, low=0.1, high=1), "density": True},
        {"self": np.array([0.0, 1.5, np.nan, -1.5, 2.0]), "bins": edges},
    ]


@samples("histogram")
def histogram(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.tensor(2, 3)
    return [
        {"self": x, "bins": 4},
        {"self": x, "bins": 2, "range": [-1.0, 1.0], "density": True},
        {"self": np.ones(3), "bins": 3, "weight": make.real(3, low=0.1, high=1)},
    ]


@samples("histogramdd")
def histogramdd(make: Maker, entry: Entry) -> list[Arguments]:
    edges = [np.array([-2.0, 0.0, 2.0]), np.array([-1.0, -0.5, 0.5, 1.5])]
    points = make.tensor(4, 2)
    return [
        {"self": points, "edges": edges},
        {"self": points, "edges": edges, "weight": make.real(4, low=0.1, high=1), "density": True},
    ]


# --- Sets and comparisons
@samples("isin")
def isin(make: Maker, entry: Entry) -> list[Arguments]:
    return [
        {"elements": integers([1, 2], [3, 4]), "test_elements": integers(2, 3, 7)},
        {"elements": np.array([0.5, np.nan, 2.0]), "test_elements": np.array([[2.0, np.nan]]), "invert": True},
        {"elements": integers(1, 2), "test_elements": 2},
        {"elements": 2, "test_elements": integers(1, 2)},
    ]


@samples("two_tensors")
def two_tensors(make: Maker, entry: Entry) -> list[Arguments]:
    return [
        {"self": make.tensor(2, 3), "other": make.tensor(2, 3)},
        {"self": make.tensor(2, 3), "other": make.tensor(3)},
    ]


@samples("set_to")
def set_to(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "tensor": make.tensor(2, 3)}]


# --- Places
@samples("nonzero_static")
def nonzero_static(make: Maker, entry: Entry) -> list[Arguments]:
    x = np.array([[0.0, 1.0], [2.0, 0.0]])
    return [{"self": x, "size": 3}, {"self": x, "size": 1}, {"self": x, "size": 4, "fill_value": 7}]


@samples("index_reduce")
def index_reduce(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.distinct(2, 6)
    a = {"self": x[:, :3], "dim": 1, "index": integers(0, 2, 0), "source": x[:, 3:]}
    return [{**a, "reduce": r, "include_self": i} for r in ("prod", "mean", "amax", "amin") for i in (True, False)]


@samples("as_strided_scatter")
def as_strided_scatter(make: Maker, entry: Entry) -> list[Arguments]:
    return [
        {"self": make.tensor(6), "src": make.tensor(2, 2), "size": [2, 2], "stride": [3, 1]},
        {"self": make.tensor(2, 3), "src": make.tensor(2), "size": [2], "stride": [2]},
    ]


@samples("fill_diagonal")
def fill_diagonal(make: Maker, entry: Entry) -> list[Arguments]:
    return [
        {"self": make.tensor(2, 3), "fill_value": 1.5},
        {"self": make.tensor(5, 2), "fill_value": 1.5, "wrap": True},
        {"self": make.tensor(2, 2, 2), "fill_value": 0},
    ]


@samples("square_matrix_stack")
def square_matrix_stack(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 2, 2)}, {"self": make.tensor(2, 3)}]


@samples("linalg_diagonal")
def linalg_diagonal(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"A": make.tensor(2, 2, 3)}, {"A": make.tensor(2, 3), "offset": 1, "dim1": 1, "dim2": 0}]


@samples("channel_shuffle")
def channel_shuffle(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(1, 4, 2), "groups": 2}]


@samples("powers")
def powers(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 2), "count": n} for n in (4, 2, 1)]


@samples("vander")
def vander(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"x": make.tensor(3)}, {"x": make.tensor(2), "N": 3, "increasing": True}]


@samples("linalg_vander")
def linalg_vander(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"x": make.tensor(2, 2)}, {"x": make.tensor(2), "N": 3}]


@samples("frexp")
def frexp(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.distinct(2, 3) * 3}, {"self": np.array([-0.3, 5.0])}]
