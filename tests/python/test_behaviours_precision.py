"""Tails and precision: derivatives that are small, or of extreme arguments, keep their digits."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import math

import numpy as np
import pytest

import wengert as wg
from wengert.autograd import forward_ad, grad


def derivative(function, x, order=1):
    value = wg.tensor(x, dtype=wg.float64, requires_grad=True)
    y = function(value)
    for i in range(order):
        (y,) = grad(y, value, create_graph=i + 1 < order)
    return y.item()


def forward_derivative(function, x):
    value = wg.tensor(x, dtype=wg.float64)
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(function(forward_ad.make_dual(value, wg.ones_like(value)))).tangent.item()


@pytest.mark.parametrize(
    ("function", "x", "expected"),
    [
        (wg.expm1, -40.0, 4.248354255291589e-18),
        (wg.sigmoid, 37.43, 5.5508250862537194e-17),
        (wg.sqrt, 5e-324, 2.2494568972715982e161),
        (wg.exp2, 1024.0000000000002, 2.0**1023 * 1.3862943611198906),
        (wg.tanh, 20.0, 4 * math.exp(-40) / (1 + math.exp(-40)) ** 2),
        (wg.tanh, -300.0, 4 * math.exp(-600)),
        (wg.asinh, 1e200, 1e-200),
        (wg.acosh, 1e200, 1e-200),
        (wg.atan, 1e100, 1e-200),
        (wg.log2, 1e-300, 1.4426950408889634e300),
        (wg.special.log_ndtr, -1e5, 1e5 + 1e-5),
        (wg.special.erfcx, 1e6, -1 / (1e12 * math.sqrt(math.pi))),
        (wg.sinc, 1e-9, -(math.pi**2) / 3e9),
        (wg.special.i0e, 1e6, -0.5 / 1e6 / math.sqrt(2e6 * math.pi)),
        (wg.nn.functional.silu, -700.0, -699 * math.exp(-700)),
        (wg.nn.functional.softplus, -700.0, math.exp(-700)),
        (wg.nn.functional.logsigmoid, 700.0, math.exp(-700)),
    ],
)
def test_P1_first_derivatives(function, x, expected):
    for computed in (derivative(function, x), forward_derivative(function, x)):
        np.testing.assert_allclose(computed, expected, rtol=1e-6 if abs(x) > 1e3 else 1e-12)


def test_P1_second_derivative_of_tanh_near_zero():
    assert derivative(wg.tanh, 1e-300, order=2) == -2e-300


def test_P1_second_derivatives_in_tails():
    np.testing.assert_allclose(derivative(wg.tanh, 20.0, order=2), -8 * math.exp(-40), rtol=1e-12)
    np.testing.assert_allclose(derivative(wg.sigmoid, 40.0, order=2), -math.exp(-40), rtol=1e-12)
    np.testing.assert_allclose(derivative(wg.expm1, -40.0, order=2), math.exp(-40), rtol=1e-12)


def test_P1_second_derivatives_at_removable_singularities():
    np.testing.assert_allclose(derivative(wg.sinc, 0.0, order=2), -(math.pi**2) / 3, rtol=1e-14)
    np.testing.assert_allclose(derivative(wg.special.i1, 0.0, order=3), 3 / 8, rtol=1e-14)
    np.testing.assert_allclose(derivative(wg.special.erfcx, 30.0, order=2), 2 / (30**3 * math.sqrt(math.pi)), rtol=0.01)


def test_P1_numbers_beside_float64_tensors_keep_their_digits():
    x = wg.tensor([0.1], dtype=wg.float64, requires_grad=True)
    for y, expected in (
        (x / 3, 1 / 3),
        (x * 0.1, 0.1),
        (x**3, 3 * 0.1**2),
        (1 / x, -100.0),
        (wg.lerp(x, x * 0, 0.1), 0.9),
    ):
        np.testing.assert_allclose(grad(y.sum(), x, retain_graph=True)[0].item(), expected, rtol=1e-15)
        (recorded,) = grad(y.sum(), x, create_graph=True)
        np.testing.assert_allclose(recorded.item(), expected, rtol=1e-15)


def test_P1_losses_in_tails():
    functional = wg.nn.functional
    one, zero = wg.ones(1, dtype=wg.float64), wg.zeros(1, dtype=wg.float64)
    for x, target in ((-40.0, zero), (40.0, one)):
        logit = wg.tensor([x], dtype=wg.float64, requires_grad=True)
        loss = functional.binary_cross_entropy_with_logits(logit, target)
        np.testing.assert_allclose(loss.item(), math.exp(-40), rtol=1e-12)
        np.testing.assert_allclose(abs(grad(loss, logit)[0].item()), math.exp(-40), rtol=1e-12)
