"""Sums, means, extremes, orders and scans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert

from ._convert import promoted, refuse, tensor, unsupported, written

_NEUTRAL = {"sum": 0, "nansum": 0, "prod": 1}


def _reduction(name: str) -> Callable[..., Any]:
    """A reduction with dtype=, out=, keepdims=, and initial= and where= where they have a meaning."""

    def reduce(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None,
        where: Any = None,
    ) -> Any:  # fmt: skip
        value = tensor(a, dtype)
        if where is not None and where is not True:
            value = _masked(name, value, where)
        result = getattr(wengert, name)(value, _dims(value, axis), keepdims)
        if initial is not None:
            result = _started(name, result, initial)
        return written(result, out)

    return reduce


def _dims(value: Any, axis: Any) -> Any:
    return list(range(value.ndim)) if axis is None else axis


def _line(value: Any, axis: Any) -> tuple[Any, int]:
    """Return what is ordered or scanned along one axis, and this one: all elements where it is None."""
    return (value.reshape(-1), 0) if axis is None else (value, axis)


def _real(value: Any) -> Any:
    return value if value.is_floating_point() or value.is_complex() else value.double()


def _masked(name: str, value: Any, where: Any) -> Any:
    if name not in _NEUTRAL:
        raise unsupported(f"numpy.{name}", "where= needs an element that changes nothing; use wengert.where before")
    return wengert.where(tensor(where), value, _NEUTRAL[name])


def _started(name: str, result: Any, initial: Any) -> Any:
    combine = {"sum": wengert.add, "nansum": wengert.add, "prod": wengert.mul, "amax": wengert.maximum,
               "amin": wengert.minimum}  # fmt: skip
    if name not in combine:
        raise unsupported(f"numpy.{name}", "initial= has no counterpart")
    return combine[name](result, initial)


def _extreme(name: str) -> Callable[..., Any]:
    reduce = _reduction(name)

    def extreme(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None
    ) -> Any:
        return reduce(a, axis, None, out, keepdims, initial, where)

    return extreme


def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = None
) -> Any:
    value = _real(tensor(a, dtype))
    if where is None or where is True:
        return written(value.mean(_dims(value, axis), keepdims), out)
    mask = tensor(where).broadcast_to(value.shape)
    total = wengert.where(mask, value, 0).sum(_dims(value, axis), keepdims)
    return written(total / mask.sum(_dims(value, axis), keepdims), out)


def _spread(name: str) -> Callable[..., Any]:
    def spread(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: Any = False, *,
        where: Any = None, mean: Any = None, correction: Any = None,
    ) -> Any:  # fmt: skip
        refuse(f"numpy.{name}", where=where, mean=mean)
        value = _real(tensor(a, dtype))
        free = ddof if correction is None else correction
        return written(getattr(wengert, name)(value, _dims(value, axis), correction=free, keepdim=keepdims), out)

    return spread


def _truth(name: str) -> Callable[..., Any]:
    def truth(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = None) -> Any:
        refuse(f"numpy.{name}", where=where)
        value = tensor(a)
        return written(getattr(wengert, name)(value, _dims(value, axis), keepdims), out)

    return truth


def _index_of(name: str) -> Callable[..., Any]:
    def index_of(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
        return written(getattr(wengert, name)(tensor(a), axis, keepdims), out)

    return index_of


def _scan(name: str) -> Callable[..., Any]:
    def scan(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        return written(getattr(wengert, name)(*_line(tensor(a, dtype), axis)), out)

    return scan


def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    value = tensor(a) != 0
    return value.sum(_dims(value, axis), keepdims)


def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    return quantile(a, 0.5, axis, out, keepdims=keepdims)


def quantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, **options: Any,
) -> Any:  # fmt: skip
    refuse("numpy.quantile", **options)
    value = tensor(a)
    value = value if value.is_floating_point() else value.double()
    level = q if isinstance(q, float) else tensor(q).to(value.dtype)
    return written(wengert.quantile(value, level, axis, keepdims, interpolation=method), out)


def percentile(a: Any, q: Any, *args: Any, **kwargs: Any) -> Any:
    return quantile(a, q / 100 if isinstance(q, (int, float)) else tensor(q) / 100, *args, **kwargs)


def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    value = tensor(a)
    dims = _dims(value, axis)
    return written(value.amax(dims, keepdims) - value.amin(dims, keepdims), out)


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    if weights is None:
        result, total = mean(a, axis, keepdims=keepdims), None
    else:
        value, weight = promoted((a, weights))
        if weight.ndim == 1 and isinstance(axis, int):
            weight = weight.reshape([-1 if d == axis % value.ndim else 1 for d in range(value.ndim)])
        weight = weight.broadcast_to(value.shape)
        total = weight.sum(_dims(value, axis), keepdims)
        result = (value * weight).sum(_dims(value, axis), keepdims) / total
    if not returned:
        return result
    return result, wengert.ones_like(result) * (tensor(a).numel() / result.numel()) if total is None else total


def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    refuse("numpy.sort", order=order)
    return wengert.sort(*_line(tensor(a), axis))[0]


def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    refuse("numpy.argsort", order=order)
    return wengert.sort(*_line(tensor(a), axis), stable=bool(stable))[1]


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    return wengert.searchsorted(tensor(a), tensor(v), side=side, sorter=None if sorter is None else tensor(sorter))


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    ends = [None if end is None else tensor(end) for end in (prepend, append)]
    return wengert.diff(tensor(a), n, axis, *ends)


def trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    if x is None:
        return wengert.trapezoid(tensor(y), dx=dx, dim=axis)
    return wengert.trapezoid(*promoted((y, x)), dim=axis)


def _nan_spread(name: str) -> Callable[..., Any]:
    def spread(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: Any = False
    ) -> Any:
        value = tensor(a, dtype)
        missing, dims = wengert.isnan(value), _dims(value, axis)
        mean = wengert.nanmean(value, dims, True)
        squares = wengert.where(missing, 0, wengert.square(wengert.where(missing, mean, value) - mean))
        counted = wengert.sum((~missing).to(value.dtype), dims, keepdims)
        variance = wengert.sum(squares, dims, keepdims) / (counted - ddof)
        return written(variance if name == "nanvar" else wengert.sqrt(variance), out)

    return spread


TABLE: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (mean, count_nonzero, median, quantile, percentile, ptp, average, sort, argsort, searchsorted, diff,
              trapezoid)
}  # fmt: skip
TABLE |= {name: _reduction(name) for name in ("sum", "prod", "nansum", "nanmean")}
TABLE |= {name: _extreme(name) for name in ("amax", "amin")}
TABLE |= {"max": TABLE["amax"], "min": TABLE["amin"]}
TABLE |= {name: _spread(name) for name in ("var", "std")}
TABLE |= {name: _nan_spread(name) for name in ("nanvar", "nanstd")}
TABLE |= {name: _truth(name) for name in ("all", "any")}
TABLE |= {name: _index_of(name) for name in ("argmax", "argmin")}
TABLE |= {name: _scan(name) for name in ("cumsum", "cumprod")}
TABLE |= {
    "nonzero": lambda a: tensor(a).nonzero(as_tuple=True),
    "argwhere": lambda a: tensor(a).nonzero(),
}
