"""Singular points: gradients of masked, tied or degenerate inputs, which go wrong elsewhere; a test for each case."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import itertools

import numpy as np
import pytest

import wengert as wg
from wengert.autograd import forward_ad, grad
from wengert.autograd.functional import hessian, jacobian

inf = float("inf")


def f64(value, **options):
    return wg.tensor(value, dtype=wg.float64, **options)


def leaf(value):
    return f64(value, requires_grad=True)


def gradient(function, *values):
    """In reverse mode, checked against forward mode."""
    xs = [leaf(v) for v in values]
    gradients = [g.numpy() for g in grad(function(*xs).sum(), xs, allow_unused=True, materialize_grads=True)]
    for x, g in zip(xs, gradients, strict=True):
        for index in np.ndindex(*x.shape):
            direction = np.zeros(x.shape)
            direction[index] = 1
            with forward_ad.dual_level():
                duals = [forward_ad.make_dual(y.detach(), f64(direction)) if y is x else y.detach() for y in xs]
                t = forward_ad.unpack_dual(function(*duals).sum()).tangent
                np.testing.assert_allclose(0 if t is None else t.item(), g[index], rtol=1e-13)
    return gradients[0] if len(gradients) == 1 else gradients


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


# --- Norms
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


def test_S4_lengths_of_one_vector_are_seen_together():
    point = f64([0.0, 0.0])
    for function, expected in (
        (lambda x: x.norm() * x.norm(), 2),
        (lambda x: (x.norm() + x.norm()) ** 2, 8),
        (lambda x: (3 * x.norm() + x.norm(keepdim=True).sum()) ** 2 / 8, None),
        (lambda x: wg.exp(-x.norm() * x.norm()), -2),
    ):
        h = hessian(function, point).numpy()
        if expected is not None:
            np.testing.assert_allclose(h, expected * np.eye(2), atol=1e-14)


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
