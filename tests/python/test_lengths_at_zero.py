"""Derivatives of smooth functions of a length where it is 0, in all sequences of modes.

h(|x|) = a0 + a1 |x|**2 + a2 |x|**4 + ... is smooth at x = 0, though |x| is not. A derivative is the right number, or
NaN or infinite where it is not known: nothing else. Modes are named as they are nested, the outermost first: `fr` is
forward over reverse. What is not known are derivatives of tangents in forward mode (`ff` innermost), since nobody knows
there what will be computed from a tangent.

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


@pytest.mark.parametrize("function", list(FUNCTIONS))
@pytest.mark.parametrize("modes", ["rrr", "frr", "rfr", "rrf", "rrrr", "frrr", "rfrr", "rrfr", "rrrf"])
@pytest.mark.parametrize("name", ["vector_norm", "norm", "complex abs", "std", "cdist", "hypot"])
def test_higher_derivatives_are_known(name, modes, function):
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
    separate = lambda x: (rows(x) ** 4).sum()  # noqa: E731
    assert found(separate, "rrrr") == pytest.approx(24 * (v.prod(0).sum()), rel=1e-9)


@pytest.mark.parametrize("modes", ["rrr", "rrf", "rrrr", "rrrf"])
@pytest.mark.parametrize("name", [name for name in LENGTHS if name.startswith(("sqrt", "power"))])
def test_higher_derivatives_of_roots_are_known(name, modes):
    for h, a1, a2 in FUNCTIONS.values():
        value = found(lambda x, h=h: h(LENGTHS[name](x)), modes)
        assert value == pytest.approx(wanted(len(modes), a1, a2), abs=1e-12)


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
    if not name.startswith(("sqrt", "power")):
        for modes in ("r" * order, "f" + "r" * (order - 1)):
            assert found(lambda x: mixed(x, LENGTHS[name]), modes) == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("name", list(LENGTHS))
def test_a_length_computed_twice_is_one_length(name):
    """Also where that went through views of the vector, or products, of its own each time."""
    length = LENGTHS[name]
    for modes in ("rr", "fr", "rf"):
        assert found(lambda x: length(x) * length(x), modes) == pytest.approx(wanted(2, 1, 0), abs=1e-12)


def test_lengths_of_one_vector_that_are_not_recognised_are_not_silently_flat():
    for product in (
        lambda x: wg.linalg.vector_norm(x) * wg.linalg.vector_norm(2 * x),
        lambda x: wg.linalg.vector_norm(x) * (wg.linalg.vector_norm(x) + wg.linalg.vector_norm(2 * x)),
        lambda x: wg.linalg.vector_norm(x) * (x * x).sum() ** 0.5,
        lambda x: wg.log1p(wg.hypot(x[0], x[1]) * wg.linalg.vector_norm(x)),
    ):
        assert not math.isfinite(found(product, "rr"))


def test_components_of_a_length_are_seen_together():
    """d4/dx2dy2 of (x**2 + y**2)**2."""
    x, y = (wg.zeros((), dtype=F64, requires_grad=True) for _ in range(2))
    value = wg.hypot(x, y) ** 4
    for variable in (x, x, y, y):
        (value,) = wg.autograd.grad(value, variable, create_graph=True)
    assert value.item() == 8


@pytest.mark.parametrize(("degree", "truth"), [(3, 2.0), (4, 0.0), (6, 0.0), (2, math.inf)])
def test_roots_of_other_degrees(degree, truth):
    """((x x)**(1/3))**3 is x x again; what comes behind the first derivative of such a root is not known."""
    value = found(lambda x: ((x * x).sum() ** (1 / 3)) ** degree, "rr")
    assert value == pytest.approx(truth * (DIRECTIONS[0] @ DIRECTIONS[1]), abs=1e-12) or not math.isfinite(
        truth + value
    )
    for modes in sequences(3) + sequences(4):
        value = found(lambda x: ((x * x).sum() ** (1 / 3)) ** degree, modes)
        assert not math.isfinite(value) or value == pytest.approx(0, abs=1e-12)


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
            assert change.tolist() == pytest.approx(2 * DIRECTIONS[0])
            assert g.requires_grad == change.requires_grad == recorded


@pytest.mark.parametrize("modes", ["rr", "fr", "rf", "ff"])
def test_lengths_themselves_have_no_second_derivative(modes):
    for length in LENGTHS.values():
        assert not math.isfinite(found(length, modes))
