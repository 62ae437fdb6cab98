"""Functions that formulas call and that are written in C++, in terms of operations on series."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert

from . import _series as series
from ._series import Series, first


def _summed(a: Any, dim: Any, keepdim: bool) -> Any:
    """Sum over dimensions (None or none: all)."""
    if a is None:
        return None

    def reduce(value: Any) -> Any:
        dims = list(range(value.dim())) if dim is None or dim == [] else list(dim)
        return value.sum(dims, keepdim) if dims else value

    return series.mapped(reduce, a) if isinstance(a, Series) else reduce(a)


def _restored(a: Any, like: Any, dim: Any, keepdim: bool) -> Any:
    """Put dimensions back that a reduction removed."""
    if keepdim:
        return a
    ndim = first(like).dim()
    dims = range(ndim) if dim is None or list(dim) == [] else sorted(d % ndim for d in dim)

    def widen(value: Any) -> Any:
        for d in dims:
            value = value.unsqueeze(d)
        return value

    return series.mapped(widen, a) if isinstance(a, Series) else widen(a)


def _softmax(evaluate: Any, tangent: Any, result: Any, dim: int) -> Any:
    mean = _summed(series.product(result, tangent), [dim], True)
    return series.product(result, series.add(tangent, series.negated(mean)))


def _log_softmax(evaluate: Any, tangent: Any, result: Any, dim: int) -> Any:
    weights = evaluate.call("exp", [result], {})
    return series.add(tangent, series.negated(_summed(series.product(weights, tangent), [dim], True)))


def _logsumexp(evaluate: Any, tangent: Any, x: Any, result: Any, dim: Any, keepdim: bool) -> Any:
    excess = series.add(x, series.negated(_restored(result, x, dim, keepdim)))
    return _summed(series.product(evaluate.call("exp", [excess], {}), tangent), dim, keepdim)


def _variance(evaluate: Any, tangent: Any, x: Any, dim: Any, correction: float, keepdim: bool) -> Any:
    value = first(x)
    dims = list(range(value.dim())) if dim is None or list(dim) == [] else list(dim)
    count = 1
    for d in dims:
        count *= value.shape[d]
    centered = series.add(x, series.negated(series.product(1 / count, _summed(x, dims, True))))
    return series.product(2 / (count - correction), _summed(series.product(centered, tangent), dims, keepdim))


def _deviation(evaluate: Any, tangent: Any, x: Any, result: Any, dim: Any, correction: float, keepdim: bool) -> Any:
    change = _variance(evaluate, tangent, x, dim, correction, keepdim)
    return series.quotient(change, series.product(2, result))


def _norm(evaluate: Any, tangent: Any, x: Any, result: Any, order: float, dim: Any, keepdim: bool) -> Any:
    if order != 2:
        raise NotImplementedError(f"norms of order {order}")
    return series.quotient(_summed(series.product(x, tangent), dim, keepdim), result)


def _sum(evaluate: Any, a: Any, dim: Any = None, keepdim: bool = False) -> Any:
    return _summed(a, dim, keepdim)


def _conjugate(evaluate: Any, a: Any) -> Any:
    return a  # series are real


def _sign(evaluate: Any, a: Any) -> Any:
    return wengert.sign(first(a))  # constant, away from 0


def _log_determinant(evaluate: Any, tangent: Any, a: Any) -> Any:
    solved = evaluate.call("solve_matrices", [a, tangent], {})
    return series.mapped(lambda value: wengert.diagonal(value, 0, -2, -1).sum(-1), solved)


HELPERS: dict[str, Callable[..., Any]] = {
    "softmax_derivative": _softmax,
    "log_softmax_tangent": _log_softmax,
    "logsumexp_tangent": _logsumexp,
    "var_tangent": _variance,
    "std_tangent": _deviation,
    "norm_tangent": _norm,
    "slogdet_log_tangent": _log_determinant,
    "sum": _sum,
    "sgn": _sign,
    "sign": _sign,
    "conj": _conjugate,
    "conjugated": _conjugate,
}
