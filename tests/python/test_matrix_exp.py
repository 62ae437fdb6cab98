"""The matrix exponential and its derivatives, against mpmath with 60 digits.

Errors are counted relative to the largest element. The matrices are ones whose exponential is well conditioned,
although their norm says nothing about it.
"""

import mpmath
import numpy as np
import pytest

import wengert as wg
from wengert.autograd import forward_ad, grad

RNG = np.random.default_rng(3)


def wide(n, size):
    """Upper triangular with a wide off-diagonal."""
    a = np.triu(RNG.normal(size=(n, n)) * size, 1)
    return a + np.diag(np.linspace(-1, 1, n))


MATRICES = {
    "zero": np.zeros((3, 3)),
    "small": RNG.normal(size=(3, 3)) * 1e-9,
    "one": RNG.normal(size=(4, 4)),
    "large": RNG.normal(size=(4, 4)) * 6,
    "diagonal": np.diag([-30.0, 0.5, 20.0]),
    "non-normal": np.array([[1.0, 1e6], [0.0, -1.0]]),
    "lower": np.array([[1.0, 0.0], [1e6, -1.0]]),
    "Jordan": np.diag([0.5] * 4) + np.diag([1.0] * 3, 1),
    "wide Jordan": np.diag([-0.5] * 3) + np.diag([1e5] * 2, 1),
    "nilpotent": np.diag([1e8, 1e8], 1),
    "wide": wide(5, 1e3),
    "complex": RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3)),
    "complex non-normal": np.array([[1j, 1e6], [0.0, -1.0]]),
    "rotation": np.array([[0.0, 40.0], [-40.0, 0.0]]),
}


def exact(a):
    """By the series, after scaling, in 200 digits: norms cost digits that are there."""
    with mpmath.workdps(200):
        halvings = max(0, int(np.ceil(np.log2(max(np.abs(a).sum(), 1)))) + 3)
        x = mpmath.matrix(a.tolist()) / mpmath.mpf(2) ** halvings
        term = out = mpmath.eye(len(a))
        for k in range(1, 90):
            term = term * x / k
            out = out + term
        for _ in range(halvings):
            out = out * out
        return np.array([[complex(out[i, j]) for j in range(len(a))] for i in range(len(a))])


def exact_along(a, d):
    """The upper right block of exp([[A, D], [0, A]]), with D small so that nothing cancels."""
    n = len(a)
    return exact(np.block([[a, d], [np.zeros_like(a), a]]))[:n, n:]


def assert_close(actual, expected, units):
    size = np.abs(expected).max()
    epsilon = np.finfo(actual.real.dtype).eps
    np.testing.assert_allclose(actual, expected, rtol=0, atol=units * epsilon * size)


# Rounding errors of squarings, where it takes some.
UNITS = {"large": 400, "rotation": 200, "wide Jordan": 100, "wide": 100}


@pytest.mark.parametrize("name", MATRICES)
def test_values(name):
    a = MATRICES[name]
    assert_close(wg.linalg.matrix_exp(wg.tensor(a)).numpy(), exact(a), UNITS.get(name, 30))


@pytest.mark.parametrize("name", ["zero", "small", "one", "diagonal", "Jordan", "complex", "non-normal"])
def test_values_in_single_precision(name):
    a = MATRICES[name].astype(np.complex64 if np.iscomplexobj(MATRICES[name]) else np.float32)
    assert_close(wg.linalg.matrix_exp(wg.tensor(a)).numpy(), exact(a.astype(np.complex128)), UNITS.get(name, 30))


def test_elements_of_triangular_matrices():
    """Every element has its digits, also the small ones."""
    y = wg.linalg.matrix_exp(wg.tensor(MATRICES["non-normal"])).numpy()
    np.testing.assert_allclose(y, [[2.718281828459045, 1175201.1936438014], [0, 0.36787944117144233]], rtol=1e-15)
    y = wg.linalg.matrix_exp(wg.tensor(MATRICES["lower"])).numpy()
    np.testing.assert_allclose(y.T, [[2.718281828459045, 1175201.1936438014], [0, 0.36787944117144233]], rtol=1e-15)


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("size", [1.0, 1e100, 1e-100])
def test_derivatives(name, size):
    """Linear in the direction, whatever its size, in both modes."""
    a = MATRICES[name]
    d = RNG.normal(size=a.shape).astype(a.dtype)
    expected, units = exact_along(a, d), 10 * UNITS.get(name, 30)
    with forward_ad.dual_level():
        y = wg.linalg.matrix_exp(forward_ad.make_dual(wg.tensor(a), wg.tensor(d * size)))
        primal, tangent = forward_ad.unpack_dual(y)
    assert_close(tangent.numpy() / size, expected, units)
    assert tangent.stride() == primal.stride()
    x = wg.tensor(a, requires_grad=True)
    (g,) = grad(wg.linalg.matrix_exp(x), x, wg.tensor(d * size))
    assert_close(g.numpy() / size, exact_along(a.conj().T, d), units)


@pytest.mark.parametrize("name", ["zero", "one", "non-normal", "complex"])
def test_second_derivatives(name):
    """Along D twice: the corner of exp([[A, D, 0], [0, A, D], [0, 0, A]]), twice."""
    a = MATRICES[name]
    d = RNG.normal(size=a.shape).astype(a.dtype)
    n, o = len(a), np.zeros_like(a)
    expected = 2 * exact(np.block([[a, d, o], [o, a, d], [o, o, a]]))[:n, 2 * n :]
    with forward_ad.dual_level():
        inner = forward_ad.make_dual(wg.tensor(a), wg.tensor(d))
        with forward_ad.dual_level():
            outer = forward_ad.make_dual(inner, wg.tensor(d))
            t = forward_ad.unpack_dual(wg.linalg.matrix_exp(outer)).tangent
        assert_close(forward_ad.unpack_dual(t).tangent.numpy(), expected, 1000)


def test_matrices_that_are_not_finite():
    a = np.stack([np.eye(2), np.full((2, 2), np.nan)])
    x = wg.tensor(a, requires_grad=True)
    y = wg.linalg.matrix_exp(x)
    np.testing.assert_allclose(y[0].detach().numpy(), np.e * np.eye(2), rtol=1e-15)
    (g,) = grad(y[0].sum(), x)
    np.testing.assert_array_equal(g[1].numpy(), 0)
