"""Gradients and tangents scale with the data as values do: no squares of magnitudes that overflow or vanish on the way.

Where a result is homogeneous in an argument, f(s x) = s^d f(x), its derivatives are too, of degree d - 1. Whether it is
shows at scales from 2^-40 to 2^40 (an `eps` shows as well); then it must hold at 2^498 and 2^-498, about
1e150 and 1e-150, and in float32 at 2^83 and 2^-83 (1e25, 1e-25), as far as the result and its derivatives are normal
numbers. Powers of two change no digit, so little more than rounding errors of the algorithm is allowed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.ops.operations import DIFFERENTIABLE, Case, Operation, case
from wengert.autograd import forward_ad, grad

PRECISIONS = {
    "float64": (wg.float64, 498, 1e-290, 1e290, 1e-8),
    "float32": (wg.float32, 83, 1e-33, 1e33, 2e-3),
}
SCALES = (-40, -2, 2, 40)


def weights(like: Any, k: int) -> Any:
    shape = tuple(like.shape)
    return wg.tensor(np.cos(np.arange(int(np.prod(shape))) + 1.0 + k).reshape(shape), dtype=wg.float64).to(like.dtype)


def scalars(c: Case, xs: list[Any]) -> list[Any]:
    """A number for each result."""
    results = [o for o in c.function(*xs) if o.dtype.is_floating_point or o.dtype.is_complex]
    products = [o * weights(o, k) for k, o in enumerate(results)]
    return [(p.real if p.dtype.is_complex else p).sum() for p in products]


def scaled(c: Case, i: int, s: float) -> list[Any]:
    return [t * s if j == i else t for j, t in enumerate(c.tensors)]


def degree(values: dict[int, float]) -> float | None:
    """d, where values at all scales are s^d times that at 1."""
    one = values[0]
    if one == 0 or not math.isfinite(one) or not all(math.isfinite(v) for v in values.values()):
        return None
    ratio = values[2] / one
    if ratio <= 0:
        return None
    d = math.log2(ratio) / 2
    d = round(2 * d) / 2 if abs(2 * d - round(2 * d)) < 1e-6 else d
    holds = all(math.isclose(v, one * 2.0 ** (d * e), rel_tol=1e-6) for e, v in values.items())
    return d if holds else None


def derivatives(c: Case, xs: list[Any], i: int, r: int) -> tuple[float, list[np.ndarray], float]:
    """Value, gradients, and the tangent along a direction of argument i, of result r."""
    leaves = [x.detach().clone().requires_grad_() for x in xs]
    y = scalars(c, leaves)[r]
    grads = grad(y, leaves, allow_unused=True, materialize_grads=True)
    direction = weights(xs[i], 7)
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x, direction) if j == i else x for j, x in enumerate(xs)]
        t = forward_ad.unpack_dual(scalars(c, duals)[r]).tangent
        tangent = 0.0 if t is None else t.item()
    return y.item(), [g.numpy().astype(np.complex128) for g in grads], tangent


def close(actual: Any, expected: Any, low: float, high: float, tolerance: float) -> bool:
    """Within tolerance of the largest element; True where that is no normal number."""
    size = float(np.max(np.abs(expected), initial=0.0))
    if not low < size < high:
        return True
    return bool(np.all(np.abs(np.asarray(actual) - expected) <= tolerance * size))


def failures(c: Case, precision: str) -> Iterator[str]:
    _, exponent, low, high, tolerance = PRECISIONS[precision]
    for i, (name, _) in enumerate(c.paths):
        at = {e: [y.item() for y in scalars(c, scaled(c, i, 2.0**e))] for e in (0, *SCALES)}
        for r in range(len(at[0])):
            d = degree({e: ys[r] for e, ys in at.items()})
            if d is None:
                continue
            value, gradients, tangent = derivatives(c, c.tensors, i, r)
            for e in (exponent, -exponent):
                if not low < abs(value) * 2.0 ** min(max(d * e, -1000), 1000) < high:
                    continue
                y, found, t = derivatives(c, scaled(c, i, 2.0**e), i, r)
                powers = [(d - 1) * e if j == i else d * e for j in range(len(gradients))]
                checks = [("value", y, value, d * e), (f"tangent of {name}", t, tangent, (d - 1) * e)]
                checks += [
                    (f"gradient of {p[0]}", f, g, power)
                    for p, f, g, power in zip(c.paths, found, gradients, powers, strict=True)
                ]
                for what, actual, wanted, power in checks:
                    if abs(power) > 1000 or close(actual, np.asarray(wanted) * 2.0**power, low, high, tolerance):
                        continue
                    expected = np.asarray(wanted) * 2.0**power
                    yield f"{what} at {name} * 2^{e}, of degree {d:g}: {actual} instead of {expected}"


def cases(operation: Operation, dtype: Any) -> Iterator[Case]:
    def convert(array: np.ndarray) -> Any:
        t = wg.tensor(array)
        return t.to(dtype) if t.dtype == wg.float64 else t

    for sample in operation.samples():
        c = case(operation, sample, convert)
        if c.paths:
            yield c


MATRICES = [o for o in DIFFERENTIABLE if o.entry["family"] == "linalg"]


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("operation", MATRICES, ids=repr)
def test_derivatives_scale_with_the_data(operation: Operation, precision: str) -> None:
    if "scale" in operation.entry["exempt"]:
        pytest.skip(operation.entry["exempt"]["scale"])
    found = [f for c in cases(operation, PRECISIONS[precision][0]) for f in failures(c, precision)]
    assert not found, "\n".join(found)
