"""JAX's names: custom derivatives, loops and branches, trees as vectors, axes of vmap."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg
from wengert.func import cond, custom_jvp, custom_vjp, fori_loop, grad, hessian, jacrev, jvp, scan, vmap, while_loop
from wengert.utils.pytree import ravel_pytree

X = np.array([0.3, 0.7, 1.2])


def cubed():
    """x -> x**3 y with a derivative that is three times too large, so that one sees whose it is."""
    f = custom_vjp(lambda x, y: x**3 * y)
    f.defvjp(lambda x, y: (x**3 * y, (x, y)), lambda res, g: (9 * res[0] ** 2 * res[1] * g, None))
    return f


def test_custom_vjp():
    f, x = cubed(), wg.tensor(X)
    np.testing.assert_allclose(f(x, 2.0), 2 * X**3)
    np.testing.assert_allclose(grad(lambda x: f(x, 2.0).sum())(x), 18 * X**2)
    np.testing.assert_allclose(grad(lambda y: f(x, y).sum())(wg.tensor(2.0, dtype=wg.float64)), 0)
    leaf = wg.tensor(X, requires_grad=True)
    f(leaf, 2.0).sum().backward()
    np.testing.assert_allclose(leaf.grad, 18 * X**2)


def test_custom_vjp_of_second_order_differentiates_the_residuals():
    f, x = cubed(), wg.tensor(X)
    np.testing.assert_allclose(hessian(lambda x: f(x, 2.0).sum())(x), np.diag(36 * X))
    leaf = wg.tensor(X, requires_grad=True)
    (first,) = wg.autograd.grad(f(leaf, 2.0).sum(), leaf, create_graph=True)
    np.testing.assert_allclose(wg.autograd.grad(first.sum(), leaf)[0], 36 * X)


def test_custom_vjp_inside_vmap():
    f = cubed()
    x = wg.tensor(np.stack([X, 2 * X]))
    np.testing.assert_allclose(vmap(f, in_axes=(0, None))(x, wg.tensor(2.0)), 2 * x.numpy() ** 3)
    got = vmap(grad(lambda x: f(x, wg.tensor(2.0)).sum()))(x)
    np.testing.assert_allclose(got, 18 * x.numpy() ** 2)
    np.testing.assert_allclose(jacrev(lambda x: f(x, wg.tensor(2.0)))(wg.tensor(X)), np.diag(18 * X**2))


def test_custom_vjp_of_trees_and_arguments_that_are_passed_on():
    f = custom_vjp(lambda scale, tree: {"a": scale * tree["x"], "b": tree["y"][0]}, nondiff_argnums=(0,))
    f.defvjp(
        lambda scale, tree: (f._fun(scale, tree), None),
        lambda scale, res, g: ({"x": 10 * scale * g["a"], "y": (g["b"],)},),
    )
    x, y = wg.tensor(X, requires_grad=True), wg.tensor(2.0, requires_grad=True)
    out = f(3.0, {"x": x, "y": (y,)})
    (out["a"].sum() + 5 * out["b"]).backward()
    assert x.grad.tolist() == [30.0] * 3
    assert y.grad.item() == 5.0


def test_custom_vjp_has_no_forward_mode_and_says_what_is_missing():
    f = cubed()
    with pytest.raises((RuntimeError, NotImplementedError), match="jvp"):
        jvp(lambda x: f(x, 1.0), (wg.tensor(X),), (wg.ones(3, dtype=wg.float64),))
    with pytest.raises(TypeError, match=r"call \w+.defvjp"):
        _without_rule()
    wrong = custom_vjp(lambda x: x)
    wrong.defvjp(lambda x: (x, None), lambda res, g: g)
    with pytest.raises(TypeError, match="must return a tuple of 1 cotangents"):
        grad(lambda x: wrong(x).sum())(wg.ones(2))


def _without_rule():
    def identity(x):
        return x

    return custom_vjp(identity)(wg.ones(2))


def doubled():
    """sin with twice its derivative."""
    f = custom_jvp(wg.sin)
    f.defjvp(lambda primals, tangents: (f(*primals), 2 * wg.cos(primals[0]) * tangents[0]))
    return f


def test_custom_jvp_in_both_modes():
    f, x, t = doubled(), wg.tensor(X), wg.tensor([1.0, 2.0, 3.0], dtype=wg.float64)
    value, slope = jvp(f, (x,), (t,))
    np.testing.assert_allclose(value, np.sin(X))
    np.testing.assert_allclose(slope, 2 * np.cos(X) * t.numpy())
    np.testing.assert_allclose(grad(lambda x: f(x).sum())(x), 2 * np.cos(X))
    leaf = wg.tensor(X, requires_grad=True)
    f(leaf).sum().backward()
    np.testing.assert_allclose(leaf.grad, 2 * np.cos(X))


def test_custom_jvp_of_second_order_and_inside_vmap():
    f, x = doubled(), wg.tensor(X)
    np.testing.assert_allclose(hessian(lambda x: f(x).sum())(x), np.diag(-2 * np.sin(X)))
    np.testing.assert_allclose(vmap(grad(f))(x), 2 * np.cos(X))
    np.testing.assert_allclose(wg.func.jacfwd(f)(x), np.diag(2 * np.cos(X)))


def test_defjvps():
    f = custom_jvp(lambda x, y: x * y)
    f.defjvps(lambda t, ans, x, y: 7 * t * y, None)
    assert grad(f)(wg.tensor(2.0), wg.tensor(3.0)).item() == 21.0
    assert grad(f, argnums=1)(wg.tensor(2.0), wg.tensor(3.0)).item() == 0.0
    with pytest.raises(TypeError, match="defjvp"):
        custom_jvp(wg.sin)(wg.ones(1))


# --- Loops and branches
def test_scan():
    x = wg.tensor(X, requires_grad=True)
    carry, ys = scan(lambda c, x: (c * x, (c, x + 1)), wg.tensor(1.0, dtype=wg.float64), x)
    np.testing.assert_allclose(carry.detach(), X.prod())
    np.testing.assert_allclose(ys[0].detach(), [1.0, 0.3, 0.21])
    np.testing.assert_allclose(ys[1].detach(), X + 1)
    np.testing.assert_allclose(wg.autograd.grad(carry, x)[0], X.prod() / X)


def test_scan_backwards_of_trees_and_without_elements():
    _, ys = scan(lambda c, x: (c + x["a"], c), wg.tensor(0.0), {"a": wg.tensor([1.0, 2.0, 3.0])}, reverse=True)
    assert ys.tolist() == [5.0, 3.0, 0.0]
    assert scan(lambda c, x: (c + 1, None), 0, length=4) == (4, None)
    assert scan(lambda c, x: (c, x), 0, wg.ones(0)) == (0, None)
    with pytest.raises(ValueError, match="agree on one number"):
        scan(lambda c, x: (c, x), 0, (wg.ones(2), wg.ones(3)))
    with pytest.raises(ValueError, match="agree on one number"):
        scan(lambda c, x: (c, x), 0)


def test_loops_and_branches():
    assert while_loop(lambda v: v[0] < 3, lambda v: (v[0] + 1, 2 * v[1]), (0, wg.tensor(1.0)))[1].item() == 8.0
    assert fori_loop(2, 5, lambda i, v: [*v, i], []) == [2, 3, 4]
    assert cond(True, lambda a, b: a + b, lambda a, b: a - b, 1, 2) == 3
    assert cond(wg.tensor(False), lambda a, b: a + b, lambda a, b: a - b, 1, 2) == -1
    x = wg.tensor([-4.0, 4.0])
    root = vmap(lambda x: cond(x > 0, lambda x: {"r": wg.sqrt(x)}, lambda x: {"r": -x}, x))
    assert root(x)["r"].tolist() == [4.0, 2.0]


# --- Trees and axes
def test_ravel_pytree():
    tree = {"w": wg.tensor([[1.0, 2.0]], requires_grad=True), "n": (wg.tensor(3), 4.0)}
    vector, unravel = ravel_pytree(tree)
    assert vector.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert vector.requires_grad
    again = unravel(vector * 2)
    assert again["w"].shape == (1, 2)
    assert again["n"][0].dtype == wg.int64
    assert again["n"][0].item() == 6
    with pytest.raises(ValueError, match="a vector of 4 elements"):
        unravel(wg.ones(3))
    empty, unravel = ravel_pytree({})
    assert empty.numel() == 0
    assert unravel(empty) == {}


def test_axes_of_vmap():
    x = wg.arange(6.0).reshape(2, 3)
    assert vmap(wg.sum, in_axes=1)(x).tolist() == [3.0, 5.0, 7.0]
    assert vmap(lambda x, y: x * y, in_axes=(0, None), out_axes=1)(x, wg.ones(3)).shape == (3, 2)
