"""Singular points: gradients of masked, tied or degenerate inputs, which go wrong elsewhere; a test for each case."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import itertools

import numpy as np
import pytest

import wengert as wg
from tests.singular import f64, gradient, leaf
from wengert.autograd import grad
from wengert.autograd.functional import hessian, jacobian

inf = float("inf")


# --- Masked elements
def test_S1_masked_square_root():
    np.testing.assert_array_equal(gradient(lambda x: wg.where(x > 0, wg.sqrt(x), 0), [0.0, 4.0]), [0, 0.25])


def test_S2_masked_division():
    n = f64([0.0, 2.0])
    np.testing.assert_array_equal(gradient(lambda x: wg.where(n == 0, 0.0, x / n), [1.0, 1.0]), [0, 0.5])


def test_S3_clamped_overflow():
    assert gradient(lambda x: wg.clamp(wg.exp(x), max=1), 1000.0) == 0


def test_S3_selection_drops_infinite_gradients():
    for select in (
        wg.relu,
        lambda x: wg.clamp(x, min=0),
        lambda x: wg.maximum(x, f64(0.0)),
        lambda x: wg.nn.functional.relu6(x),
    ):
        np.testing.assert_array_equal(gradient(lambda x, select=select: wg.sqrt(select(x)), [-1.0, 4.0]), [0, 0.25])


# --- Powers and angles
def test_S6_power_of_zero_to_zero():
    base, exponent = gradient(wg.pow, 0.0, 0.0)
    assert base == 0
    assert exponent == 0


def test_S6_second_derivative_of_zero_to_a_power():
    assert hessian(lambda e: wg.pow(f64(0.0), e), f64(2.0)).item() == 0
    assert hessian(lambda e: 0**e, f64(2.0)).item() == 0


def test_S6_mixed_derivative_of_power_where_the_exponent_is_zero():
    """d/de of e * x**(e - 1) at e = 0 is 1 / x: the derivative is 0 there, its own derivatives are not."""
    h = hessian(wg.pow, (f64(2.0), f64(0.0)))
    np.testing.assert_allclose(h[0][1].item(), 0.5)
    np.testing.assert_allclose(h[1][0].item(), 0.5)


def test_S7_atan2_of_zeros():
    assert gradient(wg.atan2, 0.0, 0.0) == [0, 0]


@pytest.mark.parametrize("function", [wg.angle, wg.abs])
def test_S7_complex_zero(function):
    z = wg.zeros(1, dtype=wg.complex128, requires_grad=True)
    assert grad(function(z).sum(), z)[0].item() == 0


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_S7_angle_of_tiny_and_huge_numbers(scale):
    z = wg.tensor([scale + 1j * scale], dtype=wg.complex128, requires_grad=True)
    y = wg.angle(z)
    np.testing.assert_allclose(y.detach().numpy(), [np.pi / 4])
    np.testing.assert_allclose(grad(y.sum(), z)[0].numpy(), [(-0.5 + 0.5j) / scale], rtol=1e-14)
    assert np.allclose(np.asarray(gradient(wg.atan2, scale, scale)) * scale, [0.5, -0.5])


# --- Infinities
def test_S8_logsumexp_of_minus_infinities():
    x = leaf([-inf, -inf])
    y = wg.logsumexp(x, 0)
    assert y.item() == -inf
    np.testing.assert_array_equal(grad(y, x)[0].numpy(), [0, 0])


def test_S8_logaddexp_of_minus_infinities():
    a, b = leaf(-inf), leaf(-inf)
    y = wg.logaddexp(a, b)
    assert y.item() == -inf
    assert [g.item() for g in grad(y, (a, b))] == [0, 0]


# --- Products
def test_S9_prod_with_a_zero():
    np.testing.assert_array_equal(gradient(wg.prod, [2.0, 0.0, 3.0, 4.0]), [0, 24, 0, 0])


def test_S9_second_derivatives_of_prod_with_two_zeros():
    values = np.array([2.0, 3.0, 0.0, 0.0])
    h = hessian(wg.prod, f64(values)).numpy()
    assert h[2, 3] == 6
    for i, j in itertools.permutations(range(4), 2):
        assert h[i, j] == np.prod(np.delete(values, [i, j]))


def test_S9_cumprod_with_a_zero():
    np.testing.assert_array_equal(gradient(lambda x: wg.cumprod(x, 0), [2.0, 0.0, 3.0, 4.0]), [1, 32, 0, 0])


# --- Matrices
def by_eigenvalues(function, a):
    w, v = wg.linalg.eigh(0.5 * (a + a.mH))
    return v @ wg.diag(function(w)).to(v.dtype) @ v.mH


def rotated(*values):
    """A matrix with these eigenvalues."""
    q, _ = np.linalg.qr(np.random.default_rng(5).normal(size=(len(values), len(values))))
    return q @ np.diag(values) @ q.T


MATRICES = {
    "identity": np.eye(2),
    "one block": rotated(2.0, 2.0, 5.0),
    "two blocks": rotated(1.0, 1.0, 3.0, 3.0, 3.0),
    "zero": np.zeros((3, 3)),
}


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("power", [2, 3])
def test_S10_smooth_function_of_a_matrix_with_repeated_eigenvalues(name, power):
    a = leaf(MATRICES[name])
    weights = f64(np.cos(np.arange(a.numel()) + 1.0).reshape(a.shape))
    (g,) = grad((by_eigenvalues(lambda w: w**power, a) * weights).sum(), a)
    symmetric = 0.5 * (a + a.mT)
    product = symmetric @ symmetric if power == 2 else symmetric @ symmetric @ symmetric
    (expected,) = grad((product * weights).sum(), a)
    np.testing.assert_allclose(g.numpy(), expected.numpy(), atol=1e-10)
    assert not g.requires_grad


def test_S10_smooth_function_of_a_hermitian_matrix_with_repeated_eigenvalues():
    a = wg.tensor(np.eye(3) * (2 + 0j), requires_grad=True)
    weights = wg.tensor(np.cos(np.arange(9) + 1.0).reshape(3, 3) + 1j * np.sin(np.arange(9) * 1.7).reshape(3, 3))
    (g,) = grad((by_eigenvalues(lambda w: w**2, a) * weights).real.sum(), a)
    hermitian = 0.5 * (a + a.mH)
    (expected,) = grad(((hermitian @ hermitian) * weights).real.sum(), a)
    np.testing.assert_allclose(g.numpy(), expected.numpy(), atol=1e-10)


def test_S10_square_root_and_logarithm_of_the_identity_by_eigenvalues():
    """Both have the derivative f'(1) at the identity, in every direction."""
    for function, slope in ((wg.sqrt, 0.5), (wg.log, 1.0)):
        a = leaf(np.eye(3))
        weights = f64([[1.0, 2.0, 3.0], [2.0, 4.0, 5.0], [3.0, 5.0, 6.0]])
        (g,) = grad((by_eigenvalues(function, a) * weights).sum(), a)
        np.testing.assert_allclose(g.numpy(), slope * weights.numpy(), atol=1e-12)


def test_S10_gradient_through_repeated_eigenvalues_is_accumulated_detached():
    a, b = leaf(np.eye(2)), leaf(np.ones((2, 2)))
    (by_eigenvalues(lambda w: w**2, a) * b).sum().backward()
    assert not a.grad.requires_grad
    assert not b.grad.requires_grad
    np.testing.assert_allclose(a.grad.numpy(), 2 * np.ones((2, 2)), atol=1e-12)
    np.testing.assert_allclose(b.grad.numpy(), np.eye(2), atol=1e-12)


def test_S10_second_derivative_at_repeated_eigenvalues_is_not_silently_wrong():
    a = leaf(np.eye(2))
    (g,) = grad(by_eigenvalues(lambda w: w**2, a)[0, 1], a, create_graph=True)
    (h,) = grad(g[0, 1], a)
    assert np.isnan(h.numpy()).any()


@pytest.mark.parametrize(
    ("matrix", "cofactors"),
    [
        ([[1, 1], [1, 1]], [[1, -1], [-1, 1]]),
        ([[1, 2, 3], [4, 5, 6], [7, 8, 9]], [[-3, 6, -3], [6, -12, 6], [-3, 6, -3]]),
    ],
)
def test_S11_determinant_of_a_singular_matrix(matrix, cofactors):
    a = leaf(np.array(matrix, dtype=float))
    np.testing.assert_allclose(grad(wg.linalg.det(a), a)[0].numpy(), cofactors, atol=1e-12)


def test_S12_distances_of_coincident_points():
    points = np.array([[0.0, 1.0], [0.0, 1.0], [2.0, 0.0]])

    def kernel(x):
        return wg.exp(-wg.cdist(x, x)).sum()

    x = leaf(points)
    (g,) = grad(kernel(x), x, create_graph=True)
    assert np.isfinite(g.detach().numpy()).all()
    (second,) = grad((g * g).sum(), x)
    assert second.shape == x.shape


# --- Kinks
def test_S13_one_convention_at_the_kink():
    zero = f64(0.0)
    functional = wg.nn.functional
    for function in (
        lambda x: wg.clamp(x, min=0),
        lambda x: wg.clamp(x, min=zero),
        lambda x: wg.clamp(x, 0, 1),
        lambda x: wg.maximum(x, zero),
        lambda x: wg.fmax(x, zero),
        lambda x: functional.threshold(x, 0, 0),
        lambda x: functional.relu6(x),
        wg.relu,
    ):
        assert gradient(function, 0.0) == 0


def test_S14_max_with_ties_has_one_rule():
    x = [1.0, 3.0, 3.0]
    full = gradient(wg.amax, x)
    along = gradient(lambda x: wg.amax(x, 0), x)
    np.testing.assert_array_equal(full, along)
    whole = gradient(wg.max, x)
    axis = gradient(lambda x: wg.max(x, 0).values, x)
    np.testing.assert_array_equal(whole, axis)


def test_S1_jacobian_of_masked_function_in_both_modes():
    def function(x):
        return wg.where(x > 0, wg.log(x), x)

    for strategy in ("reverse-mode", "forward-mode"):
        j = jacobian(function, f64([0.0, 2.0]), strategy=strategy, vectorize=strategy == "forward-mode")
        np.testing.assert_array_equal(j.numpy(), [[1, 0], [0, 0.5]])
