"""Derivatives where a length is 0, of functions of something else too: all sequences of modes and variables.

f(x, a) = a0(a) + a1(a) |x|**2 + a2(a) |x|**4 + ... A sequence says for each derivative, the outermost first, its
mode and its variable: `ra fx` is reverse over a of forward over x. Each is the right number, or NaN or infinite where
it is not known. The right numbers come from SymPy.
"""

from __future__ import annotations

import functools
import itertools
import math

import pytest

import wengert as wg
from wengert.func import grad, jvp

sympy = pytest.importorskip("sympy")

F64 = wg.float64
A = 0.7
X_DIRECTIONS = [(1.0, 0.5), (0.3, -1.0), (0.7, 0.2), (-0.4, 1.1)]
A_DIRECTIONS = [1.3, -0.6, 0.9, 0.5]


def squares(x):
    return (x * x).sum()


LENGTHS = {
    "vector_norm": wg.linalg.vector_norm,
    "complex abs": lambda x: wg.abs(wg.complex(x[0], x[1])),
    "cdist": lambda x: wg.cdist(x[None], wg.zeros(1, 2, dtype=F64))[0, 0],
    "hypot": lambda x: wg.hypot(x[0], x[1]),
    "std": lambda x: wg.std(wg.stack([x[0], -x[0], x[1], -x[1]]), correction=0) * math.sqrt(2),
    "sqrt": lambda x: wg.sqrt(squares(x)),
    "power": lambda x: squares(x) ** 0.5,
    "power of a tensor": lambda x: squares(x) ** wg.tensor(0.5, dtype=F64),
}
# Of x, a and the length; and what it is as a function of q = |x|**2 and a.
FUNCTIONS = {
    "a r**2": (lambda x, a, r: a * r(x) ** 2, lambda q, a: a * q),
    "(a r)**2": (lambda x, a, r: (a * r(x)) ** 2, lambda q, a: a**2 * q),
    "r(a x)**2": (lambda x, a, r: r(a * x) ** 2, lambda q, a: a**2 * q),
    "exp(-a r**2)": (lambda x, a, r: wg.exp(-a * r(x) ** 2), lambda q, a: sympy.exp(-a * q)),
    "cos(a r)": (lambda x, a, r: wg.cos(a * r(x)), lambda q, a: 1 - a**2 * q / 2 + a**4 * q**2 / 24),
    "a r**4": (lambda x, a, r: a * r(x) ** 4, lambda q, a: a * q**2),
    "sin(a) r r": (lambda x, a, r: wg.sin(a) * r(x) * r(x), lambda q, a: sympy.sin(a) * q),
    "x beside r": (lambda x, a, r: r(x) ** 2 * (1 + a) + a * squares(x), lambda q, a: q * (1 + 2 * a)),
    "log1p(a r r)": (lambda x, a, r: wg.log1p(a * r(x) * r(x)), lambda q, a: sympy.log(1 + a * q)),
}


def along(function, mode, variable, k):
    i = "xa".index(variable)
    direction = wg.tensor(X_DIRECTIONS[k] if variable == "x" else A_DIRECTIONS[k], dtype=F64)
    if mode == "r":
        return lambda *point: (grad(function, argnums=i)(*point) * direction).sum()

    def forward(*point):
        def of_one(value):
            return function(*point[:i], value, *point[i + 1 :])

        return jvp(of_one, (point[i],), (direction,))[1]

    return forward


def found(function, steps):
    """`steps` are pairs of a mode and a variable, the outermost first."""
    for k, (mode, variable) in enumerate(reversed(steps)):
        function = along(function, mode, variable, k)
    return function(wg.zeros(2, dtype=F64), wg.tensor(A, dtype=F64)).item()


@functools.cache
def wanted(name, variables):
    """The coefficient of the product of all e_k in f(sum e_k x_k, A + sum e_k a_k)."""
    e = sympy.symbols(f"e:{len(variables)}")
    x = [sum(e[k] * X_DIRECTIONS[k][i] for k, v in enumerate(variables) if v == "x") for i in range(2)]
    a = A + sum(e[k] * A_DIRECTIONS[k] for k, v in enumerate(variables) if v == "a")
    value = FUNCTIONS[name][1](sympy.sympify(x[0] ** 2 + x[1] ** 2), a)
    for symbol in e:
        value = sympy.diff(value, symbol).subs(symbol, 0)
    return float(value)


def sequences(order):
    for modes, variables in itertools.product(
        itertools.product("rf", repeat=order), itertools.product("xa", repeat=order)
    ):
        yield list(zip(modes, variables, strict=True))


def is_behind_unknown(steps):
    """A known gap: derivatives of third and higher order over two of forward mode, whose tangents are infinite already.

    The zero rule makes 0 of a factor that follows and is 0, so with parameters they may be 0.
    """
    modes = [mode for mode, _ in steps]
    return (len(steps) == 3 and modes[-2:] == ["f", "f"]) or (len(steps) == 4 and modes.count("f") > 1)


def value_and_truth(length, name, steps):
    function = FUNCTIONS[name][0]
    value = found(lambda x, a: function(x, a, LENGTHS[length]), steps)
    return value, wanted(name, tuple(variable for _, variable in reversed(steps)))


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", list(FUNCTIONS))
@pytest.mark.parametrize("length", list(LENGTHS))
def test_derivatives_are_right_or_not_finite(length, name, order):
    for steps in sequences(order):
        value, truth = value_and_truth(length, name, steps)
        if math.isfinite(value) and not is_behind_unknown(steps):
            assert value == pytest.approx(truth, abs=1e-9), steps


KNOWN = ["rx rx", "fx rx", "rx fx", "ra rx", "rx ra", "fa rx", "rx fa", "ra fx", "fx ra", "ra ra", "fa ra", "ra fa"]
ONE_LENGTH = [name for name in FUNCTIONS if "r r" not in name]  # computed once


@pytest.mark.parametrize("steps", KNOWN)
@pytest.mark.parametrize("length", list(LENGTHS))
def test_second_derivatives_are_known(length, steps):
    for name in ONE_LENGTH:
        value, truth = value_and_truth(length, name, steps.split())
        if steps == "fa rx" and length in ("sqrt", "power", "power of a tensor") and not math.isfinite(value):
            continue  # the tangent of a limit
        assert value == pytest.approx(truth, abs=1e-9), name


@pytest.mark.parametrize("name", ["a r**2", "(a r)**2", "r(a x)**2", "a r**4"])
@pytest.mark.parametrize("length", ["vector_norm", "hypot"])
def test_fourth_derivatives_are_right_or_not_finite(length, name):
    for steps in sequences(4):
        value, truth = value_and_truth(length, name, steps)
        if math.isfinite(value) and not is_behind_unknown(steps):
            assert value == pytest.approx(truth, abs=1e-9), steps


def test_a_length_with_a_factor_has_infinite_derivatives_also_with_respect_to_it():
    for length in LENGTHS.values():
        for order in (2, 3):
            for steps in sequences(order):
                if [variable for _, variable in steps].count("x") == 2:
                    value = found(lambda x, a, length=length: wg.exp(a) * length(x), steps)
                    assert not math.isfinite(value), steps


def test_derivatives_at_lengths_that_are_not_zero_beside_some_that_are():
    """A batch of vectors, with one parameter each."""
    x = wg.tensor([[0.0, 0.0], [3.0, 4.0]], dtype=F64, requires_grad=True)
    a = wg.tensor([2.0, 5.0], dtype=F64, requires_grad=True)
    v = wg.tensor([[1.0, 2.0], [-1.0, 0.5]], dtype=F64)
    (g,) = wg.autograd.grad((a * wg.linalg.vector_norm(x, dim=1) ** 2).sum(), x, create_graph=True)
    (by_a,) = wg.autograd.grad((g * v).sum(), a, create_graph=True)
    assert by_a.tolist() == pytest.approx([0.0, -2.0])
    (h,) = wg.autograd.grad(by_a.sum(), x)
    assert not wg.isfinite(h[0]).any()  # of third order
    assert h[1].tolist() == pytest.approx([-2.0, 1.0])


def test_powers_of_several_exponents_side_by_side():
    """`(x**2)**p`, squared, is `|x|**(4 p)`: its second derivative at 0 is infinite, 2 or 0."""
    exponents = wg.tensor([0.0, 1 / 4, 1 / 3, 1 / 2, 3 / 4, 1.0, 2.0], dtype=wg.float64)
    zero = wg.zeros(len(exponents), dtype=wg.float64)

    def f(x):
        return wg.pow(x * x, exponents).square().sum()

    for hessian in (wg.func.hessian(f)(zero), wg.func.jacrev(grad(f))(zero), wg.autograd.functional.hessian(f, zero)):
        second = hessian.diagonal()
        assert second[[0, 3, 4, 5, 6]].tolist() == [0, 2, 0, 0, 0]
        assert not wg.isfinite(second[1:3]).any()
    for exponent in (1 / 4, 1 / 3):  # as a number
        second = wg.func.hessian(lambda x, p=exponent: wg.pow(x * x, p).square().sum())(zero).diagonal()
        assert not wg.isfinite(second).any()
