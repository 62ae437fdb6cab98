"""Derivatives scale with the data as values do: no row squares raw magnitudes on the way.

A row whose result is multiplied by `2**d` when some of its arguments are doubled is homogeneous of degree d in them,
and its gradient is of degree d - 1. Which rows are, and in what, is found by doubling; the property is that both hold
where squares leave the range of the dtype: at 2**500 and 2**-500 (1e150), in float32 at 2**83 and 2**-83 (1e25).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.ops.operations import DIFFERENTIABLE, Case, Operation, case
from tests.ops.samples import Sample
from wengert.autograd import forward_ad, grad

DEGREES = (0, 1, -1, 2)
SCALES = {np.float64: (500, 1e-9), np.float32: (83, 2e-3)}


def weighted(c: Case, tensors: list[Any]) -> Any:
    """A number that depends on all results, and the results as one vector."""
    outputs = [o.reshape(-1) for o in c.function(*tensors) if o.dtype.is_floating_point]
    flat = wg.cat(outputs) if outputs else wg.zeros(0)
    weights = wg.tensor(np.cos(np.arange(flat.numel()) + 1.0), dtype=flat.dtype)
    return (flat.clone() * weights).sum(), flat


def scaled(c: Case, which: tuple[int, ...], exponent: int) -> list[Any]:
    return [
        (t.detach() * 2.0**exponent if i in which else t.detach().clone()).requires_grad_()
        for i, t in enumerate(c.tensors)
    ]


def values_and_gradients(c: Case, which: tuple[int, ...], exponent: int) -> tuple[np.ndarray, list[np.ndarray]]:
    tensors = scaled(c, which, exponent)
    number, flat = weighted(c, tensors)
    if not number.requires_grad:
        return flat.numpy(), []
    grads = grad(number, [tensors[i] for i in which], allow_unused=True)
    return flat.detach().numpy(), [np.zeros(1) if g is None else g.numpy() for g in grads]


def tangents(c: Case, which: tuple[int, ...], exponent: int) -> np.ndarray:
    with forward_ad.dual_level():
        tensors = [t.detach() for t in scaled(c, which, exponent)]
        for i in which:
            direction = wg.tensor(np.sin(np.arange(tensors[i].numel()) + 0.5).reshape(tensors[i].shape))
            tensors[i] = forward_ad.make_dual(tensors[i], direction.to(tensors[i].dtype))
        tangent = forward_ad.unpack_dual(weighted(c, tensors)[1]).tangent
        return np.zeros(1) if tangent is None else tangent.numpy()


def degree(c: Case, which: tuple[int, ...], sign: int) -> int | None:
    """What power of 2 multiplies all results when these arguments are multiplied by 2, 8 and 2**50, if there is one.

    What depends on more than ratios, a threshold or an epsilon, shows at the last: it may be to scale upwards only.
    """
    steps = [sign * e for e in (1, 3, 50)]
    try:
        once, *others = (weighted(c, scaled(c, which, e))[1].detach().numpy() for e in (0, *steps))
    except (IndexError, RuntimeError):  # no argument of the operation any more
        return None
    if once.size == 0 or not np.isfinite(once).all() or not once.any():
        return None
    for d in DEGREES:
        if all(np.allclose(v, once * 2.0 ** (d * e), rtol=1e-12, atol=0) for v, e in zip(others, steps, strict=True)):
            return d
    return None


def choices(c: Case) -> list[tuple[int, ...]]:
    """Each tensor alone, and all of them."""
    n = len(c.tensors)
    return [(i,) for i in range(n)] + ([tuple(range(n))] if n > 1 else [])


def homogeneous(operation: Operation) -> Iterator[tuple[Sample, tuple[int, ...], int, int]]:
    for sample in operation.samples():
        c = case(operation, sample)
        if not c.paths or any(t.dtype != wg.float64 for t in c.tensors):
            continue
        for which in choices(c):
            for sign in (1, -1):
                d = degree(c, which, sign)
                if d is not None:
                    yield sample, which, d, sign


def close(got: np.ndarray, reference: np.ndarray, power: int, tolerance: float) -> bool:
    """Whether `got` is `reference * 2**power`, in parts of the greatest element, or of 1/100 if all are nearly 0."""
    with np.errstate(all="ignore"):
        back = np.ldexp(got.astype(np.float64), -power)
    if not np.isfinite(reference).all():
        return True
    return back.shape == reference.shape and bool(
        np.all(np.abs(back - reference) <= tolerance * np.max(np.abs(reference), initial=0.01))
    )


@pytest.mark.parametrize("dtype", SCALES, ids=["float64", "float32"])
# Decompositions are scaled beside their own tests, which know of the freedom in their vectors.
@pytest.mark.parametrize("operation", [o for o in DIFFERENTIABLE if o.family != "linalg"], ids=repr)
def test_derivatives_scale_with_the_data(operation: Operation, dtype: Any) -> None:
    operation.unless_exempt("scale")
    exponent, tolerance = SCALES[dtype]
    convert = lambda a: wg.tensor(a.astype(dtype) if a.dtype.kind == "f" else a)  # noqa: E731
    wrong = []
    for sample, which, d, sign in homogeneous(operation):
        c = case(operation, sample, convert)
        values, grads = values_and_gradients(c, which, 0)
        forward = tangents(c, which, 0)
        # Of degree 2 the values themselves leave the range of float32, of degree -1 the gradients do.
        e = sign * (exponent if d in (0, 1) else exponent // 3)
        scaled_values, scaled_grads = values_and_gradients(c, which, e)
        if not close(scaled_values, values, d * e, tolerance):
            wrong.append(("value", sample.arguments, which, e, scaled_values, values))
        for reference, got in zip(grads, scaled_grads, strict=True):
            if not close(got, reference, (d - 1) * e, tolerance):
                wrong.append(("gradient", sample.arguments, which, e, got, reference))
        got = tangents(c, which, e)
        if not close(got, forward, (d - 1) * e, tolerance):
            wrong.append(("tangent", sample.arguments, which, e, got, forward))
    assert not wrong, (len(wrong), wrong[:3])
