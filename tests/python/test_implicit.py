"""Derivatives of solutions, against solutions in closed form, both modes and second order."""

import numpy as np
import pytest
import scipy.optimize

import wengert as wg
import wengert.autograd.forward_ad as fwd
from wengert import func
from wengert.autograd import gradcheck, gradgradcheck
from wengert.func import implicit
from wengert.func.implicit import argmin, fixed_point, root

LINEAR_SOLVERS = ["lu", "sparse", "gmres", "bicgstab", lambda product, b: _by_columns(product, b)]
MATRIX = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, -1.0], [0.5, -1.0, 5.0]])


def _by_columns(product, b):
    return np.linalg.solve(np.stack([product(unit) for unit in np.eye(len(b))], 1), b)


def f64(value, **options):
    return wg.tensor(value, dtype=wg.float64, **options)


def system(x, a, b):
    return wg.tensor(MATRIX) @ x + 0.1 * x**3 + a * wg.sin(x.flip(0)) - b


@pytest.fixture
def params():
    return f64(0.3, requires_grad=True), f64([1.0, -2.0, 0.5], requires_grad=True)


@pytest.mark.parametrize("linear_solver", LINEAR_SOLVERS)
def test_root_in_both_modes_and_second_order(params, linear_solver):
    def solved(a, b):
        return implicit.root(system, wg.zeros(3, dtype=wg.float64), a, b, linear_solver=linear_solver)

    assert system(solved(*params), *params).abs().max() < 1e-12
    assert gradcheck(solved, params, check_forward_ad=True)
    assert gradgradcheck(solved, params, check_fwd_over_rev=True)


def test_third_order():
    a = f64(2.0, requires_grad=True)
    value = implicit.root(lambda x, a: x**2 - a, f64(1.0), a)
    for expected in (0.5 * 2**-0.5, -0.25 * 2**-1.5, 0.375 * 2**-2.5):
        (value,) = wg.autograd.grad(value, a, create_graph=True)
        assert value.item() == pytest.approx(expected, rel=1e-10)


def test_trees_and_other_arguments():
    def equations(x, params, exponent):
        return {"first": x["u"] ** exponent - params["a"], "second": x["v"] + x["u"] * params["b"][0]}

    params = {"a": f64([4.0, 9.0], requires_grad=True), "b": (f64(2.0, requires_grad=True),)}
    x = implicit.root(equations, {"u": f64([1.0, 1.0]), "v": f64([0.0, 0.0])}, params, 2)
    np.testing.assert_allclose(x["u"].detach().numpy(), [2, 3])
    np.testing.assert_allclose(x["v"].detach().numpy(), [-4, -6])
    gradients = wg.autograd.grad(x["v"].sum(), [params["a"], params["b"][0]])
    np.testing.assert_allclose(gradients[0].numpy(), [-0.5, -1 / 3])
    assert gradients[1].item() == pytest.approx(-5)


def test_forward_mode_alone():
    a, t = f64(4.0), f64(1.0)
    with fwd.dual_level():
        x = implicit.root(lambda x, a: x**2 - a, f64(1.0), fwd.make_dual(a, t))
        assert fwd.unpack_dual(x).tangent.item() == pytest.approx(0.25)


def test_solver_of_the_user(params):
    def by_scipy(f, x0):
        return scipy.optimize.root(lambda x: f(wg.tensor(x)).numpy(), x0.numpy(), tol=1e-13).x

    expected = wg.autograd.grad(implicit.root(system, wg.zeros(3, dtype=wg.float64), *params).sum(), params)
    x = implicit.root(system, wg.zeros(3, dtype=wg.float64), *params, solver=by_scipy)
    for found, known in zip(wg.autograd.grad(x.sum(), params), expected, strict=True):
        np.testing.assert_allclose(found.numpy(), known.numpy(), rtol=1e-9)


@pytest.mark.parametrize("memory", [0, 5])
def test_fixed_point(memory):
    def kepler(x, eccentricity, anomaly):
        return anomaly + eccentricity * wg.sin(x)

    def solved(e, m):
        return implicit.fixed_point(kepler, wg.zeros(4, dtype=wg.float64), e, m, memory=memory, tol=1e-13)

    params = f64(0.4, requires_grad=True), f64([0.1, 1.0, 2.0, 3.0], requires_grad=True)
    assert gradcheck(solved, params, check_forward_ad=True)
    assert gradgradcheck(solved, params)
    x = solved(*params)
    (slope,) = wg.autograd.grad(x.sum(), params[1])
    np.testing.assert_allclose(slope.numpy(), 1 / (1 - 0.4 * np.cos(x.detach().numpy())), rtol=1e-10)


@pytest.mark.parametrize("linear_solver", ["lu", "cg"])
def test_argmin_in_both_modes_and_second_order(linear_solver):
    data = wg.tensor(np.random.default_rng(1).normal(size=(6, 2)))
    target = data @ f64([1.0, -2.0]) + 0.3

    def loss(x, penalty, scale):
        return ((data @ x - scale * target) ** 2).sum() + penalty * (x**2).sum() + 0.1 * (x**4).sum()

    def solved(penalty, scale):
        return implicit.argmin(loss, wg.zeros(2, dtype=wg.float64), penalty, scale, linear_solver=linear_solver)

    params = f64(0.5, requires_grad=True), f64(1.5, requires_grad=True)
    assert gradcheck(solved, params, check_forward_ad=True)
    assert gradgradcheck(solved, params)


def test_large_system_without_a_matrix():
    n = 3000
    source = wg.ones(n, dtype=wg.float64, requires_grad=True)

    def equations(u, source):
        inner = 3 * u + 0.1 * u**3 - source
        return inner - 0.5 * wg.nn.functional.pad(u[1:], (0, 1)) - 0.5 * wg.nn.functional.pad(u[:-1], (1, 0))

    gradients = []
    for linear_solver in ("auto", "sparse"):
        u = implicit.root(equations, wg.zeros(n, dtype=wg.float64), source, linear_solver=linear_solver)
        gradients.append(wg.autograd.grad(u[n // 2], source)[0].numpy())
    np.testing.assert_allclose(gradients[0], gradients[1], atol=1e-10)


def test_a_parameter_without_influence_has_derivative_zero():
    a, b = f64(4.0, requires_grad=True), f64(1.0, requires_grad=True)
    x = implicit.root(lambda x, a, b: x**2 - a + 0 * b, f64(1.0), a, b)
    assert wg.autograd.grad(x, b)[0].item() == 0
    x = implicit.root(lambda x, a, b: x**2 - a, f64(1.0), a, b)
    assert wg.autograd.grad(x, b, materialize_grads=True)[0].item() == 0


def test_errors():
    with pytest.raises(RuntimeError, match=r"\[implicit.root\] no convergence"):
        implicit.root(lambda x, a: x**2 + a, f64(1.3), f64(1.0), max_iterations=5)
    with pytest.raises(RuntimeError, match=r"\[implicit.fixed_point\] no convergence"):
        implicit.fixed_point(lambda x, a: 2 * x + a, f64(1.0), f64(1.0), memory=0, max_iterations=20)
    with pytest.raises(ValueError, match="as many equations as unknowns"):
        implicit.root(lambda x: x[:1], f64([1.0, 2.0]))
    with pytest.raises(ValueError, match="linear_solver must be one of"):
        implicit.root(lambda x: x**2 - 1, f64([0.5]), linear_solver="qr")
    a = f64(0.0, requires_grad=True)
    x = implicit.root(lambda x, a: (x - 1) ** 2 + a * x, f64(1.0), a)
    with pytest.raises(RuntimeError, match="dF/dx is singular"):
        wg.autograd.grad(x, a)


def test_inside_transforms():
    def solution(a):
        return func.implicit.root(lambda x, a: x * x - a, wg.ones_like(a), a)

    a = wg.tensor([4.0, 9.0], dtype=wg.float64)
    slopes = 0.5 / np.sqrt(a.numpy())
    np.testing.assert_allclose(func.grad(lambda a: solution(a).sum())(a).numpy(), slopes)
    for jacobian in (func.jacrev, func.jacfwd):
        np.testing.assert_allclose(jacobian(solution)(a).numpy(), np.diag(slopes), atol=1e-12)
    np.testing.assert_allclose(func.vmap(func.grad(solution))(a).numpy(), slopes)
    curvatures = func.hessian(lambda a: solution(a).sum())(a).numpy()
    np.testing.assert_allclose(curvatures, np.diag(-0.25 * a.numpy() ** -1.5), atol=1e-12)


def test_what_is_captured_is_refused_and_never_0():
    a = wg.tensor(4.0, dtype=wg.float64)

    def captured(a):
        return root(lambda x: x * x - a, wg.tensor(1.0, dtype=wg.float64))

    for call in (
        lambda: wg.func.grad(captured)(a),
        lambda: wg.func.jacfwd(captured)(a),
        lambda: wg.func.vmap(captured)(wg.stack([a, a])),
        lambda: captured(a.clone().requires_grad_()),
        lambda: wg.func.grad(lambda a: fixed_point(lambda x: (x + a / x) / 2, 1.0 + 0 * a.detach()))(a),
        lambda: wg.func.grad(lambda a: argmin(lambda x: (x - a) ** 2, 1.0 + 0 * a.detach()))(a),
    ):
        with pytest.raises(RuntimeError, match="is none of its parameters"):
            call()
    assert captured(a).item() == 2.0
    assert captured(a.clone().requires_grad_().detach()).item() == 2.0
    with wg.no_grad():
        assert captured(a.clone().requires_grad_()).item() == 2.0


@pytest.mark.parametrize(
    ("function", "start"),
    [
        (lambda x: x * x + 1, 0.5),
        (lambda x: x.abs().sqrt() + 1, 4.0),  # steps get as short as one likes
        (lambda x: x.exp() + 1, 0.0),
        (lambda x: x.atan() - 2, 0.0),
        (lambda x: (x - 5).log(), 0.0),
    ],
)
def test_there_is_no_root(function, start):
    with pytest.raises(RuntimeError, match=r"no convergence|singular"):
        root(function, wg.tensor(start, dtype=wg.float64))


@pytest.mark.parametrize(
    ("function", "start"),
    [(lambda x: -x * x, [1.0]), (lambda x: x[:1] ** 2 - x[1:] ** 2, [1.0, 0.0]), (lambda x: x**3 - x, [-3.0])],
)
def test_there_is_no_minimum(function, start):
    with pytest.raises(RuntimeError, match=r"no minimum|no convergence|singular"):
        argmin(function, wg.tensor(start, dtype=wg.float64))


def test_roots_that_rounding_hides_are_found():
    a = wg.tensor(1.23456, dtype=wg.float64)
    x = root(lambda x, a: (x + 1e8) - (a + 1e8), 0.0 * a, a)  # to the digits that the function has
    assert abs(x.item() - 1.23456) < 1e-7
    x = root(lambda x, a: (x - a) ** 2, 0.0 * a, a)
    assert abs(x.item() - 1.23456) < 1e-6


@pytest.mark.parametrize("solver", ["cg", "gmres", "bicgstab", "lu", "sparse"])
def test_every_linear_solver_reaches_the_digits(solver):
    A = wg.tensor([[2.0, 1.0], [1.0, 3.0]], dtype=wg.float64)  # noqa: N806

    def solve(p):
        return root(lambda x, p: A @ x - p, wg.zeros(2, dtype=wg.float64), p, linear_solver=solver)

    inverse = wg.tensor([[0.6, -0.2], [-0.2, 0.4]], dtype=wg.float64)
    for scale in (1.0, 1e-150, 1e150):
        p = scale * wg.tensor([0.3, 0.7], dtype=wg.float64)
        wg.testing.assert_close(solve(p) / scale, inverse @ (p / scale), rtol=1e-11, atol=1e-12)
        wg.testing.assert_close(wg.func.jacfwd(solve)(p), inverse, rtol=1e-11, atol=1e-12)
        wg.testing.assert_close(wg.func.jacrev(solve)(p), inverse, rtol=1e-11, atol=1e-12)
