"""A factor of the chain rule that is exactly zero adds nothing, whatever the other is, in all modes of two orders."""

import math

import numpy as np
import pytest

import wengert as wg
import wengert.nn.functional as fn
from wengert.func import grad, hessian, jacfwd, jacrev

INF = math.inf


def number(value):
    return wg.tensor(value, dtype=wg.float64)


# --- The zero is in the partial derivative: (function, point)
INFINITE_SLOPES = {
    "root of a product with 0": (lambda x: (x * 0).sqrt(), 3.0),
    "root of a kink": (lambda x: x.abs().sqrt(), 0.0),
    "root of a square": (lambda x: (x * x).sqrt(), 0.0),
    "power of a square": (lambda x: (x * x) ** 0.3, 0.0),
    "logarithm times 0": (lambda x: 0.0 * x.log(), 0.0),
    "reciprocal times 0": (lambda x: 0.0 * x.reciprocal(), 0.0),
    "root of a variance": (lambda x: wg.stack([x, x]).var().sqrt(), 3.0),
    "root of a relu": (lambda x: x.relu().sqrt(), -1.0),
    "asin of a clamp": (lambda x: x.clamp(-1, 1).asin(), 2.0),
    "acosh of a maximum": (lambda x: x.clamp(min=1).acosh(), 0.5),
    "cube root": (lambda x: x.relu() ** (1 / 3), 0.0),
}


@pytest.mark.parametrize("name", INFINITE_SLOPES)
def test_reverse_and_forward_mode_agree_at_infinite_slopes(name):
    function, point = INFINITE_SLOPES[name]
    assert grad(function)(number(point)).item() == 0
    assert jacfwd(function)(number(point)).item() == 0


# --- The zero is a cotangent that a mask made: it becomes a partial of the second derivative
def masked(function):
    return lambda x: wg.where(x > 0, function(x), wg.zeros_like(x))


SINGULAR_AT_ZERO = {
    "x log x": lambda x: x * x.log(),
    "sqrt": wg.sqrt,
    "1 / x": lambda x: 1 / x,
    "log": wg.log,
    "x ** 0.3": lambda x: x**0.3,
    "x ** x": lambda x: x**x,
    "exp(-1 / x)": lambda x: (-1 / x).exp(),
    "sqrt(log(1 + 1 / x))": lambda x: (1 + 1 / x).log().sqrt(),
    "norm": lambda x: wg.stack([x, x]).norm() / x,
    "atan2": lambda x: wg.atan2(x, x) * x.log(),
    "xlogy": lambda x: wg.xlogy(x, x),
    "lgamma": wg.lgamma,
    "digamma": wg.digamma,
}
SECOND = {
    "reverse over reverse": lambda f: jacrev(jacrev(f)),
    "forward over reverse": hessian,
    "reverse over forward": lambda f: jacrev(jacfwd(f)),
    "forward over forward": lambda f: jacfwd(jacfwd(f)),
}


@pytest.mark.parametrize("mode", SECOND)
@pytest.mark.parametrize("name", SINGULAR_AT_ZERO)
def test_second_derivatives_behind_a_mask_are_zero(name, mode):
    f = masked(SINGULAR_AT_ZERO[name])
    assert grad(f)(number(0.0)).item() == 0
    assert SECOND[mode](f)(number(0.0)).item() == 0


@pytest.mark.parametrize("mode", SECOND)
@pytest.mark.parametrize("name", SINGULAR_AT_ZERO)
def test_second_derivatives_of_elements_that_are_not_read_are_zero(name, mode):
    f = SINGULAR_AT_ZERO[name]
    point = number([0.0, 0.7, math.nan])
    found = SECOND[mode](lambda x: wg.stack([f(e) for e in x.unbind()])[1])(point)
    expected = np.zeros((3, 3))
    expected[1, 1] = SECOND[mode](f)(number(0.7)).item()
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)


# --- Distances of points that coincide, whatever their spelling
A = number([[1.0, 2.0], [3.0, 4.0]])
DISTANCES = {
    "norm": lambda x: (x - A).norm(dim=1).sum(),
    "root of a sum of squares": lambda x: ((x - A) ** 2).sum(1).sqrt().sum(),
    "power of a sum of squares": lambda x: ((x - A).square().sum(1) ** 0.5).sum(),
    "hypot": lambda x: wg.hypot((x - A)[:, 0], (x - A)[:, 1]).sum(),
    "abs of complex numbers": lambda x: wg.view_as_complex(x - A).abs().sum(),
    "dist": lambda x: wg.dist(x, A),
    "cdist": lambda x: wg.cdist(x, A).diagonal().sum(),
    "pdist": lambda x: wg.pdist(wg.cat([x[:1], x[:1]])).sum(),
    "pairwise_distance": lambda x: fn.pairwise_distance(x, A, eps=0.0).sum(),
    "pairwise_distance, p = 3": lambda x: fn.pairwise_distance(x, A, p=3.0, eps=0.0).sum(),
    "pairwise_distance, p = 1.5": lambda x: fn.pairwise_distance(x, A, p=1.5, eps=0.0).sum(),
    "triplet_margin_loss": lambda x: fn.triplet_margin_loss(x, A, A, eps=0.0),
    "std": lambda x: wg.cat([x[:1], x[:1]]).std(0).sum(),
    "std_mean": lambda x: wg.std_mean(wg.cat([x[:1], x[:1]]), 0)[0].sum(),
    "root of a variance": lambda x: wg.cat([x[:1], x[:1]]).var(0).sqrt().sum(),
    "renorm": lambda x: wg.renorm(x - A, 2, 0, 1.0).norm(),
    "frobenius": lambda x: wg.linalg.matrix_norm(x - A),
}


@pytest.mark.parametrize("name", DISTANCES)
def test_distances_of_points_that_coincide_have_the_gradient_0(name):
    f = DISTANCES[name]
    for derivative in (jacrev, jacfwd):
        np.testing.assert_array_equal(derivative(f)(A).numpy(), np.zeros((2, 2)))


# --- Infinite moduli
@pytest.mark.parametrize(
    ("z", "direction"),
    [
        (complex(INF, 0), 1),
        (complex(-INF, 3), -1),
        (complex(2, INF), 1j),
        (complex(INF, -INF), (1 - 1j) / math.sqrt(2)),
        (complex(1.5e308, 1.5e308), (1 + 1j) / math.sqrt(2)),
    ],
)
@pytest.mark.parametrize("dtype", [wg.complex128, wg.complex64])
def test_infinite_complex_numbers_have_a_direction(z, direction, dtype):
    if dtype is wg.complex64 and math.isfinite(abs(z.real) + abs(z.imag)):
        z = complex(3e38, 3e38)
    z = wg.tensor(z, dtype=dtype, requires_grad=True)
    close = {"rtol": 1e-6, "atol": 1e-7} if dtype is wg.complex64 else {"rtol": 1e-15, "atol": 1e-16}
    np.testing.assert_allclose(wg.autograd.grad(z.abs(), z)[0].numpy(), direction, **close)
    np.testing.assert_allclose(z.sgn().detach().numpy(), direction, **close)
    np.testing.assert_allclose(z.angle().item(), np.angle(direction), **close)
    for function in (wg.angle, lambda z: z.sgn().real, lambda z: z.sgn().imag, lambda z: z.log().imag):
        np.testing.assert_allclose(wg.autograd.grad(function(z), z)[0].numpy(), 0, atol=1e-37)


def test_parts_of_complex_factors_follow_the_rule():
    z = wg.tensor([complex(INF, 2.0)], dtype=wg.complex128, requires_grad=True)
    (g,) = wg.autograd.grad((z * z.detach()).real, z)
    np.testing.assert_array_equal(g.numpy(), [complex(INF, -2.0)])
