"""Singular points of lengths and spreads: norms, hypot, absolute values, var and std where they are 0."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import numpy as np
import pytest

import wengert as wg
from tests.singular import f64, gradient, leaf
from wengert.autograd import forward_ad, grad
from wengert.autograd.functional import hessian

inf = float("inf")


def test_S4_norm_of_zero():
    np.testing.assert_array_equal(gradient(wg.linalg.norm, [0.0, 0.0, 0.0]), [0, 0, 0])
    np.testing.assert_array_equal(gradient(lambda x: wg.linalg.norm(x) ** 2, [0.0, 0.0]), [0, 0])


def test_S4_hessian_through_norm_of_zero():
    np.testing.assert_allclose(
        hessian(lambda x: wg.exp(-(wg.linalg.norm(x) ** 2)), f64([0.0, 0.0])).numpy(), -2 * np.eye(2)
    )


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x.norm() ** 2, 2 * np.eye(3)),
        (lambda x: x.norm().cos(), -np.eye(3)),
        (lambda x: x.norm() ** 3, np.zeros((3, 3))),
        (lambda x: wg.linalg.vector_norm(x, 4) ** 4, np.zeros((3, 3))),
        (lambda x: (wg.cdist(x[None], wg.zeros(1, 3, dtype=wg.float64)) ** 2).sum(), 2 * np.eye(3)),
        (lambda x: x.std() ** 2, np.eye(3) - 1 / 3),
    ],
)
def test_S4_hessian_of_smooth_functions_of_lengths_at_zero(function, expected):
    np.testing.assert_allclose(hessian(function, f64([0.0, 0.0, 0.0])).numpy(), expected, atol=1e-15)


def test_S4_tangent_of_the_gradient_of_a_squared_norm_at_zero():
    """Forward over reverse sees the same limit, where the gradient is recorded."""
    x = leaf([0.0, 0.0])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, f64([1.0, 2.0]))
        (g,) = grad(dual.norm() ** 2, dual, create_graph=True)
        np.testing.assert_allclose(forward_ad.unpack_dual(g).tangent.detach().numpy(), [2, 4])


def test_S4_second_derivative_of_norm_itself_at_zero_is_infinite():
    h = hessian(wg.linalg.norm, f64([0.0, 0.0])).numpy()
    assert not np.isfinite(h).all()


def test_S4_masked_norm_of_zero_has_second_derivatives():
    rows, mask = np.array([[0.0, 0.0], [3.0, 4.0]]), wg.tensor([False, True])

    def loss(x):
        return (wg.where(mask, x.norm(dim=-1), 0) ** 2).sum()

    h = hessian(loss, f64(rows)).numpy().reshape(4, 4)
    np.testing.assert_allclose(h, np.diag([0.0, 0, 2, 2]), atol=1e-14)


def test_S4_several_lengths_that_vanish_together_are_not_silently_flat():
    for function in (
        lambda x: x.norm() * x.norm(),
        lambda x: (x.norm() + x.norm()) ** 2,
        lambda x: (3 * x.norm() + x.norm(keepdim=True).sum()) ** 2,
        lambda x: wg.exp(-x.norm() * x.norm()),
    ):
        assert np.isnan(hessian(function, f64([0.0, 0.0])).numpy()).any()


def test_S4_product_of_lengths_that_do_not_know_each_other_is_not_silently_flat():
    h = hessian(lambda x: x.norm() * (2 * x).norm(), f64([0.0, 0.0])).numpy()
    assert np.isnan(h).any()


LENGTHS = {
    "hypot": lambda x: wg.hypot(x[0], x[1]),
    "complex": lambda x: wg.abs(wg.complex(x[0], x[1])),
    "root": lambda x: wg.sqrt((x * x).sum()),
    "norm": wg.linalg.norm,
    "broadcast": lambda x: wg.hypot(x[0], x[1:]).sum(),
}


@pytest.mark.parametrize("name", LENGTHS)
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda r: r**2, 2),
        (lambda r: r * r, 2),
        (lambda r: wg.exp(-(r**2)), -2),
        (lambda r: wg.cos(r), -1),
        (lambda r: wg.where(r > 0, r, 0), 0),
    ],
)
def test_S4_second_derivatives_of_smooth_functions_of_a_length(name, function, expected):
    length = LENGTHS[name]
    point = f64([0.0, 0.0])
    by_reverse = hessian(lambda x: function(length(x)), point).numpy()
    by_both = wg.func.hessian(lambda x: function(length(x)))(point).numpy()
    np.testing.assert_allclose(by_reverse, expected * np.eye(2), atol=1e-14)
    np.testing.assert_allclose(by_both, expected * np.eye(2), atol=1e-14)


def test_S4_gradient_of_a_squared_complex_number_at_zero_is_recorded():
    z = wg.zeros(2, dtype=wg.complex128, requires_grad=True)
    (g,) = grad((z.abs() ** 2).sum(), z, create_graph=True)
    direction = wg.tensor([1 + 2j, -1j])
    (h,) = grad(g, z, direction)
    np.testing.assert_allclose(h.numpy(), 2 * direction.numpy())


def test_S4_absolute_values_of_real_numbers_have_a_kink():
    """Like that of relu its second derivative is 0 everywhere; squares have one."""
    for function in (lambda x: abs(x), lambda x: abs(x) ** 2, lambda x: (abs(x) + abs(x)) ** 2):
        assert hessian(lambda x, f=function: f(x).sum(), f64([0.0])).item() == 0
    assert hessian(lambda x: x.square().sum(), f64([0.0])).item() == 2


def test_S5_variance_without_missing_values():
    x = leaf([1.0, np.nan, 3.0])
    kept = wg.where(wg.isnan(x), 0, x)
    count = (~wg.isnan(x)).sum()
    mean = kept.sum() / count
    variance = wg.where(wg.isnan(x), 0, (x - mean) ** 2).sum() / (count - 1)
    np.testing.assert_allclose(grad(variance, x)[0].numpy(), [-2, 0, 2])
    y = leaf([1.0, np.nan, 3.0])
    np.testing.assert_allclose(grad(np.nanvar(y, ddof=1), y)[0].numpy(), [-2, 0, 2])


@pytest.mark.parametrize(
    ("point", "expected"),
    [
        ((np.inf, 1.0), (1, 0)),
        ((-np.inf, 1.0), (-1, 0)),
        ((2.0, np.inf), (0, 1)),
        ((np.inf, -np.inf), (0.5**0.5, -(0.5**0.5))),
    ],
)
def test_S4_hypot_at_infinity(point, expected):
    x, y = leaf(point[0]), leaf(point[1])
    np.testing.assert_allclose([g.item() for g in grad(wg.hypot(x, y), (x, y))], expected)


@pytest.mark.parametrize("name", ["var", "std"])
def test_S5_spread_of_one_element(name):
    x = leaf([3.0])
    with pytest.warns(UserWarning, match="degrees of freedom"):
        y = getattr(wg, name)(x)
    assert grad(y, x)[0].shape == x.shape
