"""The softmax family where one element has almost all of the probability, or is infinite.

The references are written with what is small: p (1 - p) from 1 - p = q / (1 + q), q = exp(-40).
"""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

import wengert as wg
from wengert.autograd import forward_ad, functional, grad

F = wg.nn.functional
INF, NAN = math.inf, math.nan
ROWS = {
    "far": [40.0, 0.0],
    "three": [0.0, 50.0, 1.5],
    "tie": [3.0, 3.0, -60.0],
    "near": [0.3, -0.2, 0.7],
    "negative": [-745.0, -700.0, -690.0],
    "long": [60.0, *np.linspace(-3, 3, 700)],
}


def exact_family(x: list[float]) -> dict[str, list[Any]]:
    """Values, and Jacobians of softmax and log_softmax, with 80 digits."""
    with mp.workdps(80):
        e = [mpmath.exp(mpf(float(v)) - max(x)) for v in x]
        p = [v / sum(e) for v in e]
        n = range(len(x))
        return {
            "softmax": p,
            "log_softmax": [mpmath.log(v) for v in p],
            "logsumexp": [mpmath.log(sum(e)) + max(x)],
            "softmax_rows": [[p[i] * ((i == j) - p[j]) for j in n] for i in n] if len(x) < 9 else [],
            "log_softmax_rows": [[(i == j) - p[j] for j in n] for i in n] if len(x) < 9 else [],
        }


def shapes(x: list[float], dtype: Any) -> list[tuple[Any, int]]:
    """As one row, as one of several rows, and along a strided dimension beside others: each has a loop of its own."""
    row = np.asarray(x, dtype)
    other = np.linspace(-1, 1, row.size, dtype=dtype)
    return [
        (row, 0),
        (np.stack([other, row, *[other] * 9]), 1),
        (np.stack([other, row, *[other] * 9], axis=1), 0),
    ]


def picked(t: Any, dim: int) -> np.ndarray:
    a = t.detach().numpy()
    return a if a.ndim == 1 and dim == 0 else np.take(a, 1, 1 - dim)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", ROWS)
def test_values(name: str, dtype: Any) -> None:
    x = [float(dtype(v)) for v in ROWS[name]]
    exact = exact_family(x)
    # log p near 0 is worth its digits, far from 0 those of x
    tolerance = 8 * float(np.finfo(dtype).eps)
    for array, dim in shapes(x, dtype):
        t = wg.tensor(array)
        log_p = picked(F.log_softmax(t, dim), dim)
        for got, want in zip(log_p, exact["log_softmax"], strict=True):
            assert abs(float(got) - float(want)) <= tolerance * abs(float(want)), (name, dim)
        total = np.ravel(wg.logsumexp(t, dim).numpy())[0 if array.ndim == 1 else 1]
        want = float(exact["logsumexp"][0])
        assert abs(float(total) - want) <= tolerance * max(abs(want), 0 if max(x) == 0 else abs(max(x)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("function", ["softmax", "log_softmax"])
@pytest.mark.parametrize("name", [n for n in ROWS if n != "long"])
def test_jacobians(name: str, function: str, dtype: Any) -> None:
    """Each element of each row, in reverse, recorded reverse, and forward mode."""
    x = [float(dtype(v)) for v in ROWS[name]]
    exact = exact_family(x)[f"{function}_rows"]
    tolerance = 50 * float(np.finfo(dtype).eps)
    for array, dim in shapes(x, dtype):
        for i, want in enumerate(exact):
            leaf = wg.tensor(array, requires_grad=True)
            out = getattr(F, function)(leaf, dim)
            chosen = out.select(dim, i)
            chosen = chosen if array.ndim == 1 else chosen[1]
            for create_graph in (False, True):
                g = picked(grad(chosen, leaf, retain_graph=True, create_graph=create_graph)[0], dim)
                np.testing.assert_allclose(
                    g, [float(w) for w in want], rtol=tolerance, atol=float(np.finfo(dtype).tiny)
                )
        for j in range(len(x)):
            tangent = np.zeros_like(array)
            if array.ndim == 1:
                tangent[j] = 1
            else:
                tangent[(1, j) if dim == 1 else (j, 1)] = 1
            with forward_ad.dual_level():
                dual = getattr(F, function)(forward_ad.make_dual(wg.tensor(array), wg.tensor(tangent)), dim)
                t = picked(forward_ad.unpack_dual(dual).tangent, dim)
            column = [float(row[j]) for row in exact]
            np.testing.assert_allclose(t, column, rtol=tolerance, atol=float(np.finfo(dtype).tiny))


def test_second_derivatives() -> None:
    """Of the first of two elements 40 apart: p'' = p (1 - p) (1 - 2 p), and log-sum-exp'' = p (1 - p)."""
    q = math.exp(-40.0)
    p, rest = 1 / (1 + q), q / (1 + q)
    x = wg.tensor([40.0, 0.0], dtype=wg.float64)
    for function, want in [
        (lambda t: F.softmax(t, 0)[0], p * rest * (rest - p)),
        (lambda t: F.log_softmax(t, 0)[0], -p * rest),
        (lambda t: F.cross_entropy(t[None], wg.tensor([0])), p * rest),
        (lambda t: wg.logsumexp(t, 0), p * rest),
    ]:
        np.testing.assert_allclose(functional.hessian(function, x).numpy()[0, 0], want, rtol=1e-13)
        forward = wg.func.jacfwd(wg.func.jacrev(function))(x).numpy()[0, 0]
        np.testing.assert_allclose(forward, want, rtol=1e-13)


@pytest.mark.parametrize("values", [[1.0, INF], [INF, 1.0, -INF], [2.0, -INF, 1.0]])
def test_one_infinite_element(values: list[float]) -> None:
    """What is infinite alone has all of the probability; what is -inf has none."""
    want = np.array([1.0 if v == INF else 0.0 for v in values])
    if INF not in values:
        want = np.exp(np.array(values) - 2) / np.exp(np.array(values) - 2).sum()
    for array, dim in shapes(values, np.float64):
        leaf = wg.tensor(array, requires_grad=True)
        np.testing.assert_allclose(picked(F.softmax(leaf, dim), dim), want)
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(picked(F.log_softmax(leaf, dim), dim), np.log(want))
        g = grad(wg.logsumexp(leaf, dim).sum(), leaf)[0]
        np.testing.assert_allclose(picked(g, dim), want)
        with forward_ad.dual_level():
            dual = wg.logsumexp(forward_ad.make_dual(leaf.detach(), wg.ones_like(leaf.detach())), dim)
            np.testing.assert_allclose(forward_ad.unpack_dual(dual).tangent.numpy(), 1.0)
        g = grad(leaf.logcumsumexp(dim).select(dim, -1).sum(), leaf)[0]
        np.testing.assert_allclose(picked(g, dim), want)
    a, b = (wg.tensor(v, dtype=wg.float64, requires_grad=True) for v in (values[0], values[1]))
    pair = grad(wg.logaddexp(a, b), (a, b))
    joined = wg.tensor(values[:2], dtype=wg.float64, requires_grad=True)
    np.testing.assert_allclose([p.item() for p in pair], grad(wg.logsumexp(joined, 0), joined)[0].numpy())


def test_rows_of_minus_infinity_have_no_gradient() -> None:
    leaf = wg.tensor([[-INF, -INF], [0.5, 1.5]], requires_grad=True, dtype=wg.float64)
    total = wg.logsumexp(leaf, 1)
    assert total[0].item() == -INF
    first = grad(total.sum(), leaf, create_graph=True)[0]
    np.testing.assert_allclose(first[0].detach().numpy(), [0, 0])
    np.testing.assert_allclose(first[1].detach().numpy(), F.softmax(leaf[1], 0).detach().numpy())
    assert np.isfinite(grad(first.square().sum(), leaf)[0].numpy()).all()
