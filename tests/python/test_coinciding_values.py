"""Derivatives where eigenvalues or singular values are equal or zero, against formulas and finite differences.

Functions that do not depend on the choice of vectors have their derivative there; others are NaN, and an error in debug
mode.
"""

import numpy as np
import pytest
import scipy.linalg

import wengert as wg
from wengert.autograd import forward_ad, grad

RNG = np.random.default_rng(11)
BITS = {np.dtype(np.float64): 1e-9, np.dtype(np.complex128): 1e-9, np.dtype(np.float32): 1e-3}


def orthogonal(n, *, is_complex=False):
    a = RNG.normal(size=(n, n)) + (1j * RNG.normal(size=(n, n)) if is_complex else 0)
    return np.linalg.qr(a)[0]


def with_values(values, shape=None, *, is_complex=False):
    """A matrix with these singular values."""
    m, n = shape or (len(values), len(values))
    u, v = orthogonal(m, is_complex=is_complex), orthogonal(n, is_complex=is_complex)
    s = np.zeros((m, n))
    np.fill_diagonal(s, values)
    return u @ s @ v.conj().T


def hermitian(values, *, is_complex=False):
    q = orthogonal(len(values), is_complex=is_complex)
    return (q * np.asarray(values)) @ q.conj().T


def adjoint(a):
    return np.conj(np.swapaxes(a, -2, -1))


def directions(a):
    for _ in range(3):
        d = RNG.normal(size=a.shape) + (1j * RNG.normal(size=a.shape) if np.iscomplexobj(a) else 0)
        yield d.astype(a.dtype)


def inner(a, b):
    return float(np.sum(np.conj(a) * b).real)


def along(function, a, d):
    """The tangent in forward mode."""
    with forward_ad.dual_level():
        y = function(forward_ad.make_dual(wg.tensor(a), wg.tensor(d)))
        return forward_ad.unpack_dual(y).tangent.numpy()


def check(function, a, derivative, rtol=None):
    """Both modes against derivative(a, d), the change of function along d."""
    rtol = rtol or BITS[a.dtype]
    for d in directions(a):
        expected = derivative(a, d)
        scale = np.abs(expected).max() + 1
        np.testing.assert_allclose(along(function, a, d), expected, rtol=0, atol=rtol * scale)
        weight = RNG.normal(size=expected.shape) + (1j * RNG.normal(size=expected.shape) if np.iscomplexobj(a) else 0)
        x = wg.tensor(a, requires_grad=True)
        (g,) = grad(function(x), x, wg.tensor(weight.astype(expected.dtype)))
        np.testing.assert_allclose(inner(g.numpy(), d), inner(weight, expected), rtol=0, atol=rtol * scale * a.size)


# --- Singular values
def polar(a):
    u, _, vh = wg.linalg.svd(a, full_matrices=False)
    return u @ vh


def polar_derivative(a, d):
    """H Omega + Omega H = W^H D - D^H W for the part along W, and what is outside of its range over H."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    w, h = u @ vh, adjoint(vh) @ np.diag(s) @ vh
    omega = scipy.linalg.solve_sylvester(h, h, adjoint(w) @ d - adjoint(d) @ w)
    return w @ omega + (d - w @ (adjoint(w) @ d)) @ np.linalg.inv(h)


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("values", [[1, 1], [2, 2, 2], [3, 3, 1], [3, 1, 1, 1], [2, 2, 1, 1]])
def test_polar_factor(values, is_complex):
    check(polar, with_values(values, is_complex=is_complex), polar_derivative)
    n = len(values)
    check(polar, with_values(values, (n + 2, n), is_complex=is_complex), polar_derivative)


def test_polar_factor_of_the_identity():
    for dtype in (np.float64, np.float32):
        check(polar, np.eye(3, dtype=dtype), lambda a, d: (d - d.T) / 2)


def rotation(a):
    """The nearest one: U diag(1, ..., det(U V^T)) V^T."""
    u, _, vh = wg.linalg.svd(a)
    sign = wg.linalg.det(u @ vh)
    ones = wg.ones(a.shape[-1] - 1, dtype=a.dtype)
    return (u * wg.cat([ones, sign.detach().reshape(1)])) @ vh


def rotation_numbers(a):
    u, _, vh = np.linalg.svd(a)
    u[:, -1] *= np.linalg.det(u @ vh)
    return u @ vh


@pytest.mark.parametrize("values", [[1, 1, 1], [2, 2, 1], [2, 1, 1], [2, 2, 0]])
@pytest.mark.parametrize("sign", [1, -1])
def test_nearest_rotation(values, sign):
    a = with_values(values)
    if np.linalg.det(a) * sign < 0:
        a[:, 0] *= -1
    if sign < 0 and values[-1] == values[-2]:
        pytest.skip("not smooth: two singular values of opposite signs meet")

    def differences(a, d, h=1e-5):
        return (rotation_numbers(a + h * d) - rotation_numbers(a - h * d)) / (2 * h)

    if values[-1] != 0:  # the sign of the determinant is that of rounding there
        check(rotation, a, differences, rtol=1e-7)


def rebuilt(a):
    u, s, vh = wg.linalg.svd(a, full_matrices=False)
    return (u * s.unsqueeze(-2)) @ vh


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (3, 4)])
@pytest.mark.parametrize("values", [[0, 0, 0], [2, 0, 0], [2, 2, 0], [1, 1, 1], [3, 2, 0]])
def test_decomposition_put_together_is_the_matrix(values, shape, is_complex):
    check(rebuilt, with_values(values, shape, is_complex=is_complex), lambda a, d: d)


def cubed(a):
    u, s, vh = wg.linalg.svd(a, full_matrices=False)
    return (u * s**3) @ vh


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 5)])
@pytest.mark.parametrize("values", [[2, 0, 0], [1, 1, 1], [3, 3, 0]])
def test_odd_function_of_singular_values(values, shape, is_complex):
    def derivative(a, d):
        h, dh = adjoint(a), adjoint(d)
        return d @ h @ a + a @ dh @ a + a @ h @ d

    check(cubed, with_values(values, shape, is_complex=is_complex), derivative)


def test_full_matrices():
    check(
        lambda a: (lambda u, s, vh: (u[:, :3] * s) @ vh[:3])(*wg.linalg.svd(a)),
        with_values([2, 2, 0], (4, 3)),
        lambda a, d: d,
    )


def gram_root(a):
    """(A^H A)^(1/2), where no singular value is 0."""
    _, s, vh = wg.linalg.svd(a, full_matrices=False)
    return (vh.mH * s) @ vh


def test_function_of_right_vectors():
    def derivative(a, d):
        root = scipy.linalg.sqrtm(adjoint(a) @ a).real
        return scipy.linalg.solve_sylvester(root, root, adjoint(a) @ d + adjoint(d) @ a)

    check(gram_root, with_values([2, 2, 1], (4, 3)), derivative)


# --- Hermitian eigenvalues
def by_eigh(f):
    def function(a):
        w, v = wg.linalg.eigh((a + a.mH) / 2)
        return (v * f(w).unsqueeze(-2)) @ v.mH

    return function


def frechet(f):
    """Of a function of a Hermitian matrix: the upper right block of f([[A, D], [0, A]])."""

    def derivative(a, d):
        n = len(a)
        d = (d + adjoint(d)) / 2
        return f(np.block([[a, d], [np.zeros_like(a), a]]))[:n, n:]

    return derivative


SPECTRA = [[1, 1], [2, 2, 5], [1, 1, 3, 3, 3], [2, 2, 2, 2, 7, 8], [4, 4, 4]]


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("values", SPECTRA)
def test_functions_of_hermitian_matrices(values, is_complex):
    a = hermitian(values, is_complex=is_complex)
    check(by_eigh(lambda w: w**3), a, frechet(lambda x: x @ x @ x))
    check(by_eigh(wg.exp), a, frechet(scipy.linalg.expm))
    check(by_eigh(lambda w: 1 / w), a, lambda a, d: -np.linalg.inv(a) @ ((d + adjoint(d)) / 2) @ np.linalg.inv(a))


def test_float32():
    check(by_eigh(lambda w: w**2), hermitian([2, 2, 5]).astype(np.float32), frechet(lambda x: x @ x))


def test_zero_matrix():
    check(by_eigh(lambda w: w**2 + w), np.zeros((3, 3)), frechet(lambda x: x @ x + x))


# --- General eigenvalues
def by_eig(f):
    def function(a):
        w, v = wg.linalg.eig(a)
        y = (v * f(w)) @ wg.linalg.inv(v)
        return y if a.is_complex() else y.real

    return function


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("values", [[1, 1], [2, 2, 5], [1, 1, 3, 3]])
def test_functions_of_general_matrices(values, is_complex):
    basis = with_values(np.linspace(1, 2, len(values)), is_complex=is_complex)
    a = basis @ np.diag(values) @ np.linalg.inv(basis)

    def derivative(f):
        def of(a, d):
            n = len(a)
            return f(np.block([[a, d], [np.zeros_like(a), a]]))[:n, n:]

        return of

    check(by_eig(lambda w: w**2), a, derivative(lambda x: x @ x), rtol=1e-8)
    check(by_eig(wg.exp), a, derivative(scipy.linalg.expm), rtol=1e-8)


def test_defective_matrix_is_nan():
    a = wg.tensor([[1.0, 1.0], [0.0, 1.0]], dtype=wg.float64, requires_grad=True)
    w, v = wg.linalg.eig(a)
    assert grad(v.real[0, 1], a, retain_graph=True)[0].isnan().all()
    assert grad(w.real.square().sum(), a)[0].isnan().all()  # 2 A^T, but no vectors tell the element off the diagonal


# --- Batches
def test_batches_mix_regular_and_singular_matrices():
    a = np.stack([with_values([3, 2, 1]), np.eye(3), with_values([2, 0, 0]), with_values([2, 2, 1])])
    check(rebuilt, a, lambda a, d: d)
    h = np.stack([hermitian([1, 2, 3]), np.eye(3), hermitian([2, 2, 5])])
    check(by_eigh(lambda w: w**2), h, lambda a, d: a @ (d + adjoint(d)) / 2 + (d + adjoint(d)) / 2 @ a)


def test_nan_stays_in_its_matrix():
    x = wg.tensor(np.stack([np.eye(2), np.diag([1.0, 2.0])]), requires_grad=True)
    (g,) = grad(wg.linalg.eigh(x)[1][:, 0, 1].sum(), x)
    assert np.isnan(g[0].numpy()).all()
    assert np.isfinite(g[1].numpy()).all()


# --- Functions that depend on the choice
WEIGHTS = wg.tensor(np.cos(np.arange(9.0)).reshape(3, 3) + np.sin(np.arange(9.0)).reshape(3, 3).T)
DEPENDENT = {
    "eigh": (lambda a: (wg.linalg.eigh(a)[1] ** 2 * WEIGHTS).sum(), hermitian([2, 2, 5])),
    "eigh, values": (lambda a: (lambda w, v: ((v * w * WEIGHTS[0]) @ v.mT)[0, 1])(*wg.linalg.eigh(a)), np.eye(3)),
    "eig": (lambda a: (wg.linalg.eig(a)[1].abs() * WEIGHTS).sum(), hermitian([2, 2, 5])),
    "svd, left": (lambda a: (wg.linalg.svd(a)[0] ** 2 * WEIGHTS).sum(), with_values([2, 2, 1])),
    "svd, right": (lambda a: (wg.linalg.svd(a)[2] ** 2 * WEIGHTS).sum(), with_values([2, 2, 1])),
    "svd, zero": (lambda a: (lambda u, s, v: (u @ v)[0, 1])(*wg.linalg.svd(a)), with_values([2, 0, 0])),
    "svd, tall": (lambda a: (lambda u, s, v: (u @ v)[0, 1])(*wg.linalg.svd(a, False)), with_values([2, 1, 0], (4, 3))),
}


@pytest.mark.parametrize("name", DEPENDENT)
def test_dependence_on_the_choice_is_nan(name):
    function, a = DEPENDENT[name]
    x = wg.tensor(a, requires_grad=True)
    (g,) = grad(function(x), x)
    assert np.isnan(g.numpy()).all()


@pytest.mark.parametrize("name", DEPENDENT)
def test_dependence_on_the_choice_is_an_error_in_debug_mode(name):
    function, a = DEPENDENT[name]
    x = wg.tensor(a, requires_grad=True)
    with (
        wg.autograd.set_debug_mode(True),
        pytest.raises(RuntimeError, match=r"\[linalg\.(eigh|eig|svd)\] the gradient depends on the choice of vectors"),
    ):
        grad(function(x), x)


@pytest.mark.parametrize("values", [[2, 2, 5], [2, 2, 2, 5, 6]])
def test_continued_eigenvectors_move_along_a_line(values):
    """Along A + t D there are eigenvectors that move smoothly, except for their signs."""
    a = hermitian(values)
    for d in directions(a):
        d = d + d.T
        t = along(lambda x: wg.linalg.eigh(x)[1].square(), a, d)
        h = 1e-4
        shifted = [np.linalg.eigh(a + s * h * d)[1] ** 2 for s in (1, 2)]
        # Order is by value, so only of one side: a one-sided difference of second order, from the vectors at 0.
        with forward_ad.dual_level():
            v = wg.linalg.eigh(forward_ad.make_dual(wg.tensor(a), wg.tensor(d)))[1]
            start = forward_ad.unpack_dual(v).primal.numpy() ** 2
        np.testing.assert_allclose(t, (4 * shifted[0] - shifted[1] - 3 * start) / (2 * h), atol=1e-4)


# --- Values alone, to second order
def second_derivatives(function, a, d):
    """Along d, in both orders of the modes and in reverse mode twice."""
    x = wg.tensor(a, requires_grad=True)
    (g,) = grad(function(x), x, create_graph=True)
    (reverse,) = grad(g, x, wg.tensor(d))
    with forward_ad.dual_level():
        y = forward_ad.make_dual(wg.tensor(a, requires_grad=True), wg.tensor(d))
        (g,) = grad(function(y), y, create_graph=True)
        forward = forward_ad.unpack_dual(g).tangent
    return reverse.numpy(), forward.detach().numpy()


@pytest.mark.parametrize("values", SPECTRA)
def test_second_derivatives_of_symmetric_functions_of_eigenvalues(values):
    a = hermitian(values)
    for d in directions(a):
        d = d + d.T
        for h in second_derivatives(lambda a: wg.linalg.eigvalsh((a + a.mT) / 2).pow(3).sum(), a, d):
            np.testing.assert_allclose(h, 3 * (a @ d + d @ a), atol=1e-9)


@pytest.mark.parametrize("values", [[2, 2, 1], [1, 1, 1], [2, 0, 0], [0, 0, 0]])
@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 4)])
def test_second_derivatives_of_even_functions_of_singular_values(values, shape):
    """The sum of the fourth powers is tr (A^T A)^2."""
    a = with_values(values, shape)
    for d in directions(a):
        expected = 4 * (d @ a.T @ a + a @ d.T @ a + a @ a.T @ d)
        for h in second_derivatives(lambda a: wg.linalg.svdvals(a).pow(4).sum(), a, d)[:1]:
            np.testing.assert_allclose(h, expected, atol=1e-9)


def test_second_derivatives_of_eigenvalues_of_general_matrices():
    basis = with_values([1, 1.5, 2])
    a = basis @ np.diag([1.0, 1.0, 3.0]) @ np.linalg.inv(basis)
    d = RNG.normal(size=a.shape)
    reverse, _ = second_derivatives(lambda a: wg.linalg.eigvals(a).pow(3).sum().real, a, d)
    np.testing.assert_allclose(reverse, 3 * (a @ d + d @ a).T, atol=1e-7)


def test_second_derivatives_of_functions_of_vectors_are_right_or_nan():
    a, d = np.eye(2), np.array([[0.3, 0.7], [0.7, -0.4]])
    x = wg.tensor(a, requires_grad=True)
    (g,) = grad(by_eigh(lambda w: w**3)(x)[0, 1], x, create_graph=True)
    (h,) = grad(g, x, wg.tensor(d))
    assert np.isnan(h.numpy()).any()


# --- Kinks
def test_largest_of_equal_values_is_shared():
    """As `amax` of equal numbers: a gradient that no choice of vectors changes."""
    x = wg.eye(3, dtype=wg.float64).requires_grad_()
    for function in (
        lambda a: wg.linalg.svdvals(a)[0],
        lambda a: wg.linalg.eigvalsh(a)[2],
        lambda a: wg.linalg.eigvals(a)[1].real,
    ):
        np.testing.assert_allclose(grad(function(x), x)[0].numpy(), np.eye(3) / 3, atol=1e-15)


def test_singular_value_of_zero_has_the_gradient_of_abs():
    x = wg.tensor(np.diag([2.0, 0.0]), requires_grad=True)
    (g,) = grad(wg.linalg.svdvals(x).sum(), x)
    np.testing.assert_allclose(g.numpy(), np.diag([1.0, 0.0]), atol=1e-15)
    (g,) = grad(wg.linalg.svdvals(x).log().sum(), x)
    assert not np.isfinite(g.numpy()).all()


def test_tangents_of_equal_values_are_those_of_one_side():
    d = np.array([[1.0, 2.0], [2.0, -1.0]])
    np.testing.assert_allclose(along(wg.linalg.eigvalsh, np.eye(2), d), np.linalg.eigvalsh(d), atol=1e-14)
    np.testing.assert_allclose(along(wg.linalg.svdvals, np.zeros((2, 2)), d), np.linalg.svd(d)[1], atol=1e-14)


# --- Scale
@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scale(scale):
    for a in (with_values([2, 1]), np.eye(2), with_values([2, 0])):
        x = wg.tensor(a * scale, requires_grad=True)
        (g,) = grad(rebuilt(x)[0, 1], x)
        np.testing.assert_allclose(g.numpy(), [[0, 1], [0, 0]], atol=1e-12)
