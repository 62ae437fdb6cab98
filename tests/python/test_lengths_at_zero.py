"""Derivatives of smooth functions of a length where it is 0, in all sequences of modes.

h(|x|) = a0 + a1 |x|**2 + a2 |x|**4 + ... is smooth at x = 0, though |x| is not. A derivative is the right number, or
NaN or infinite where it is not known: nothing else. Modes are named as they are nested, the outermost first: `fr` is
forward over reverse. Known are first and second derivatives, but not of tangents in forward mode (`ff`), since nobody
knows there what will be computed from a tangent.

What else a function depends on is in test_lengths_and_parameters.py.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import wengert as wg
from wengert.func import grad, jvp

F64 = wg.float64
DIRECTIONS = np.array([[1.0, 0.5], [0.3, -1.0], [0.7, 0.2], [-0.4, 1.1]])
LENGTHS = {
    "vector_norm": wg.linalg.vector_norm,
    "norm": wg.norm,
    "complex abs": lambda x: wg.abs(wg.complex(x[0], x[1])),
    "cdist": lambda x: wg.cdist(x[None], wg.zeros(1, 2, dtype=F64))[0, 0],
    "hypot": lambda x: wg.hypot(x[0], x[1]),
    "sqrt of products": lambda x: wg.sqrt((x * x).sum()),
    "sqrt of powers": lambda x: wg.sqrt((x**2).sum()),
    "sqrt of a dot product": lambda x: wg.sqrt(x @ x),
    "power of a sum": lambda x: (x * x).sum() ** 0.5,
    "std": lambda x: wg.std(wg.stack([x[0], -x[0], x[1], -x[1]]), correction=0) * math.sqrt(2),
}
# (h, a1, a2)
FUNCTIONS = {
    "r**2": (lambda r: r**2, 1, 0),
    "r*r": (lambda r: r * r, 1, 0),
    "r**4": (lambda r: r**4, 0, 1),
    "exp(-r**2)": (lambda r: wg.exp(-(r**2)), -1, 0.5),
    "cos": (wg.cos, -0.5, 1 / 24),
    "log1p(r*r)": (lambda r: wg.log1p(r * r), 1, -0.5),
}


def along(function, mode, direction):
    direction = wg.tensor(direction)
    if mode == "r":
        return lambda x: (grad(function)(x) * direction).sum()
    return lambda x: jvp(function, (x,), (direction,))[1]


def found(function, modes):
    for mode, direction in zip(reversed(modes), DIRECTIONS, strict=False):
        function = along(function, mode, direction)
    return function(wg.zeros(2, dtype=F64)).item()


def wanted(order, a1, a2):
    if order % 2:
        return 0.0
    v = DIRECTIONS[:order] @ DIRECTIONS[:order].T
    if order == 2:
        return 2 * a1 * v[0, 1]
    return 8 * a2 * (v[0, 1] * v[2, 3] + v[0, 2] * v[1, 3] + v[0, 3] * v[1, 2])


def sequences(order):
    return ["".join(modes) for modes in itertools.product("rf", repeat=order)]


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("name", list(LENGTHS))
def test_derivatives_are_right_or_not_finite(name, order):
    length = LENGTHS[name]
    for (h, a1, a2), modes in itertools.product(FUNCTIONS.values(), sequences(order)):
        value = found(lambda x, h=h: h(length(x)), modes)
        if math.isfinite(value):
            assert value == pytest.approx(wanted(order, a1, a2), abs=1e-12), modes


@pytest.mark.parametrize("function", list(FUNCTIONS))
@pytest.mark.parametrize("modes", ["r", "f", "rr", "fr", "rf"])
@pytest.mark.parametrize("name", list(LENGTHS))
def test_second_derivatives_are_known(name, modes, function):
    h, a1, a2 = FUNCTIONS[function]
    value = found(lambda x: h(LENGTHS[name](x)), modes)
    assert value == pytest.approx(wanted(len(modes), a1, a2), abs=1e-12)


def test_coupled_lengths_are_right_or_not_finite():
    """The product of two squared lengths, of rows of one tensor: its derivatives of order 4 cross the rows."""
    rows = lambda x: wg.linalg.vector_norm(x.reshape(2, 1), dim=1)  # noqa: E731
    couple = lambda x: (rows(x) ** 2).prod()  # noqa: E731  # x0**2 * x1**2
    v = DIRECTIONS
    terms = [v[i, 0] * v[j, 0] * v[k, 1] * v[m, 1] for i, j, k, m in itertools.permutations(range(4))]
    value = found(couple, "rrrr")
    assert not math.isfinite(value) or value == pytest.approx(sum(terms), rel=1e-9)


def mixed(x, length):
    """With derivatives of order 3 and 4 that reach one factor by way of the length and the other one by itself."""
    return length(x) ** 2 * (x[0] + x[1] ** 2)


@pytest.mark.parametrize("order", [2, 3, 4])
@pytest.mark.parametrize("name", list(LENGTHS))
def test_vectors_beside_their_lengths(name, order):
    truth = found(lambda x: (x * x).sum() * (x[0] + x[1] ** 2), "r" * order)
    for modes in sequences(order):
        value = found(lambda x: mixed(x, LENGTHS[name]), modes)
        if math.isfinite(value):
            assert value == pytest.approx(truth, abs=1e-12), modes
    if order == 2:  # the tangent of the slope of a root is not known
        for modes in ("rr", "rf") if name.startswith(("sqrt", "power")) else ("rr", "fr", "rf"):
            assert found(lambda x: mixed(x, LENGTHS[name]), modes) == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("name", list(LENGTHS))
def test_functions_that_are_not_smooth_are_not_silently_flat(name):
    length = LENGTHS[name]
    for function in (
        lambda x: length(x) * length(x),  # smooth, but who knows
        lambda x: (length(x) + length(x)) ** 2,
        lambda x: length(x) * length(2 * x),
        lambda x: length(x) * length(x.flip(0)),
        lambda x: wg.exp(-length(x) * wg.linalg.vector_norm(x)),
    ):
        for modes in sequences(2):
            assert not math.isfinite(found(function, modes)), modes


PRODUCTS = {  # of lengths that are elements of one tensor
    "r0 r1": lambda r: r[0] * r[1],
    "(r0 - r1)**2": lambda r: (r[0] - r[1]) ** 2,
    "r0 (r1 - r2)": lambda r: r[0] * (r[1] - r[2]),
    "r0 (r1 + r2 - r3)": lambda r: r[0] * (r[1] + r[2] - r[3]),
    "var": lambda r: r.var(),
    "dot": lambda r: r @ r.flip(0),
    "prod": lambda r: r[:2].prod(),
}


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("length", ["norm", "cdist", "hypot", "complex abs"])
def test_products_of_lengths_are_not_silently_smooth(name, length):
    """Sums over all elements could cancel: (r0 - r1)**2 has the slopes 2 - 2."""
    rows = {
        "norm": lambda x: wg.linalg.vector_norm(x, dim=1),
        "cdist": lambda x: wg.cdist(x, wg.zeros(1, 2, dtype=F64))[:, 0],
        "hypot": lambda x: wg.hypot(x[:, 0], x[:, 1]),
        "complex abs": lambda x: wg.view_as_complex(x).abs(),
    }[length]
    x = wg.zeros(4, 2, dtype=F64)
    for derivative in (wg.func.hessian, lambda f: wg.func.jacrev(grad(f))):
        h = derivative(lambda x: PRODUCTS[name](rows(x)))(x).reshape(8, 8)
        assert not wg.isfinite(h).all()
        smooth = derivative(lambda x: (rows(x) ** 2 * wg.arange(1, 5)).sum())(x).reshape(8, 8)
        assert smooth.tolist() == wg.diag(2.0 * wg.arange(1, 5).repeat_interleave(2)).tolist()


def test_lengths_of_one_vector_that_are_not_recognised_are_not_silently_flat():
    for product in (
        lambda x: wg.linalg.vector_norm(x) * wg.linalg.vector_norm(2 * x),
        lambda x: wg.linalg.vector_norm(x) * (wg.linalg.vector_norm(x) + wg.linalg.vector_norm(2 * x)),
        lambda x: wg.linalg.vector_norm(x) * (x * x).sum() ** 0.5,
        lambda x: wg.log1p(wg.hypot(x[0], x[1]) * wg.linalg.vector_norm(x)),
    ):
        assert not math.isfinite(found(product, "rr"))


@pytest.mark.parametrize(("degree", "truth"), [(3, 2.0), (4, 0.0), (6, 0.0), (2, math.inf)])
def test_roots_of_other_degrees(degree, truth):
    """((x x)**(1/3))**3 is x x again; what comes behind the first derivative of such a root is not known."""
    value = found(lambda x: ((x * x).sum() ** (1 / 3)) ** degree, "rr")
    assert value == pytest.approx(truth * (DIRECTIONS[0] @ DIRECTIONS[1]), abs=1e-12) or not math.isfinite(
        truth + value
    )
    # A known gap: the fourth derivative of a sixth power by forward over forward, innermost, is 0.
    for modes in sequences(3) + [modes for modes in sequences(4) if not modes.endswith("ff")]:
        value = found(lambda x: ((x * x).sum() ** (1 / 3)) ** degree, modes)
        truth = math.inf if degree in (2, 4) and len(modes) == 4 else wanted(len(modes), 0, float(degree == 6))
        assert not math.isfinite(value) or value == pytest.approx(truth, abs=1e-12)


def test_second_derivatives_of_roots_with_respect_to_their_argument_are_right_or_not_finite():
    s = wg.tensor([0.0, 0.0, 4.0], dtype=F64)
    powers = {4: 2.0, 6: 0.0, 8: 0.0, 2: 0.0}  # of the root: s**2, s**3, s**4, s
    for degree, truth in powers.items():
        for second in (wg.func.hessian, lambda f: wg.func.jacrev(grad(f)), lambda f: wg.func.jacrev(wg.func.jacfwd(f))):
            h = second(lambda s, n=degree: (s.sqrt() ** n).sum())(s).diagonal()
            assert not math.isfinite(h[0]) or h[0].item() == truth
    h = wg.func.jacrev(grad(lambda s: (s[0].sqrt() - s[1].sqrt()) ** 4 + s[2]))(s)
    assert not math.isfinite(h[0, 0])  # 2
    h = wg.func.jacrev(grad(lambda s: (s.sqrt()[:2] * wg.tensor([1.0, -1.0], dtype=F64)).sum() ** 4))(s)
    assert not math.isfinite(h[0, 0])


def test_masked_roots_stay_masked():
    x = wg.tensor([0.0, 4.0], dtype=F64, requires_grad=True)
    for exponent in (0.5, 0.3, wg.tensor([0.5, 0.5], dtype=F64), wg.tensor([0.3, 0.5], dtype=F64)):
        value = (wg.where(x > 0, x**exponent, 0) ** 2).sum()
        (g,) = wg.autograd.grad(value, x, create_graph=True)
        (h,) = wg.autograd.grad(g.sum(), x)
        assert g[0].item() == h[0].item() == 0
        assert math.isfinite(h[1].item())


def test_gradients_of_a_pass_that_is_recorded_for_itself_keep_their_tangents():
    x = wg.zeros(2, dtype=F64, requires_grad=True)
    with wg.autograd.forward_ad.dual_level():
        a = wg.autograd.forward_ad.make_dual(wg.tensor(3.0, dtype=F64), wg.tensor(1.0, dtype=F64))
        with wg.autograd.forward_ad.dual_level():
            dual = wg.autograd.forward_ad.make_dual(x, wg.tensor(DIRECTIONS[0]))
            along = wg.autograd.forward_ad.unpack_dual(a * wg.linalg.vector_norm(dual) ** 2).tangent
        for recorded in (False, True):
            (g,) = wg.autograd.grad(along, x, retain_graph=True, create_graph=recorded)
            g, change = wg.autograd.forward_ad.unpack_dual(g)
            assert g.tolist() == pytest.approx(6 * DIRECTIONS[0])
            assert not wg.isfinite(change).any()  # of third order
            assert g.requires_grad == change.requires_grad == recorded


@pytest.mark.parametrize("modes", ["rr", "fr", "rf", "ff"])
def test_lengths_themselves_have_no_second_derivative(modes):
    for length in LENGTHS.values():
        assert not math.isfinite(found(length, modes))
