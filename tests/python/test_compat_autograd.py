"""`wengert.compat.autograd` beside autograd itself: the same programs, the same numbers, arrays in and out."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys

import autograd as theirs
import autograd.differential_operators
import autograd.extend
import autograd.misc.fixed_points
import autograd.misc.flatten
import autograd.misc.optimizers
import autograd.numpy as their_numpy
import autograd.scipy.integrate
import autograd.scipy.linalg
import autograd.scipy.signal
import autograd.scipy.special
import autograd.scipy.stats
import numpy as onp
import pytest

import wengert.compat.autograd as ours
import wengert.compat.autograd.numpy as our_numpy
from wengert import as_autograd
from wengert.compat.autograd import _boxes, test_util

X = onp.array([0.3, 0.7, 1.2])
M = onp.arange(9.0).reshape(3, 3) + 5 * onp.eye(3)


def part(package, path):
    return importlib.import_module(f"{package.__name__}.{path}")


def same(got, want):
    if isinstance(want, (list, tuple)):
        assert type(got) is type(want)
        for g, w in zip(got, want, strict=True):
            same(g, w)
    elif isinstance(want, dict):
        assert list(got) == list(want)
        for key in want:
            same(got[key], want[key])
    else:
        assert isinstance(got, onp.ndarray) or not onp.ndim(want)
        onp.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-10)
        assert onp.asarray(got).dtype == onp.asarray(want).dtype


def array_of_parts(np, x):
    return np.sum(np.array([x[0], x[1] * 2, 3.0]) ** 2)


def methods(np, x):
    table = (x.reshape(3, 1) * x.T).sum(axis=0).mean() + x.max() + np.dot(x, x) + x.std()
    return table + x[::-1].cumsum()[1] + x.flatten()[x > 0.5].prod() + x.size * len(x) * x.ndim * x.shape[0] * x[0]


def matrices(np, m):
    return np.linalg.slogdet(m)[1] + np.sum(np.linalg.inv(m)) + np.linalg.norm(m) + np.sum(np.linalg.solve(m, X))


PROGRAMS = {
    "grad": lambda a, np: a.grad(lambda x: np.sum(np.sin(x) ** 2))(X),
    "of a number": lambda a, np: a.grad(np.tanh)(1.0),
    "third order": lambda a, np: a.grad(a.grad(a.grad(np.tanh)))(1.0),
    "jacobian": lambda a, np: a.jacobian(lambda x: np.dot(M, x) * x)(X),
    "jacobian of matrices": lambda a, np: a.jacobian(lambda x: np.outer(x, x))(X),
    "hessian": lambda a, np: a.hessian(lambda x: np.sum(x**3) * x[0])(X),
    "elementwise": lambda a, np: a.elementwise_grad(a.elementwise_grad(np.tanh))(X),
    "value_and_grad": lambda a, np: a.value_and_grad(lambda x: np.sum(x**2))(X),
    "nests": lambda a, np: a.grad(lambda d: np.sum(d["a"] * d["b"][0]) + d["b"][1])({"a": X, "b": [X, 2.0]}),
    "tuples": lambda a, np: a.grad(lambda t: t[0] * np.sum(t[1]))((2.0, X)),
    "argnums": lambda a, np: a.grad(lambda x, y: np.sum(x * y), (0, 1))(X, X + 1),
    "named": lambda a, np: a.grad_named(lambda x, y: np.sum(x * x * y), "y")(X, X),
    "loops": lambda a, np: a.grad(lambda x: sum([xi**2 for xi in x]))(X),
    "branches": lambda a, np: a.grad(lambda x: x**2 if x > 0 else -x)(-1.0),
    "array of parts": lambda a, np: a.grad(lambda x: array_of_parts(np, x))(X),
    "closures": lambda a, np: a.grad(lambda x: x * a.grad(lambda y: x * y**2)(3.0))(2.0),
    "deriv": lambda a, np: a.deriv(np.sin)(X),
    "make_jvp": lambda a, np: a.make_jvp(lambda x: np.sin(x) * x[0])(X)(X + 1),
    "make_vjp": lambda a, np: a.make_vjp(lambda x: np.sin(x) * x[0])(X)[0](X),
    "Hessian product": lambda a, np: a.hessian_vector_product(lambda x: np.sum(x**4))(X, X + 1),
    "Jacobian product": lambda a, np: a.vector_jacobian_product(lambda x: np.sin(x) * x[0])(X, X),
    "make_hvp": lambda a, np: a.make_hvp(lambda x: np.sum(x**4))(X)[0](X),
    "make_ggnvp": lambda a, np: a.make_ggnvp(np.sin)(X)(X),
    "make_jvp_reversemode": lambda a, np: part(a, "differential_operators").make_jvp_reversemode(np.sin)(X)(X),
    "grad_and_aux": lambda a, np: a.grad_and_aux(lambda x: (np.sum(x**2), x * 2))(X),
    "checkpoint": lambda a, np: a.grad(a.checkpoint(lambda x: np.sum(x**3)))(X),
    "holomorphic": lambda a, np: a.holomorphic_grad(lambda z: z**3)(1 + 2j),
    "complex": lambda a, np: a.grad(lambda z: np.real(z**2 * (1 + 2j)))(1 + 2j),
    "complex length": lambda a, np: a.grad(lambda z: np.abs(z) ** 2)(1 + 2j),
    "spectra": lambda a, np: a.grad(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 3))(X),
    "methods": lambda a, np: a.grad(lambda x: methods(np, x))(X),
    "matrices": lambda a, np: a.grad(lambda m: matrices(np, m))(M),
    "einsum": lambda a, np: a.grad(lambda m: np.sum(np.einsum("ij,jk->ik", m, m)))(M),
    "joining": lambda a, np: a.grad(lambda x: np.sum(np.concatenate([x, x**2, [1.0]]) ** 2))(X),
    "stacking": lambda a, np: a.grad(lambda x: np.sum(np.vstack([x, x]) ** 2) + np.sum(np.stack([x, x**2])))(X),
    "where": lambda a, np: a.grad(lambda x: np.sum(np.where(x > 0.5, x**2, np.zeros(3))))(X),
    "full": lambda a, np: a.grad(lambda x: np.sum(np.full((2, 2), x[0]) * x[1]))(X),
    "unused": lambda a, np: a.grad(lambda x, y: np.sum(x), 1)(X, X),
    "no dimensions": lambda a, np: a.grad(lambda x: x**2)(onp.array(2.0)),
    "single precision": lambda a, np: a.grad(lambda x: np.sum(x**2))(X.astype("f4")),
    "logaddexp": lambda a, np: a.jacobian(lambda x: np.logaddexp(x, x[0]))(X),
    "flatten": lambda a, np: part(a, "misc.flatten").flatten({"b": X, "a": [1.0, M]})[0],
    "flatten back": lambda a, np: part(a, "misc.flatten").flatten({"b": X, "a": 1.0})[1](onp.arange(4.0)),
    "flatten inside": lambda a, np: a.grad(lambda d: np.sum(part(a, "misc.flatten").flatten(d)[0] ** 2))({"b": X}),
    "triangular": lambda a, np: a.grad(
        lambda m: np.sum(part(a, "scipy.linalg").solve_triangular(m, X, trans="T", lower=True))
    )(M),
    "Sylvester": lambda a, np: a.grad(lambda m: np.sum(part(a, "scipy.linalg").solve_sylvester(m, m, m)))(M),
    "convolve": lambda a, np: a.grad(lambda x: np.sum(part(a, "scipy.signal").convolve(x, X) ** 2))(X),
    "logsumexp": lambda a, np: a.jacobian(lambda m: part(a, "scipy.special").logsumexp(m, axis=0))(M),
    "logsumexp of all": lambda a, np: a.grad(part(a, "scipy.special").logsumexp)(X),
    "polygamma": lambda a, np: a.elementwise_grad(lambda x: part(a, "scipy.special").polygamma(1, x))(X),
    "multigammaln": lambda a, np: a.elementwise_grad(lambda x: part(a, "scipy.special").multigammaln(x, 2))(X + 2),
    "betainc": lambda a, np: a.elementwise_grad(lambda x: part(a, "scipy.special").betainc(1.2, 2.2, x))(X / 2),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_compute_what_they_compute_with_autograd(name):
    same(PROGRAMS[name](ours, our_numpy), PROGRAMS[name](theirs, their_numpy))


def user_primitive(a, np):
    extend = part(a, "extend")

    @extend.primitive
    def f(x, y):
        assert isinstance(x, onp.ndarray)
        return onp.sum(onp.exp(x) * y)

    extend.defvjp(
        f, lambda ans, x, y: lambda g: g * np.exp(x) * y, lambda ans, x, y: lambda g: g * np.exp(x),
    )  # fmt: skip
    extend.defjvp(f, lambda g, ans, x, y: np.sum(np.exp(x) * y * g), lambda g, ans, x, y: np.sum(np.exp(x) * g))
    return f


@pytest.mark.parametrize(
    "program",
    [
        lambda a, f: a.grad(f)(X, X),
        lambda a, f: a.grad(f, 1)(X, X),
        lambda a, f: a.hessian(f)(X, X),
        lambda a, f: a.grad(lambda x: f(x, x) * 2)(X),
        lambda a, f: a.make_jvp(f)(X, X)(X),
        lambda a, f: f(X, X),
    ],
)
def test_primitives_of_users(program):
    same(program(ours, user_primitive(ours, our_numpy)), program(theirs, user_primitive(theirs, their_numpy)))


def test_primitives_say_what_is_not_defined():
    f = ours.primitive(lambda x, y: x * y)
    with pytest.raises(NotImplementedError, match="VJP of <lambda>"):
        ours.grad(f)(1.0, 2.0)
    part(ours, "extend").defvjp(f, None)
    assert ours.grad(f)(1.0, 2.0) == 0.0
    with pytest.raises(NotImplementedError, match="argnum 1 not defined"):
        ours.grad(f, 1)(1.0, 2.0)


def test_rules_that_know_only_numpy_s_arrays():
    """Where nobody differentiates the derivative, a rule gets arrays."""
    seen = []
    f = ours.primitive(lambda x: x**2)
    part(ours, "extend").defvjp(f, lambda ans, x: lambda g: (seen.append(type(g)), 2 * x * g)[1])
    assert ours.grad(f)(3.0) == 6.0
    assert ours.grad(ours.grad(f))(3.0) == 2.0


ARGUMENTS = {
    "norm": (X, 0.3, 1.4), "t": (X, 3.2, 0.1, 1.3), "gamma": (X, 2.3), "beta": (X / 2, 1.3, 2.2), "chi2": (X, 3.1),
    "poisson": (onp.array([0.0, 1.0, 3.0]), X), "dirichlet": (onp.array([0.2, 0.3, 0.5]), X),
    "multivariate_normal": (X, X / 2, M @ M.T),
}  # fmt: skip
FUNCTIONS = ("logpdf", "pdf", "logpmf", "pmf", "cdf", "logcdf", "sf", "logsf")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ARGUMENTS)
def test_distributions(name):
    own, other = (getattr(part(package, "scipy.stats"), name) for package in (ours, theirs))
    for function in FUNCTIONS:
        if not hasattr(own, function):
            continue
        assert hasattr(other, function)
        f, g = getattr(own, function), getattr(other, function)
        same(onp.asarray(f(*ARGUMENTS[name])), onp.asarray(g(*ARGUMENTS[name])))
        if name == "chi2":  # autograd's own derivatives are zero
            step = 1e-6
            slope = (g(X + step, 3.1) - g(X - step, 3.1)) / (2 * step)
            onp.testing.assert_allclose(ours.elementwise_grad(f)(X, 3.1), slope, rtol=1e-6, atol=1e-8)
            continue
        for argnum in range(len(ARGUMENTS[name])):
            try:
                want = theirs.elementwise_grad(g, argnum)(*ARGUMENTS[name])
            except NotImplementedError:
                continue  # autograd has no derivative
            same(ours.elementwise_grad(f, argnum)(*ARGUMENTS[name]), want)


@pytest.mark.parametrize(
    "name",
    [
        "erf",
        "erfc",
        "erfinv",
        "expit",
        "gamma",
        "gammaln",
        "psi",
        "j0",
        "j1",
        "y0",
        "y1",
        "i0",
        "i1",
        "logit",
        "rgamma",
        "digamma",
        "erfcinv",
    ],
)
def test_special_functions(name):
    f, g = (getattr(part(package, "scipy.special"), name) for package in (ours, theirs))
    same(ours.elementwise_grad(f)(X / 2), theirs.elementwise_grad(g)(X / 2))


@pytest.mark.parametrize("name", ["beta", "betaln", "gammainc", "gammaincc", "iv", "jn", "ive", "yn"])
def test_special_functions_of_two(name):
    f, g = (getattr(part(package, "scipy.special"), name) for package in (ours, theirs))
    order = onp.array([1.0, 2.0, 1.0])
    same(ours.elementwise_grad(f, 1)(order, X), theirs.elementwise_grad(g, 1)(order, X))


def test_check_grads():
    test_util.check_grads(lambda x, y: our_numpy.sin(x) * y)(X, X)
    wrong = ours.primitive(lambda x: x**2)
    part(ours, "extend").defvjp(wrong, lambda ans, x: lambda g: x * g)
    with pytest.raises(AssertionError, match="Not equal"):
        test_util.check_grads(wrong, modes=["rev"], order=1)(2.0)


def test_outputs_of_more_than_one_number_are_refused():
    with pytest.raises(TypeError, match="Grad only applies to real scalar-output functions"):
        ours.grad(lambda x: x)(X)


def test_boxes_are_not_written_and_become_no_arrays():
    def write(x):
        x[0] = 1.0
        return our_numpy.sum(x)

    with pytest.raises(TypeError, match="does not support item assignment"):
        ours.grad(write)(X)
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        ours.grad(lambda x: onp.sum(onp.asarray(x)))(X)
    ours.grad(lambda x: (repr(x), x[0])[1])(X)
    assert not _boxes.isbox(X)


TIMES = onp.array([0.0, 0.5, 1.3, 2.0])
RATES = onp.array([1.1, 0.4, 0.9])
TOLERANCES = {"rtol": 1e-9, "atol": 1e-9}


def predators(a, np, start, times, rates, more, **options):
    """A number that depends on all states of a system of equations."""

    def slope(y, t, p, q):
        return np.stack([p[0] * y[0] - p[1] * y[0] * y[1], q * y[0] * y[1] * np.cos(t) - p[2] * y[1]])

    arguments = part(a, "builtins").tuple((rates, more))
    states = part(a, "scipy.integrate").odeint(slope, start, times, arguments, **{**TOLERANCES, **options})
    return np.sum(np.sin(states) * onp.arange(8.0).reshape(4, 2))


STARTS = (onp.array([1.0, 0.7]), TIMES, RATES, 0.3)


@pytest.mark.parametrize("argnum", range(4))
def test_odeint(argnum):
    def slope(a, np, *starts, **options):
        return a.grad(lambda *given: predators(a, np, *given, **options), argnum)(*starts)

    got = slope(ours, our_numpy, *STARTS)
    onp.testing.assert_allclose(got, slope(theirs, their_numpy, *STARTS), rtol=1e-6, atol=1e-6)
    direction = onp.cos(onp.arange(onp.size(got))).reshape(onp.shape(got))
    push = ours.make_jvp(lambda *given: predators(ours, our_numpy, *given), argnum)(*STARTS)
    onp.testing.assert_allclose(push(direction)[1], onp.sum(got * direction), rtol=1e-6)
    near = [
        slope(ours, our_numpy, *(s + step * direction if i == argnum else s for i, s in enumerate(STARTS)))
        for step in (1e-5, -1e-5)
    ]
    curve = ours.hessian_vector_product(lambda *given: predators(ours, our_numpy, *given), argnum)(*STARTS, direction)
    onp.testing.assert_allclose(curve, (near[0] - near[1]) / 2e-5, rtol=1e-5, atol=1e-5)


def test_odeint_of_arrays_and_its_options():
    from wengert.compat.autograd.scipy.integrate import odeint, quad, solve_ivp

    assert quad is not None
    assert solve_ivp is not None
    states, said = odeint(lambda y, t: -y, onp.ones(1), onp.array([0.0, 1.0]), full_output=True)
    assert states[1, 0] == pytest.approx(onp.exp(-1), rel=1e-6)
    assert "message" in said

    def at_the_end(rate, **options):
        return odeint(lambda t, y, r: -r * y, onp.ones(2), onp.array([0.0, 2.0]), (rate,), tfirst=True, **options)[1, 0]

    got = ours.grad(lambda rate: at_the_end(rate, rtol=1e-9, atol=onp.full(2, 1e-9), mxstep=5000))(0.5)
    assert got == pytest.approx(-2 * onp.exp(-1), rel=1e-6)
    with pytest.raises(NotImplementedError, match="full_output=True has no derivatives"):
        ours.grad(lambda rate: odeint(lambda y, t, r: -r * y, onp.ones(1), TIMES, (rate,), full_output=True)[0][1, 0])(
            1.0
        )


NEST = {"a": onp.array([1.0, -2.0]), "b": [3.0, onp.ones((2, 2))]}


@pytest.mark.parametrize("name", ["sgd", "rmsprop", "adam"])
def test_optimizers(name):
    def run(a, np):
        seen = []
        slope = a.grad(lambda p: np.sum(p["a"] ** 2) + (p["b"][0] - 1.0) ** 2 + np.sum(np.cosh(p["b"][1])))
        optimize = getattr(part(a, "misc.optimizers"), name)
        result = optimize(lambda p, i: slope(p), NEST, lambda p, i, g: seen.append((i, g["a"])), 30, 0.05)
        return [result["a"], result["b"][0], result["b"][1], [g for _, g in seen], [i for i, _ in seen]]

    same(run(ours, our_numpy), run(theirs, their_numpy))


def test_an_optimizer_is_differentiable():
    def trained(a, np, start):
        slope = a.grad(lambda x: np.sum(x**4))
        return np.sum(part(a, "misc.optimizers").sgd(lambda x, i: slope(x), start, num_iters=3, step_size=0.1))

    same(ours.grad(lambda x: trained(ours, our_numpy, x))(X), theirs.grad(lambda x: trained(theirs, their_numpy, x))(X))


def test_fixed_points():
    def root(a, np, x):
        newton = lambda v: lambda r: 0.5 * (r + v / r)  # noqa: E731
        distance = lambda r, s: np.max(np.abs(r - s))  # noqa: E731
        return np.sum(part(a, "misc.fixed_points").fixed_point(newton, x, onp.ones(3), distance, 1e-12) ** 3)

    same(ours.grad(lambda x: root(ours, our_numpy, x))(X), theirs.grad(lambda x: root(theirs, their_numpy, x))(X))
    got = ours.hessian(lambda x: root(ours, our_numpy, x))(X)
    onp.testing.assert_allclose(got, onp.diag(0.75 * X**-0.5), atol=1e-8)


PROGRAM = """
import autograd.numpy as np
from autograd import grad
from autograd.numpy.linalg import norm
from autograd.scipy.stats import norm as normal
from autograd.misc.flatten import flatten
import autograd, sys
assert grad(lambda x: norm(x) ** 2)(np.ones(2)).tolist() == [2.0, 2.0]
assert abs(grad(normal.logpdf)(1.0) + 1.0) < 1e-12
print(autograd.__name__, sys.argv[1:])
"""


def test_programs_that_import_autograd_run_as_they_are(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    run = subprocess.run(
        [sys.executable, "-m", "wengert.as_autograd", str(path), "--option"],
        env=dict(os.environ), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert run.stdout.split() == ["wengert.compat.autograd", "['--option']"]


def test_autograd_itself_is_not_replaced_once_it_is_there():
    with pytest.raises(ImportError, match="already imported"):
        as_autograd.install()
