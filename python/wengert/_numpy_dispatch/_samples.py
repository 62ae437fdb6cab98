"""Functions given by samples, and polynomials given by coefficients: the highest degree comes first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert

from ._convert import promoted, refuse, tensor


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    first, second = (value.reshape(-1) for value in promoted((a, v)))
    if first.numel() < second.numel():
        first, second = second, first
    n, m = first.numel(), second.numel()
    if not m:
        raise ValueError("[numpy.convolve] both arrays need elements")
    # result[k] = sum over j of first[k - j] second[j], in rows of the padded array
    padded = wengert.nn.functional.pad(first, (m - 1, m - 1))
    full = padded.unfold(0, m, 1) @ second.flip(0)
    starts = {"full": (0, n + m - 1), "same": ((m - 1) // 2, n), "valid": (m - 1, n - m + 1)}
    if mode not in starts:
        raise ValueError(f"[numpy.convolve] mode is 'full', 'same' or 'valid', got {mode!r}")
    return full.narrow(0, *starts[mode])


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    first, second = promoted((a, v))
    result = convolve(first, wengert.conj(second).flip(0), mode)
    if mode == "same" and second.numel() > first.numel() and not first.numel() % 2:
        return convolve(first, wengert.conj(second).flip(0), "full").narrow(0, first.numel() // 2, second.numel())
    return result


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    at, points, values = tensor(x), tensor(xp), tensor(fp)
    at, points = at.to(values.dtype) if not at.is_floating_point() else at, points.to(values.dtype)
    if period is not None:
        at, points = at % period, points % period
        order = wengert.argsort(points)
        points, values = points[order], values[order]
        points = wengert.cat([points[-1:] - period, points, points[:1] + period])
        values = wengert.cat([values[-1:], values, values[:1]])
    last = points.numel() - 1
    place = wengert.searchsorted(points.detach(), at.detach(), side="right").clamp(1, max(last, 1)) - 1
    after = (place + 1).clamp(max=last)
    width = points[after] - points[place]
    slope = (values[after] - values[place]) / wengert.where(width == 0, 1, width)
    result = values[place] + slope * (at - points[place])
    result = wengert.where(at < points[0], values[0] if left is None else left, result)
    return wengert.where(at > points[-1], values[-1] if right is None else right, result)


def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: float = 2 * np.pi) -> Any:
    value = tensor(p)
    array = value.detach().numpy()
    turns = np.unwrap(array, discont, axis, period=period) - array  # whole periods, which have no derivative
    return value + wengert.as_tensor(turns)


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    value = tensor(f)
    axes = range(value.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    spacing = [1.0] * len(axes) if not varargs else list(varargs) * (len(axes) if len(varargs) == 1 else 1)
    if len(spacing) != len(axes):
        raise TypeError(f"[numpy.gradient] {len(spacing)} spacings for {len(axes)} axes; give one, or one for each")
    points = [tensor(s).to(value.dtype) if np.ndim(_shape_of(s)) else s for s in spacing]
    results = tuple(
        wengert.gradient(value, spacing=[s], dim=d, edge_order=edge_order)[0] for s, d in zip(points, axes, strict=True)
    )
    return results if len(results) != 1 else results[0]


def _shape_of(spacing: Any) -> Any:
    return np.empty(tuple(spacing.shape)) if hasattr(spacing, "shape") else spacing


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    value = tensor(ary).reshape(-1)
    ends = [None if end is None else tensor(end).to(value.dtype).reshape(-1) for end in (to_begin, to_end)]
    parts = [part for part in (ends[0], value[1:] - value[:-1], ends[1]) if part is not None]
    return wengert.cat(parts)


# --- Polynomials
def polyval(p: Any, x: Any) -> Any:
    coefficients = tensor(p)
    value = tensor(x)
    result = wengert.zeros_like(value) + coefficients[0] * 0
    for coefficient in coefficients:
        result = result * value + coefficient
    return result


def polyder(p: Any, m: int = 1) -> Any:
    value = tensor(p)
    for _ in range(m):
        degrees = wengert.arange(len(value) - 1, 0, -1, dtype=value.dtype)
        value = value[:-1] * degrees
    return value


def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    value = tensor(p)
    constants = [0.0] * m if k is None else [k] * m if np.isscalar(k) else list(k)
    for constant in constants:
        degrees = wengert.arange(len(value), 0, -1, dtype=value.dtype)
        value = wengert.cat([value / degrees, tensor(constant).to(value.dtype).reshape(1)])
    return value


def _sum_of_polynomials(sign: int) -> Callable[..., Any]:
    def add(a1: Any, a2: Any) -> Any:
        first, second = (wengert.atleast_1d(value) for value in promoted((a1, a2)))
        size = max(len(first), len(second))
        first, second = (wengert.nn.functional.pad(value, (size - len(value), 0)) for value in (first, second))
        return first + sign * second

    return add


def polymul(a1: Any, a2: Any) -> Any:
    return convolve(*(wengert.atleast_1d(value) for value in promoted((a1, a2))))


def polydiv(u: Any, v: Any) -> Any:
    rest, divisor = (wengert.atleast_1d(value) for value in promoted((u, v)))
    if len(rest) < len(divisor):
        return wengert.zeros(1, dtype=rest.dtype), rest
    quotient = []
    for _ in range(len(rest) - len(divisor) + 1):
        quotient.append(rest[0] / divisor[0])
        taken = wengert.nn.functional.pad(quotient[-1] * divisor, (0, len(rest) - len(divisor)))
        rest = (rest - taken)[1:]
    nonzero = np.flatnonzero(np.abs(rest.detach().numpy()) > 1e-14)
    start = int(nonzero[0]) if len(nonzero) else len(rest) - 1
    return wengert.stack(quotient), rest[start:] if len(rest) else wengert.zeros(1, dtype=divisor.dtype)


def poly(seq_of_zeros: Any) -> Any:
    zeros = wengert.atleast_1d(tensor(seq_of_zeros))
    if zeros.ndim == 2:
        zeros = wengert.linalg.eigvals(zeros)
    result = wengert.ones(1, dtype=zeros.dtype)
    for zero in zeros:
        result = convolve(result, wengert.stack([wengert.ones_like(zero), -zero]))
    return result


def roots(p: Any) -> Any:
    value = wengert.atleast_1d(tensor(p))
    places = np.flatnonzero(value.detach().numpy())
    if not len(places):
        return value[:0]
    trailing = len(value) - 1 - int(places[-1])
    value = value[int(places[0]) : int(places[-1]) + 1]
    n = len(value) - 1
    if n:
        top = (-value[1:] / value[0]).unsqueeze(0)
        found = wengert.linalg.eigvals(wengert.cat([top, wengert.eye(n - 1, n, dtype=value.dtype)]))
    else:
        found = value[:0]
    return wengert.cat([found, wengert.zeros(trailing, dtype=found.dtype)])


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:  # noqa: N803  # NumPy's name
    return wengert.vander(tensor(x), N, increasing)


def polyfit(x: Any, y: Any, deg: int, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False) -> Any:
    refuse("numpy.polyfit", full=full or None, cov=cov or None, rcond=rcond)
    points, values = promoted((x, y))
    matrix = wengert.vander(points, deg + 1)
    if w is not None:
        weights = tensor(w).to(matrix.dtype)
        matrix = matrix * weights.unsqueeze(-1)
        values = values * (weights if values.ndim == 1 else weights.unsqueeze(-1))
    scale = wengert.linalg.vector_norm(matrix, 2, 0)
    right = values.unsqueeze(-1) if values.ndim == 1 else values
    solution = wengert.linalg.lstsq(matrix / scale, right).solution / scale.unsqueeze(-1)
    return solution.squeeze(-1) if values.ndim == 1 else solution


TABLE: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (convolve, correlate, interp, unwrap, gradient, ediff1d, polyval, polyder, polyint, polymul, polydiv, poly,
              roots, vander, polyfit)
}  # fmt: skip
TABLE |= {"polyadd": _sum_of_polynomials(1), "polysub": _sum_of_polynomials(-1)}
