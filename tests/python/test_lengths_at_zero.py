"""Derivatives of smooth functions of a length where it is 0, in all sequences of modes.

h(|x|) = a0 + a1 |x|**2 + a2 |x|**4 + ... is smooth at x = 0, though |x| is not. A derivative is the right number, or
NaN or infinite where it is not known: nothing else. Modes are named as they are nested, the outermost first: `fr` is
forward over reverse. What is not known are derivatives of tangents in forward mode (`ff` innermost), since nobody knows
there what will be computed from a tangent.
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
@pytest.mark.parametrize("modes", ["rrr", "frr", "rfr", "rrf", "rrrr", "frrr", "rfrr", "rrfr", "frfr"])
@pytest.mark.parametrize("name", ["vector_norm", "norm", "complex abs", "std"])
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


def test_parameters_beside_lengths():
    """d/dx d/da d/dx of a |x|**2, in the order in which the recorded slope knows of a."""
    a = wg.tensor(3.0, dtype=F64, requires_grad=True)
    x = wg.zeros(2, dtype=F64, requires_grad=True)
    (first,) = wg.autograd.grad(a * wg.linalg.vector_norm(x) ** 2, x, create_graph=True)
    (second,) = wg.autograd.grad(first[0], x, create_graph=True)
    assert second.tolist() == [6, 0]
    assert wg.autograd.grad(second[0], a)[0].item() == 2


@pytest.mark.parametrize("modes", ["rr", "fr", "rf", "ff"])
def test_lengths_themselves_have_no_second_derivative(modes):
    for length in LENGTHS.values():
        assert not math.isfinite(found(length, modes))
