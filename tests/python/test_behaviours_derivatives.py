"""Derivatives of higher order and forward mode, as people asked for them of other systems."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import time

import numpy as np
import pytest

import wengert as wg
from tests.functions import Square
from wengert import func
from wengert.autograd import Function, forward_ad, grad, gradcheck


def f64(value, **options):
    return wg.tensor(value, dtype=wg.float64, **options)


def along(function):
    """The derivative of a function of a number, in forward mode; nests."""

    def derivative(t):
        with forward_ad.dual_level():
            tangent = forward_ad.unpack_dual(function(forward_ad.make_dual(t, wg.ones_like(t)))).tangent
        return wg.zeros_like(t) if tangent is None else tangent

    return derivative


def matrix(t):
    """Its determinant is (t + 2) (2 t + 3) - 1."""
    return wg.stack([wg.stack([t + 2, wg.ones_like(t)]), wg.stack([wg.ones_like(t), 2 * t + 3])])


def test_H1_second_derivative_of_a_determinant_by_nested_tangents():
    np.testing.assert_allclose(along(along(lambda t: wg.linalg.det(matrix(t))))(f64(0.3)).item(), 4, rtol=1e-12)


def test_H2_second_derivative_of_a_logarithmic_determinant():
    def logdet(t):
        one, zero = wg.ones_like(t), wg.zeros_like(t)
        return wg.linalg.slogdet(wg.stack([wg.stack([3 * t + 5, zero]), wg.stack([t, one])]))[1]

    np.testing.assert_allclose(along(along(logdet))(f64(0.7)).item(), -9 / (3 * 0.7 + 5) ** 2, rtol=1e-12)


SPD = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])


def test_H3_cholesky_inverse_has_a_tangent():
    factor, direction = np.linalg.cholesky(SPD), np.tril(np.cos(np.arange(9.0).reshape(3, 3)))
    h = 1e-6
    numeric = (np.linalg.inv((factor + h * direction) @ (factor + h * direction).T)
               - np.linalg.inv((factor - h * direction) @ (factor - h * direction).T)) / (2 * h)  # fmt: skip
    tangent = func.jvp(wg.cholesky_inverse, (f64(factor),), (f64(direction),))[1]
    np.testing.assert_allclose(tangent.numpy(), numeric, atol=1e-8)


def test_H4_cholesky_solve_through_the_factor():
    b = f64([[1.0], [2.0], [3.0]])
    a, x = f64(SPD, requires_grad=True), f64(SPD, requires_grad=True)
    weights = f64([[1.0], [-1.0], [2.0]])
    (actual,) = grad((wg.cholesky_solve(b, wg.linalg.cholesky(a)) * weights).sum(), a)
    (expected,) = grad((wg.linalg.solve(x, b) * weights).sum(), x)
    np.testing.assert_allclose(actual.numpy(), (expected.numpy() + expected.numpy().T) / 2, atol=1e-12)


def test_H5_custom_function_nested_in_forward_mode():
    def fourth(x):
        return Square.apply(Square.apply(x))

    x, values = f64(3.0), []
    derivative = fourth
    for _ in range(3):
        derivative = along(derivative)
        values.append(derivative(x).item())
    assert values == [108, 108, 72]


def test_H6_perturbations_are_not_confused():
    for d in (along, func.grad):
        assert d(lambda x, d=d: x * d(lambda y: x + y)(f64(1.0)))(f64(1.0)).item() == 1

        def outer(x, d=d):
            def inner(y):
                return x + y

            bound = inner
            slope = d(bound)(f64(1.0))
            inner = None  # the closure is bound again
            return x * slope

        assert d(outer)(f64(1.0)).item() == 1


class Scaled(Function):
    @staticmethod
    def forward(ctx, x, factor, label):
        ctx.factor = factor
        return x * factor, label

    @staticmethod
    def backward(ctx, g, _):
        return g * ctx.factor, None, None

    @staticmethod
    def jvp(ctx, t, factor, label):
        assert factor is None
        assert label is None
        return t * ctx.factor, None


def test_H7_forward_rule_with_other_arguments_and_results_than_tensors():
    with forward_ad.dual_level():
        value, label = Scaled.apply(forward_ad.make_dual(f64(2.0), f64(1.0)), 3.0, "name")
        assert label == "name"
        assert forward_ad.unpack_dual(value).tangent.item() == 3


class Same(Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, g):
        return g

    @staticmethod
    def jvp(ctx, t):
        return t.view_as(t)


def test_H7_forward_rule_of_a_function_that_returns_its_input():
    with forward_ad.dual_level():
        value = Same.apply(forward_ad.make_dual(f64(2.0), f64(5.0)))
        assert forward_ad.unpack_dual(value).tangent.item() == 5


def test_H8_no_grad_stops_reverse_mode_only():
    with forward_ad.dual_level(), wg.no_grad():
        y = forward_ad.make_dual(f64(2.0, requires_grad=True), f64(1.0)) ** 2
        assert forward_ad.unpack_dual(y).tangent.item() == 4
        assert not y.requires_grad
    with wg.no_grad():
        assert func.jvp(lambda x: x**2, (f64(2.0),), (f64(1.0),))[1].item() == 4


@pytest.mark.parametrize(
    "function",
    [
        lambda x: wg.cdist(x, 2 * x + 1),
        lambda x: wg.nn.functional.binary_cross_entropy(wg.sigmoid(x), wg.sigmoid(x + 1)),
        lambda x: wg.nn.functional.unfold(x.reshape(1, 1, 3, 2), (2, 2)),
        lambda x: wg.nn.functional.batch_norm(x, None, None, training=True),
        lambda x: wg.log_softmax(x, -1),
    ],
)
def test_H9_every_operation_has_both_modes_and_second_derivatives(function):
    x = f64(np.sin(np.arange(6.0)).reshape(3, 2), requires_grad=True)
    assert gradcheck(function, (x,), check_forward_ad=True)
    assert wg.autograd.gradgradcheck(function, (x,), check_fwd_over_rev=True)


def test_H10_cost_of_the_next_derivative_does_not_triple():
    """By Taylor series, whose cost grows with the square of the order."""
    x = f64(0.3)

    def cost(order):
        def run():
            begin = time.perf_counter()
            func.jet(lambda t: wg.tanh(wg.tanh(t)), (x,), ([wg.ones_like(x), *[wg.zeros_like(x)] * (order - 1)],))
            return time.perf_counter() - begin

        run()
        return min(run() for _ in range(5))

    assert cost(9) < 100 * cost(1)


def test_H11_gradients_of_symmetric_factorizations_are_symmetric():
    for function in (
        lambda a: wg.linalg.cholesky(a).sum(),
        lambda a: wg.linalg.eigh(a)[0].square().sum() + wg.linalg.eigh(a)[1][:, 0].square()[0],
    ):
        a = f64(SPD, requires_grad=True)
        g = grad(function(a), a)[0].numpy()
        np.testing.assert_allclose(g, g.T, atol=1e-13)


def test_H12_second_derivative_of_a_custom_function_again():
    x = f64(3.0, requires_grad=True)
    y = Square.apply(Square.apply(x))
    for _ in range(3):
        (g,) = grad(y, x, create_graph=True)
        (h,) = grad(g, x, retain_graph=True)
        assert (g.item(), h.item()) == (108, 108)
        del g, h
