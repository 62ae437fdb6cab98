"""Bessel, Airy and orthogonal functions over their whole range: against mpmath, and derivatives against formulas.

Near a zero of an oscillating function an error of the argument is one of the value: there errors count against the
amplitude of the oscillation. So they do for a derivative near a turning point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf
from scipy import special

import wengert as wg

LINE = np.concatenate([np.linspace(-30, 30, 53), [-300.5, -99.75, 99.75, 300.5, 1e-8, -1e-8, 1e-300]])
POSITIVE = np.concatenate([np.geomspace(2e-3, 1, 9), np.linspace(1, 40, 29), [99.75, 300.5, 650.0]])


def derivatives(function: Callable[[Any], Any], x: np.ndarray, order: int) -> np.ndarray:
    """The derivative of one order at many points."""
    value = wg.tensor(x, requires_grad=True)
    result = function(value)
    for _ in range(order):
        (result,) = wg.autograd.grad(result.sum(), value, create_graph=True)
    return result.detach().numpy()


def worst(function: Callable[[Any], Any], exact: Callable[[Any], Any], x: np.ndarray, order: int, size: Any) -> float:
    """The greatest error, relative to the value or to the size of the oscillation there, whichever is more."""
    errors = []
    with mp.workdps(40):
        for g, p in zip(derivatives(function, x, order), x, strict=True):
            want = exact(mpf(float(p)))
            errors.append(float(abs(mpf(float(g)) - want) / max(abs(want), size(abs(float(p))), 1e-290)))
    return max(errors)


def amplitude(x: float) -> float:
    return min(1.0, x**-0.5 if x else 1.0)


def nothing(x: float) -> float:
    return 0.0


@pytest.mark.parametrize("order", [0, 1, 2, 3])
@pytest.mark.parametrize("n", [0, 1])
def test_bessel_first_kind(n: int, order: int) -> None:
    def exact(x: Any) -> Any:
        return mpmath.besselj(n, x, derivative=order)

    assert worst(getattr(wg.special, f"bessel_j{n}"), exact, LINE, order, amplitude) < 2e-15


@pytest.mark.parametrize("order", [0, 1, 2, 3])
@pytest.mark.parametrize("n", [0, 1])
def test_bessel_second_kind(n: int, order: int) -> None:
    def exact(x: Any) -> Any:
        return mpmath.bessely(n, x, derivative=order)

    assert worst(getattr(wg.special, f"bessel_y{n}"), exact, POSITIVE, order, amplitude) < 4e-15


@pytest.mark.parametrize("order", [0, 1, 2, 4])
@pytest.mark.parametrize("n", [0, 1])
def test_modified_bessel_second_kind(n: int, order: int) -> None:
    def exact(x: Any) -> Any:  # repeated differences of orders
        terms = [(n, 1)]
        for _ in range(order):
            terms = [(k + d, c * mpf(-1) / 2) for k, c in terms for d in (-1, 1)]
        return sum(c * mpmath.besselk(abs(k), x) for k, c in terms)

    assert worst(getattr(wg.special, f"modified_bessel_k{n}"), exact, POSITIVE, order, nothing) < 4e-15


def scaled_k0_derivative(n: int, x: Any) -> Any:
    return (-2) ** n * mpmath.gamma(n + mpf(1) / 2) * mpmath.hyperu(n + mpf(1) / 2, n + 1, 2 * x)


@pytest.mark.parametrize("order", [0, 1, 2, 5])
def test_scaled_bessel_functions_do_not_cancel(order: int) -> None:
    points = np.concatenate([POSITIVE[::3], [1e4, 1e8, 1e12]])

    def k0(x: Any) -> Any:
        return scaled_k0_derivative(order, x)

    def k1(x: Any) -> Any:
        return scaled_k0_derivative(order, x) - scaled_k0_derivative(order + 1, x)

    assert worst(wg.special.scaled_modified_bessel_k0, k0, points, order, nothing) < 1e-14
    assert worst(wg.special.scaled_modified_bessel_k1, k1, points, order, nothing) < 1e-14


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_airy(order: int) -> None:
    points = np.concatenate([np.linspace(-25, 25, 67), [-300.5, 99.75]])
    with mp.workdps(40):
        for got, p in zip(derivatives(wg.special.airy_ai, points, order), points, strict=True):
            x, scale = mpf(float(p)), mpf(1)
            value, slope = mpmath.airyai(x), mpmath.airyai(x, derivative=1)
            want = [value, slope, x * value, value + x * slope][order]
            if p <= 0:  # the amplitude of the oscillation, once more for each derivative
                scale = max(abs(p), 1) ** mpf(0.5 * order - 0.25)
            elif order < 2:
                scale = abs(want)
            else:  # Ai''' = x Ai' + Ai passes through zero
                scale = abs(x * slope) + (x + 1) * value
            assert abs(mpf(float(got)) - want) <= 2e-14 * scale + 1e-300, (p, order)


def test_spherical_bessel() -> None:
    x = np.array([0.1, 0.7, 1.3, 2.9, 7.7, 33.3])
    f = wg.special.spherical_bessel_j0
    np.testing.assert_allclose(derivatives(f, x, 0), np.sinc(x / np.pi), rtol=1e-15)
    np.testing.assert_allclose(derivatives(f, x, 1), -special.spherical_jn(1, x), rtol=1e-13, atol=1e-16)
    np.testing.assert_allclose(derivatives(f, x, 2), -special.spherical_jn(1, x, True), rtol=1e-12, atol=1e-16)
    np.testing.assert_allclose(derivatives(f, np.zeros(1), 2), -1 / 3, rtol=1e-15)


POLYNOMIALS = {
    "chebyshev_polynomial_t": special.eval_chebyt,
    "chebyshev_polynomial_u": special.eval_chebyu,
    "shifted_chebyshev_polynomial_t": special.eval_sh_chebyt,
    "shifted_chebyshev_polynomial_u": special.eval_sh_chebyu,
    "hermite_polynomial_h": special.eval_hermite,
    "hermite_polynomial_he": special.eval_hermitenorm,
    "laguerre_polynomial_l": special.eval_laguerre,
    "legendre_polynomial_p": special.eval_legendre,
}
EVERY_POLYNOMIAL = [
    *POLYNOMIALS,
    *(f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "vw"),
]


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_against_scipy(name: str) -> None:
    x = np.linspace(0, 1, 31) if name.startswith("shifted") else np.linspace(-1.5, 1.5, 31)
    for n in (0, 1, 2, 7, 30):
        got = getattr(wg.special, name)(wg.tensor(x), n).numpy()
        want = POLYNOMIALS[name](n, x)
        np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-13 * abs(want).max())


@pytest.mark.parametrize("name", EVERY_POLYNOMIAL)
def test_derivatives_of_polynomials(name: str) -> None:
    """n + 1 values determine a polynomial of degree n, and so its derivatives."""
    function = getattr(wg.special, name)
    x = np.linspace(0.05, 0.95, 7)
    for n in (0, 1, 2, 5):
        nodes = np.cos(np.pi * (np.arange(n + 1) + 0.5) / (n + 1))
        fitted = np.polynomial.Polynomial.fit(nodes, function(wg.tensor(nodes), n).numpy(), n, domain=[-1, 1])
        for order in (1, 2, 3):
            want = fitted.deriv(order)(x) if order <= n else np.zeros_like(x)
            got = derivatives(lambda t, n=n: function(t, n), x, order)
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9 * max(1, abs(want).max()))


@pytest.mark.parametrize("kind", "tuvw")
def test_chebyshev_of_high_degree(kind: str) -> None:
    """Closed forms: exact at the ends, and no step for each degree."""
    function = getattr(wg.special, f"chebyshev_polynomial_{kind}")
    t = 0.3
    shapes = {
        "t": np.cos(1000 * t),
        "u": np.sin(1001 * t) / np.sin(t),
        "v": np.cos(1000.5 * t) / np.cos(t / 2),
        "w": np.sin(1000.5 * t) / np.sin(t / 2),
    }
    at = wg.tensor(np.cos(t), dtype=wg.float64)
    np.testing.assert_allclose(function(at, 1000).item(), shapes[kind], rtol=1e-10)
    ends = {"t": [1, 1], "u": [1001, 1001], "v": [1, 2001], "w": [2001, 1]}
    assert function(wg.tensor([1.0, -1.0]), 1000).tolist() == ends[kind]
    assert np.isfinite(function(wg.tensor(0.25, dtype=wg.float64), 2.0**60).item())


def test_degrees() -> None:
    f = wg.special.legendre_polynomial_p
    x = wg.tensor([0.2, 0.4], requires_grad=True)
    assert f(x, wg.tensor([2, 3])).requires_grad
    assert f(x, -1).tolist() == [0, 0]
    assert f(x, 2.9).tolist() == f(x, 2).tolist()
    assert f(0.5, wg.tensor([0, 1])).tolist() == [1, 0.5]
    degree = wg.tensor([1.0], requires_grad=True)  # truncated, so constant
    assert wg.autograd.grad(f(0.5, degree).sum(), degree)[0].tolist() == [0]
