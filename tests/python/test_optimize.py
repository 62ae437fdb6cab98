"""SciPy's optimizers on trees of tensors, with derivatives that nobody wrote."""

import itertools

import numpy as np
import pytest
import scipy.optimize

import wengert as wg

GRADIENT_METHODS = ["CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP", "trust-constr"]
HESSIAN_METHODS = ["Newton-CG", "dogleg", "trust-ncg", "trust-exact", "trust-krylov", "trust-constr"]
NO_GRADIENT_METHODS = ["Nelder-Mead", "Powell", "COBYLA", "COBYQA"]


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def bowl(p):
    return (p["a"] - 2) ** 2 + ((p["b"] - wg.tensor([1.0, -1.0], dtype=wg.float64)) ** 2).sum() + 0.1 * p["a"] ** 4


@pytest.mark.parametrize("method", [None, *GRADIENT_METHODS, *HESSIAN_METHODS, *NO_GRADIENT_METHODS])
def test_minimize_agrees_with_scipy(method):
    start = np.array([1.02, 1.03])
    found = wg.optimize.minimize(rosenbrock, start, method=method, tol=1e-9)
    expected = scipy.optimize.minimize(
        scipy.optimize.rosen,
        start,
        method=method,
        tol=1e-9,
        jac=None if method in NO_GRADIENT_METHODS else scipy.optimize.rosen_der,
        hess=scipy.optimize.rosen_hess if method in HESSIAN_METHODS else None,
    )
    np.testing.assert_allclose(found.x, expected.x, atol=1e-6)


@pytest.mark.parametrize("method", ["BFGS", "trust-exact", "trust-constr"])
def test_minimize_keeps_structure_and_kinds(method):
    found = wg.optimize.minimize(bowl, {"a": 0.0, "b": wg.zeros(2)}, method=method)
    assert type(found.x["a"]) is float
    assert found.x["b"].dtype == wg.float64
    np.testing.assert_allclose(found.x["b"].numpy(), [1, -1], atol=1e-4)
    assert found.x_flat.shape == (3,)
    array = wg.optimize.minimize(lambda x: (x**2).sum(), np.ones((2, 2))).x
    assert isinstance(array, np.ndarray)
    assert array.shape == (2, 2)


def test_derivatives_are_exact():
    calls = []

    def record(fun, x0, args=(), jac=None, hess=None, hessp=None, **_):
        calls.append((jac(x0), fun(x0)))
        return scipy.optimize.OptimizeResult(x=x0, success=True)

    x0 = np.array([0.3, -0.7, 1.1])
    wg.optimize.minimize(rosenbrock, x0, method=record)
    gradient, value = calls[0]
    np.testing.assert_allclose(gradient, scipy.optimize.rosen_der(x0), rtol=1e-14)
    assert value == pytest.approx(scipy.optimize.rosen(x0), rel=1e-15)


@pytest.mark.parametrize("hess", ["dense", "product", "sparse"])
def test_ways_to_give_the_hessian(hess):
    found = wg.optimize.minimize(rosenbrock, 0.9 * np.ones(6), method="trust-constr", hess=hess, tol=1e-10)
    np.testing.assert_allclose(found.x, np.ones(6), atol=1e-5)


def test_hessians_of_the_user():
    found = wg.optimize.minimize(
        rosenbrock, np.zeros(3), method="trust-exact", hess=lambda x: scipy.optimize.rosen_hess(x.numpy()), tol=1e-9
    )
    np.testing.assert_allclose(found.x, np.ones(3), atol=1e-6)
    found = wg.optimize.minimize(rosenbrock, np.ones(3), method="trust-constr", hess=scipy.optimize.BFGS())
    np.testing.assert_allclose(found.x, np.ones(3), atol=1e-6)


def test_args_and_one_evaluation_per_point():
    points = []

    def fun(x, scale, *, _points=points):
        _points.append(tuple(x.tolist()))
        return scale * (x**2).sum()

    found = wg.optimize.minimize(fun, np.ones(2), args=(3.0,), method="Newton-CG")
    np.testing.assert_allclose(found.x, 0, atol=1e-6)
    assert all(first != second for first, second in itertools.pairwise(points))


def test_bounds():
    x0 = {"a": 3.0, "b": np.zeros(2)}
    bounds = wg.optimize.bounds_like(x0, lower={"a": 2.5, "b": None}, upper={"a": None, "b": np.array([0.5, np.inf])})
    found = wg.optimize.minimize(bowl, x0, bounds=bounds)
    assert found.x["a"] == pytest.approx(2.5)
    np.testing.assert_allclose(found.x["b"], [0.5, -1], atol=1e-5)
    with pytest.raises(ValueError, match="has 1 leaves, but x0 has 2"):
        wg.optimize.bounds_like(x0, lower=[1.0])


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
def test_constraints_are_differentiated(method):
    def circle(p):
        return p["x"] ** 2 + p["y"] ** 2

    if method == "SLSQP":
        constraint = {"type": "eq", "fun": lambda p: circle(p) - 2}
    else:
        constraint = scipy.optimize.NonlinearConstraint(circle, 2, 2)
    found = wg.optimize.minimize(
        lambda p: -p["x"] - p["y"], {"x": 1.0, "y": 0.5}, method=method, constraints=constraint, tol=1e-9
    )
    assert found.x == {"x": pytest.approx(1, abs=1e-5), "y": pytest.approx(1, abs=1e-5)}


def test_linear_constraints_pass():
    constraint = scipy.optimize.LinearConstraint([[1.0, 1.0]], 1, 1)
    found = wg.optimize.minimize(lambda x: (x**2).sum(), np.array([1.0, 0.0]), constraints=[constraint])
    np.testing.assert_allclose(found.x, [0.5, 0.5], atol=1e-6)


@pytest.mark.parametrize("method", ["BFGS", "TNC", "trust-constr", "SLSQP"])
def test_callback_gets_trees_and_may_stop(method):
    seen = []

    def callback(intermediate_result):
        seen.append(intermediate_result.x)

    wg.optimize.minimize(bowl, {"a": 0.0, "b": np.zeros(2)}, method=method, callback=callback)
    assert set(seen[0]) == {"a", "b"}

    def stop(intermediate_result):
        raise StopIteration

    if method in ("BFGS", "trust-constr"):
        assert wg.optimize.minimize(bowl, {"a": 0.0, "b": np.zeros(2)}, method=method, callback=stop).nit <= 1


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
def test_least_squares(method):
    t = wg.linspace(0, 2, 30, dtype=wg.float64)
    measured = 2.5 * wg.exp(-1.3 * t) + 0.5

    def residuals(p):
        return p["scale"] * wg.exp(-p["rates"][0] * t) + p["rates"][1] - measured

    found = wg.optimize.least_squares(residuals, {"scale": 1.0, "rates": np.array([1.0, 0.0])}, method=method)
    assert found.x["scale"] == pytest.approx(2.5)
    np.testing.assert_allclose(found.x["rates"], [1.3, 0.5], rtol=1e-6)


@pytest.mark.parametrize("jac", ["auto", "sparse"])
def test_least_squares_with_a_sparse_jacobian(jac):
    target = wg.linspace(0, 1, 1200, dtype=wg.float64).sin()

    def residuals(u):
        return wg.cat([u[1:] - u[:-1] - (target[1:] - target[:-1]), u[:1] ** 2 + u[:1] - target[:1]])

    found = wg.optimize.least_squares(residuals, np.full(1200, 0.1), jac=jac)
    np.testing.assert_allclose(found.x, target.numpy(), atol=1e-4)


@pytest.mark.parametrize("method", ["hybr", "lm", "krylov", "broyden1"])
def test_root(method):
    def equations(p):
        return {"sum": p["x"] + p["y"] - 3, "product": p["x"] * p["y"] - 2}

    found = wg.optimize.root(equations, {"x": 0.9, "y": 2.2}, method=method)
    assert found.x == {"x": pytest.approx(1, abs=1e-4), "y": pytest.approx(2, abs=1e-4)}


def test_errors_name_the_remedy():
    with pytest.raises(ValueError, match="one element, but got 2"):
        wg.optimize.minimize(lambda x: x, np.ones(2))
    with pytest.raises(ValueError, match="takes no Hessian"):
        wg.optimize.minimize(rosenbrock, np.ones(2), method="BFGS", hess="dense")
    with pytest.raises(ValueError, match="needs the matrix"):
        wg.optimize.minimize(rosenbrock, np.ones(2), method="dogleg", hess="product")
    with pytest.raises(ValueError, match="as many equations as unknowns"):
        wg.optimize.root(lambda x: x[:1], np.ones(2))
    with pytest.raises(ValueError, match="jac must be one of"):
        wg.optimize.least_squares(lambda x: x, np.ones(2), jac="3-point")
    with pytest.raises(TypeError, match="expected tensors, arrays or numbers"):
        wg.optimize.minimize(rosenbrock, "x")
    with pytest.raises(TypeError, match="must be real"):
        wg.optimize.minimize(rosenbrock, wg.ones(2, dtype=wg.complex128))
