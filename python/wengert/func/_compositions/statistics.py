"""Quantiles, covariances, histograms and integrals."""

from __future__ import annotations

import math
from typing import Any

import wengert

from .._batch import NoRuleError
from .arrangement import sliced
from .products import along_dimension


def trapezoids(y: Any, x: Any, dx: float, dim: int) -> Any:
    """Return the areas between neighbours."""
    dim = dim % y.ndim
    n = y.shape[dim]
    if n < 2:
        return sliced(y, dim, 0, 0) * dx
    twice = sliced(y, dim, 1, n) + sliced(y, dim, 0, n - 1)
    if x is None:
        return twice * (dx / 2)
    points = along_dimension(x, dim, y.ndim) if x.ndim == 1 else x
    dim += points.ndim - y.ndim
    if points.shape[dim] != n:
        raise NoRuleError
    return twice * (sliced(points, dim, 1, n) - sliced(points, dim, 0, n - 1)) / 2


def covariance(x: Any, correction: int, fweights: Any, aweights: Any) -> Any:
    """Return the covariance matrix of the rows of a matrix."""
    if x.ndim > 2 or x.dtype == wengert.bool:
        raise NoRuleError
    x = x if x.dtype.is_floating_point or x.dtype.is_complex else x.to(wengert.get_default_dtype())
    x = x if x.ndim == 2 else x.reshape(1, -1)
    n = x.shape[1]
    weights = [w.reshape(n) for w in (fweights, aweights) if w is not None]
    if not weights:
        x = x - x.mean(1, keepdim=True)
        return (x.matmul(x.conj().transpose(0, 1)) / max(n - correction, 0)).squeeze()
    weight = weights[0] * weights[1] if len(weights) == 2 else weights[0]
    total = weight.sum()
    x = x - ((x * weight).sum(1) / total).unsqueeze(1)
    freedom = total - correction
    if correction and aweights is not None:
        freedom = total - (weight * aweights.reshape(n)).sum() * correction / total
    return ((x * weight).matmul(x.conj().transpose(0, 1)) / freedom.clamp_min(0)).squeeze()


_ROUNDINGS: dict[str, Any] = {
    "linear": lambda at: at,
    "lower": lambda at: at.floor(),
    "higher": lambda at: at.ceil(),
    "nearest": lambda at: at.round(),
    "midpoint": lambda at: (at.floor() + at.ceil()) / 2,
}


def quantiles_at(x: Any, q: Any, dim: int | None, keepdim: bool, interpolation: str) -> Any:
    """Return quantiles; NaN where a line has any."""
    return _quantiles(x, q, dim, keepdim, interpolation, False)


def nanquantiles_at(x: Any, q: Any, dim: int | None, keepdim: bool, interpolation: str) -> Any:
    """Return quantiles of what is not NaN."""
    return _quantiles(x, q, dim, keepdim, interpolation, True)


def _quantiles(x: Any, q: Any, dim: int | None, keepdim: bool, interpolation: str, without_nan: bool) -> Any:
    if not x.numel() or q.ndim > 1 or not x.dtype.is_floating_point or interpolation not in _ROUNDINGS:
        raise NoRuleError
    lines = x.reshape(-1) if dim is None or not x.ndim else x.movedim(dim, -1)
    lines = lines.sort(-1)[0]
    count: Any = lines.shape[-1]
    if without_nan:
        count = (~lines.isnan()).sum(-1, keepdim=True).clamp_min(1)
    at = _ROUNDINGS[interpolation](q.reshape(-1).to(wengert.float64) * (count - 1))
    at = at.expand(*lines.shape[:-1], at.shape[-1])
    below = at.floor()
    low, high = (lines.gather(-1, place.to(wengert.int64)) for place in (below, at.ceil()))
    value = wengert.where(at == below, low, low + (high - low) * (at - below).to(x.dtype))
    if not without_nan:
        greatest = sliced(lines, lines.ndim - 1, count - 1, count)
        value = wengert.where(greatest.isnan(), greatest, value)
    if keepdim and x.ndim:
        shape = [1] * x.ndim if dim is None else list(x.shape)
        if dim is not None:
            shape[dim] = 1
        value = value.reshape([*shape, value.shape[-1]])
    return value.squeeze(-1) if not q.ndim else value.movedim(-1, 0)


def places_of_number(sequence: Any, value: Any, out_int32: bool, right: bool, side: str | None, sorter: Any) -> Any:
    """searchsorted of a number."""
    values = wengert.full((), value, dtype=wengert.result_type(sequence, value))
    return wengert.searchsorted(sequence, values, out_int32=out_int32, right=right, side=side, sorter=sorter)


def counts_between(x: Any, bins: int, low: Any, high: Any) -> Any:
    """histc: how many elements there are in intervals of one width."""
    if not x.dtype.is_floating_point or bins <= 0 or not x.numel():
        raise NoRuleError
    x = x.reshape(-1)
    low, high = (wengert.full((), float(bound), dtype=x.dtype) for bound in (low, high))
    if low.item() == high.item():
        low, high = x.amin(), x.amax()
    elif not low.item() < high.item():
        raise NoRuleError
    same = low == high
    low, high = wengert.where(same, low - 1, low), wengert.where(same, high + 1, high)
    counts = (x >= low) & (x <= high)
    place = ((x - low) * bins / (high - low)).nan_to_num(0, 0, 0).to(wengert.int64).clamp(0, bins - 1)
    return wengert.zeros(bins, dtype=x.dtype).index_add(0, place, counts.to(x.dtype))


def histogram_of(x: Any, edges: Any, weight: Any, density: bool) -> tuple[Any, Any]:
    """Return how much there is between neighbouring edges, and these."""
    if edges.ndim != 1 or edges.numel() < 2 or not x.dtype.is_floating_point or edges.dtype != x.dtype:
        raise NoRuleError
    x, bins = x.reshape(-1), edges.numel() - 1
    counts = (x >= edges[0]) & (x <= edges[bins])
    place = (wengert.searchsorted(edges, x, right=True) - 1).clamp(0, bins - 1)
    amount = counts.to(x.dtype) if weight is None else wengert.where(counts, weight.reshape(-1), 0)
    sums = wengert.zeros(bins, dtype=x.dtype).index_add(0, place, amount)
    if density:
        sums = sums / (sums.sum() * (edges[1:] - edges[:-1]))
    return sums, edges.clone()


def histogram_of_bins(x: Any, bins: int, limits: Any, weight: Any, density: bool) -> tuple[Any, Any]:
    """The same with edges of equal distance."""
    if bins <= 0 or not x.dtype.is_floating_point or not x.numel():
        raise NoRuleError
    if limits is not None:
        if len(limits) != 2 or not all(map(math.isfinite, limits)) or limits[0] > limits[1]:
            raise NoRuleError
        low, high = limits if limits[0] < limits[1] else (limits[0] - 0.5, limits[1] + 0.5)
        return histogram_of(x, wengert.linspace(low, high, bins + 1, dtype=x.dtype), weight, density)
    low, high = x.amin().to(wengert.float64), x.amax().to(wengert.float64)
    same = low == high
    low, high = wengert.where(same, low - 0.5, low), wengert.where(same, high + 0.5, high)
    # As linspace counts: from both ends.
    step, index = (high - low) / bins, wengert.arange(bins + 1, dtype=wengert.float64)
    edges = wengert.where(index < (bins + 1) // 2, low + step * index, high - step * (bins - index))
    return histogram_of(x, edges.to(x.dtype), weight, density)
