"""Covariances, histograms, and what passes over NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert

from ._convert import promoted, refuse, tensor, unsupported, written
from ._reductions import TABLE as REDUCTIONS


def _observations(m: Any, y: Any, rowvar: bool) -> Any:
    """Return variables in rows."""
    values = promoted((m,) if y is None else (m, y))
    rows = [value if value.ndim > 1 else value.unsqueeze(0) for value in values]
    rows = [row if rowvar or value.ndim < 2 else row.mT for row, value in zip(rows, values, strict=True)]
    joined = wengert.cat(rows) if len(rows) > 1 else rows[0]
    return joined if joined.is_floating_point() or joined.is_complex() else joined.double()


def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    value = tensor(_observations(m, y, rowvar), dtype)
    correction = (0 if bias else 1) if ddof is None else ddof
    weights = (None if w is None else tensor(w) for w in (fweights, aweights))
    counts, importance = weights
    if correction not in (0, 1) and importance is not None:
        raise unsupported("numpy.cov", f"ddof={ddof} beside aweights= has no counterpart")
    return wengert.cov(
        value, correction=correction, fweights=None if counts is None else counts.long(), aweights=importance
    )


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    return wengert.corrcoef(tensor(_observations(x, y, rowvar), dtype))


# --- NaN is left out
def _filled(name: str, neutral: float) -> Callable[..., Any]:
    """A function of the elements where NaN is replaced by what changes nothing."""
    own = REDUCTIONS[name]

    def run(a: Any, *args: Any, **kwargs: Any) -> Any:
        value = tensor(a)
        return own(wengert.where(wengert.isnan(value), neutral, value), *args, **kwargs)

    return run


def _extreme(name: str, worst: float) -> Callable[..., Any]:
    own = _filled(name, worst)

    def run(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None) -> Any:
        value = tensor(a)
        result = own(value, axis, None, keepdims, initial)
        empty = REDUCTIONS["all"](wengert.isnan(value), axis, None, keepdims)
        return written(wengert.where(empty, np.nan, result), out)

    return run


def nanquantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    refuse("numpy.nanquantile", weights=weights)
    value = tensor(a)
    return written(
        wengert.nanquantile(value, tensor(q).to(value.dtype), axis, bool(keepdims), interpolation=method), out
    )


def nanpercentile(a: Any, q: Any, *args: Any, **kwargs: Any) -> Any:
    return nanquantile(a, tensor(q).double() / 100, *args, **kwargs)


def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
    return nanquantile(a, 0.5, axis, out, keepdims=keepdims)


def _initial(name: str) -> Callable[..., Any]:
    def run(x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False) -> Any:
        own = getattr(wengert.array_api, name)
        return written(own(tensor(x), axis=axis, dtype=dtype, include_initial=include_initial), out)

    return run


# --- Counts, which have derivatives with respect to weights alone
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    value = tensor(x)
    if value.is_floating_point():
        raise unsupported("numpy.bincount", "places are integers")
    if weights is None:
        return wengert.bincount(value, minlength=minlength)
    size = max(int(value.max()) + 1 if value.numel() else 0, minlength)
    amounts = tensor(weights)
    amounts = amounts if amounts.is_floating_point() else amounts.double()
    return wengert.zeros(size, dtype=amounts.dtype).index_add(0, value.long(), amounts)


def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    value = tensor(a)
    edges = np.histogram_bin_edges(value.detach().numpy(), bins, range)
    if value.requires_grad and (np.ndim(bins) == 0 and range is None):
        raise unsupported("numpy.histogram", "edges that follow the data have derivatives; give range= or edges")
    counts = _counts(value.detach().reshape(-1), edges, weights)
    if density:
        counts = counts / counts.sum() / tensor(np.diff(edges))
    return counts, tensor(edges)


def _counts(value: Any, edges: Any, weights: Any) -> Any:
    index = np.searchsorted(edges, value.numpy(), side="right") - 1
    index[value.numpy() == edges[-1]] = len(edges) - 2
    inside = wengert.as_tensor((index >= 0) & (index < len(edges) - 1))
    amounts = wengert.ones(len(index), dtype=wengert.int64) if weights is None else tensor(weights).reshape(-1)
    amounts = wengert.where(inside, amounts, 0)
    places = wengert.as_tensor(np.clip(index, 0, len(edges) - 2))
    return wengert.zeros(len(edges) - 1, dtype=amounts.dtype).index_add(0, places, amounts)


TABLE: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (cov, corrcoef, nanquantile, nanpercentile, nanmedian, bincount, histogram)
}
TABLE |= {
    "nanprod": _filled("prod", 1), "nancumsum": _filled("cumsum", 0), "nancumprod": _filled("cumprod", 1),
    "nanmax": _extreme("amax", -np.inf), "nanmin": _extreme("amin", np.inf),
    "cumulative_sum": _initial("cumulative_sum"), "cumulative_prod": _initial("cumulative_prod"),
}  # fmt: skip
