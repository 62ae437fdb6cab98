"""Reductions, scans, sorting and statistics."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.integrate
import scipy.special
import scipy.stats

from . import reference


def axes(dim: Any) -> Any:
    return tuple(dim) if dim else None


def reduction(function: Any) -> Any:
    return lambda self, dim=None, keepdim=False: function(self, axis=axes(dim), keepdims=keepdim)


for name, function in {"sum": np.sum, "nansum": np.nansum, "mean": np.mean, "nanmean": np.nanmean, "prod": np.prod,
                       "all": np.all, "any": np.any, "amax": np.amax, "amin": np.amin,
                       "count_nonzero": np.count_nonzero}.items():  # fmt: skip
    reference(name)(reduction(function))


# --- Greatest and least
def along(function: Any, argument: Any) -> Any:
    """The values along a dimension, and where they stand."""
    return lambda self, dim, keepdim=False: (
        function(self, axis=dim, keepdims=keepdim),
        argument(self, axis=dim, keepdims=keepdim),
    )


reference("max_dim")(along(np.max, np.argmax))
reference("min_dim")(along(np.min, np.argmin))
reference("max")(lambda self: np.max(self))
reference("min")(lambda self: np.min(self))
reference("max_other")(lambda self, other: np.maximum(self, other))
reference("min_other")(lambda self, other: np.minimum(self, other))
reference("argmax")(lambda self, dim=None, keepdim=False: np.argmax(self, dim, keepdims=keepdim))
reference("argmin")(lambda self, dim=None, keepdim=False: np.argmin(self, dim, keepdims=keepdim))
reference("aminmax")(
    lambda self, dim=None, keepdim=False: (np.min(self, dim, keepdims=keepdim), np.max(self, dim, keepdims=keepdim))
)


def lower_median(self: np.ndarray, axis: int | None = None) -> Any:
    """Of an even number of elements the lower one of the two in the middle."""
    return np.quantile(self, 0.5, axis=axis, method="lower")


def with_places(values: Any) -> Any:
    """Values along a dimension and the first places where they stand."""

    def found(self: np.ndarray, dim: int = -1, keepdim: bool = False, **more: Any) -> Any:
        kept = np.expand_dims(values(self, dim, **more), dim)
        places = np.argmax(self == kept, axis=dim, keepdims=True)
        return (kept, places) if keepdim else (kept.squeeze(dim), places.squeeze(dim))

    return found


reference("median", "nanmedian")(lower_median)
reference("median_dim", "nanmedian_dim")(with_places(lower_median))
reference("mode")(with_places(lambda self, dim: scipy.stats.mode(self, axis=dim).mode))
reference("kthvalue")(with_places(lambda self, dim, k: np.take(np.sort(self, dim), k - 1, dim)))


@reference("sort")
def sort(self: np.ndarray, dim: int = -1, descending: bool = False) -> Any:
    order = np.argsort(-self if descending else self, dim, kind="stable")
    return np.take_along_axis(self, order, dim), order


reference("argsort")(lambda self, **how: sort(self, **how)[1])
reference("msort")(lambda self: np.sort(self, 0) if self.ndim else self)


@reference("topk")
def topk(self: np.ndarray, k: int, dim: int = -1, largest: bool = True) -> Any:
    return tuple(np.take(x, range(k), dim) for x in sort(self, dim, largest))


# --- Moments and norms
def moment(function: Any) -> Any:
    def reduced(self: np.ndarray, dim: Any = None, correction: float = 1, keepdim: bool = False) -> Any:
        return function(self, axis=axes(dim), ddof=correction, keepdims=keepdim)

    return reduced


def unbiased(function: Any) -> Any:
    return lambda self, unbiased, dim=None, keepdim=False: moment(function)(self, dim, int(unbiased), keepdim)


for name, function in {"var": np.var, "std": np.std}.items():
    reference(name)(moment(function))
    reference(f"{name}_unbiased", f"{name}_dim_unbiased")(unbiased(function))
    reference(f"{name}_mean_unbiased", f"{name}_mean_dim_unbiased")(
        lambda self, unbiased, dim=None, keepdim=False, f=function: (
            moment(f)(self, dim, int(unbiased), keepdim),
            np.mean(self, axes(dim), keepdims=keepdim),
        )
    )
    reference(f"{name}_mean")(
        lambda self, dim=None, correction=1, keepdim=False, f=function: (
            moment(f)(self, dim, correction, keepdim),
            np.mean(self, axes(dim), keepdims=keepdim),
        )
    )


@reference("linalg_vector_norm")
def vector_norm(self: np.ndarray, ord: float = 2, dim: Any = None, keepdim: bool = False) -> Any:
    return np.linalg.vector_norm(self, ord=ord, axis=axes(dim), keepdims=keepdim)


reference("norm")(lambda self, p=2.0, dim=None, keepdim=False: vector_norm(self, p, dim, keepdim))
reference("norm_name")(lambda self, p, dim=None, keepdim=False: vector_norm(self, 2, dim, keepdim))
reference("dist")(lambda self, other, p=2.0: vector_norm(self - other, p))


@reference("linalg_norm", "linalg_norm_name")
def linalg_norm(self: np.ndarray, ord: Any = None, dim: Any = None, keepdim: bool = False) -> Any:
    if ord is None:
        return vector_norm(self, 2, dim, keepdim)
    return np.linalg.norm(self, ord, axis=dim[0] if dim and len(dim) == 1 else axes(dim), keepdims=keepdim)


@reference("linalg_matrix_norm", "linalg_matrix_norm_name")
def matrix_norm(self: np.ndarray, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False) -> Any:
    return np.linalg.norm(self, ord, axis=tuple(dim), keepdims=keepdim)


@reference("renorm")
def renorm(self: np.ndarray, p: float, dim: int, maxnorm: float) -> np.ndarray:
    rows = np.moveaxis(self.astype(complex), dim, 0)
    for row in rows:
        row *= min(1.0, maxnorm / (vector_norm(row, p) + 1e-7))
    rows = rows if np.iscomplexobj(self) else rows.real
    return np.moveaxis(rows, 0, dim)


@reference("logsumexp")
def logsumexp(self: np.ndarray, dim: Any = None, keepdim: bool = False) -> Any:
    return scipy.special.logsumexp(self, axis=axes(dim), keepdims=keepdim)


# --- Quantiles, covariances, histograms
@reference("quantile", "quantile_tensor", "nanquantile", "nanquantile_tensor")
def quantile(
    self: np.ndarray, q: Any, dim: int | None = None, keepdim: bool = False, interpolation: str = "linear"
) -> Any:
    return np.nanquantile(self, q, axis=dim, keepdims=keepdim, method=interpolation)


reference("cov")(
    lambda self, correction=1, fweights=None, aweights=None: np.cov(
        self, ddof=correction, fweights=fweights, aweights=aweights
    )
)
reference("corrcoef")(lambda self: np.corrcoef(self))
reference("trapezoid")(lambda y, x=None, dx=1.0, dim=-1: scipy.integrate.trapezoid(y, x, dx, dim))
reference("cumulative_trapezoid")(lambda y, x=None, dx=1.0, dim=-1: scipy.integrate.cumulative_trapezoid(y, x, dx, dim))
reference("histc")(lambda self, bins=100, min=0, max=0: np.histogram(self, bins, (min, max))[0].astype(self.dtype))
reference("bincount")(lambda self, weights=None, minlength=0: np.bincount(self, weights, minlength))


@reference("histogramdd_of")
def histogramdd(self: np.ndarray, edges: Any, weight: Any = None, density: bool = False) -> np.ndarray:
    return np.histogramdd(self, edges, weights=weight, density=density)[0]


@reference("hash_tensor")
def hash_tensor(self: np.ndarray, dim: Any = None, keepdim: bool = False) -> np.ndarray:
    wide = self.astype(np.float64 if self.dtype.kind == "f" else np.int64)
    return np.bitwise_xor.reduce(wide.view(np.int64), axis=axes(dim), keepdims=keepdim)


@reference("histogram", "histogram_bin_ct")
def histogram(self: np.ndarray, bins: Any = 100, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    x = self.reshape(-1)
    kept = ~np.isnan(x)
    weights = None if weight is None else weight.reshape(-1)[kept]
    counts, edges = np.histogram(x[kept], bins, range, density, weights)
    return counts.astype(self.dtype), edges


# --- Scans
def scanned(function: Any) -> Any:
    return lambda self, dim: function(np.atleast_1d(self), axis=dim).reshape(self.shape)


reference("cumsum")(scanned(np.cumsum))
reference("cumprod")(scanned(np.cumprod))
reference("logcumsumexp")(scanned(lambda x, axis: np.log(np.cumsum(np.exp(x), axis=axis))))


def running(function: Any) -> Any:
    """The greatest (least) so far, and the last place where it stands."""

    def scan(self: np.ndarray, dim: int) -> Any:
        values = function.accumulate(self, axis=dim)
        places = np.where(self == values, np.expand_dims(np.arange(self.shape[dim]), 1 - dim), 0)
        return values, np.maximum.accumulate(places, axis=dim)

    return scan


reference("cummax")(running(np.maximum))
reference("cummin")(running(np.minimum))


@reference("diff")
def diff(self: np.ndarray, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> np.ndarray:
    more = {k: v for k, v in (("prepend", prepend), ("append", append)) if v is not None}
    return np.diff(self, n, dim, **more)


# --- Sets and places in order
@reference("unique_of", "unique_along")
def unique(self: np.ndarray, dim: int | None = None, return_inverse: bool = False, return_counts: bool = False) -> Any:
    values, inverse, counts = np.unique(self, return_inverse=True, return_counts=True, axis=dim)
    return values, inverse if return_inverse else None, counts if return_counts else None


@reference("unique_consecutive_of")
def unique_consecutive(self: np.ndarray, return_inverse: bool = False, return_counts: bool = False) -> Any:
    starts = np.flatnonzero(np.concatenate([[True], self[1:] != self[:-1]]))
    inverse = np.searchsorted(starts, np.arange(len(self)), side="right") - 1
    counts = np.diff([*starts, len(self)])
    return self[starts], inverse if return_inverse else None, counts if return_counts else None


reference("searchsorted", "searchsorted_scalar")(
    lambda sorted_sequence, self, right=False: np.searchsorted(sorted_sequence, self, "right" if right else "left")
)
reference("bucketize")(lambda self, boundaries: np.searchsorted(boundaries, self))


@reference("isin")
def isin(elements: Any, test_elements: Any, invert: bool = False) -> np.ndarray:
    return np.isin(elements, test_elements, invert=invert)
