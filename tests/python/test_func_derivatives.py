"""Rows U1 to U5, U7, U10: the transforms that differentiate."""

from __future__ import annotations

import pytest

import wengert as wg
from wengert.func import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap

close = wg.testing.assert_close
x2 = wg.tensor([1.0, 2.0])


def test_u1_grad_nests():
    assert grad(grad(grad(lambda x: x**4)))(wg.tensor(2.0)).item() == 48


def test_u1_no_perturbation_confusion():
    f = lambda x: x * grad(lambda y: x + y)(x)  # noqa: E731
    assert grad(f)(wg.tensor(3.0)).item() == 1
    g = lambda x: x * jvp(lambda y: x * y, (x,), (wg.tensor(1.0),))[1]  # noqa: E731
    assert jvp(g, (wg.tensor(3.0),), (wg.tensor(1.0),))[1].item() == 6


def test_u1_works_inside_no_grad():
    with wg.no_grad():
        gradient, value = grad_and_value(lambda x: (x * x).sum())(x2)
        assert not wg.is_grad_enabled()
    close(gradient, wg.tensor([2.0, 4.0]))
    assert not gradient.requires_grad
    assert not value.requires_grad


def test_u1_inner_no_grad_is_respected():
    def f(x):
        with wg.no_grad():
            shift = x**2
        return x**2 - shift

    assert grad(f)(wg.tensor(3.0)).item() == 6


def test_u1_value_and_aux():
    gradient, (value, aux) = grad_and_value(lambda x: (x.sum(), {"twice": x * 2}), has_aux=True)(x2)
    close(gradient, wg.ones(2))
    close(value, wg.tensor(3.0))
    close(aux["twice"], x2 * 2)
    assert not aux["twice"].requires_grad
    close(grad(lambda x: (x.sum(), "any"), has_aux=True)(x2)[0], wg.ones(2))


def test_u1_argnums_and_trees():
    f = lambda a, b: (a["x"] * b[0]).sum() + b[1].sum()  # noqa: E731
    first, second = grad(f, argnums=(0, -1))({"x": x2}, (x2, wg.ones(1)))
    close(first["x"], x2)
    close(second, (x2, wg.ones(1)))


def test_u1_results_track_what_is_outside():
    w = wg.tensor([3.0, 4.0], requires_grad=True)
    gradient = grad(lambda x: (x * x * w).sum())(x2)
    assert gradient.requires_grad
    gradient.sum().backward()
    close(w.grad, x2 * 2)
    assert not grad(lambda x: (x * x).sum())(x2).requires_grad
    assert grad(lambda x: (x * x).sum())(w).requires_grad


def test_u1_grad_leaves_grad_attributes_alone():
    w = wg.ones(2, requires_grad=True)
    grad(lambda x: (x * w).sum())(w)
    assert w.grad is None


def test_u1_independent_input_has_zero_gradient():
    close(grad(lambda x: wg.ones(()))(x2), wg.zeros(2))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: grad(lambda x: x)(x2), RuntimeError, "return a scalar Tensor, got tensor with 1 dims"),
        (lambda: grad(lambda x: 1.0)(x2), RuntimeError, "to return a Tensor, got <class 'float'>"),
        (lambda: grad(lambda x: x * 2)("3.0"), ValueError, "Thing passed to transform API must be Tensor"),
        (lambda: grad(lambda x: x.sum())(wg.arange(3)), RuntimeError, "floating point"),
        (lambda: grad(wg.sum, argnums=1)(x2), RuntimeError, "Got argnum=1, but only 1 positional inputs"),
        (lambda: grad(wg.sum, argnums=(0, -2))(x2, x2), RuntimeError, "argnums elements must be unique"),
        (lambda: grad(wg.sum, argnums="a")(x2), RuntimeError, "argnums must be int or Tuple"),
        (lambda: grad(wg.sum, argnums=(0.5,))(x2), RuntimeError, "argnum must be int"),
        (lambda: grad(wg.sum, argnums=())(x2), RuntimeError, "argnums must be non-empty"),
        (lambda: grad(wg.sum, has_aux=True)(x2), RuntimeError, r"should be a tuple: \(output, aux\)"),
        (lambda: grad(lambda x: x.sum() * 1j)(x2), RuntimeError, "only for real scalar outputs"),
    ],
)
def test_u1_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_u2_vjp():
    output, pull, aux = vjp(lambda x, y: ({"s": x * y}, x), x2, x2, has_aux=True)
    close(output["s"], x2 * x2)
    close(pull({"s": wg.ones(2)}), (x2, x2))
    close(pull({"s": x2}), (x2 * x2, x2 * x2))
    close(aux, x2)
    close(vjp(lambda x: wg.ones(2), x2)[1](wg.ones(2)), (wg.zeros(2),))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: vjp(lambda x: (x, x), x2)[1](x2), "Expected pytree structure of cotangents to be the same"),
        (lambda: vjp(lambda x: x, x2)[1](wg.ones(3)), "Mismatch in shape"),
        (lambda: vjp(lambda x: x.long(), x2), "must be floating-point or complex"),
        (lambda: vjp(lambda x: 3, x2), "return only tensors, got unsupported type"),
        (lambda: vjp(lambda x: (), x2), "non-empty output"),
        (lambda: vjp(lambda x: x, x2, has_aux=True), "should be a tuple"),
    ],
)
def test_u2_errors(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()


def test_u2_vjp_function_under_vmap():
    _, pull = vjp(lambda x: x**3, x2)
    (rows,) = vmap(pull)(wg.eye(2))
    close(rows, wg.tensor([[3.0, 0.0], [0.0, 12.0]]))


def test_u3_jvp():
    output, tangent, aux = jvp(lambda t: ((t["a"] * 3, t["a"].sum()), t["a"]), ({"a": x2},), ({"a": wg.ones(2)},),
                               has_aux=True)  # fmt: skip
    close(output, (x2 * 3, wg.tensor(3.0)))
    close(tangent, (wg.full((2,), 3.0), wg.tensor(2.0)))
    close(aux, x2)
    close(jvp(lambda x: wg.ones(2), (x2,), (x2,))[1], wg.zeros(2))


def test_u3_forward_and_reverse_nest():
    one = wg.tensor(1.0)
    x = wg.tensor(2.0)
    close(jvp(grad(lambda x: x**3), (x,), (one,)), (wg.tensor(12.0), wg.tensor(12.0)))
    close(grad(lambda x: jvp(lambda y: y**3 * x, (x,), (one,))[1])(x), wg.tensor(36.0))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: jvp(wg.sin, x2, x2), "Expected primals to be a tuple"),
        (lambda: jvp(wg.sin, (x2,), x2), "same python structure"),
        (lambda: jvp(wg.sin, (x2,), (wg.ones(3),)), "different size"),
        (lambda: jvp(wg.sin, (), ()), "at least one Tensor"),
        (lambda: jvp(wg.sin, (3,), ("3",)), "only contain Tensors"),
        (lambda: jvp(lambda x: 3, (x2,), (x2,)), "return only tensors"),
        (lambda: jvp(lambda x: wg.ones(2), (x2,), (x2,), strict=True), "independent of the inputs"),
    ],
)
def test_u3_errors(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()


@pytest.mark.parametrize("jacobian", [jacrev, jacfwd, lambda f, **o: jacrev(f, chunk_size=1, **o),
                                      lambda f, **o: jacfwd(f, chunk_size=2, **o)])  # fmt: skip
def test_u4_jacobians(jacobian):
    def f(a, b):
        return {"product": wg.outer(a, b), "sum": a.sum()}

    a, b = wg.tensor([1.0, 2.0]), wg.tensor([3.0, 4.0, 5.0])
    (first, second), one = jacobian(f, argnums=(0, 1))(a, b)["product"], jacobian(f)(a, b)["sum"]
    close(first, wg.einsum("ik,j->ijk", [wg.eye(2), b]))
    close(second, wg.einsum("jk,i->ijk", [wg.eye(3), a]))
    close(one, wg.ones(2))


@pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
def test_u4_aux_independence_and_errors(jacobian):
    matrix, aux = jacobian(lambda x: (x * x, x), has_aux=True)(x2)
    close(matrix, wg.tensor([[2.0, 0.0], [0.0, 4.0]]))
    close(aux, x2)
    close(jacobian(lambda x: wg.ones(3))(x2), wg.zeros(3, 2))
    with pytest.raises(ValueError, match="`chunk_size` should be greater than 0"):
        jacobian(wg.sin, chunk_size=0)(x2)
    for function, at in ((wg.sin, x2 * 1j), (lambda x: x * 1j, x2)):
        with pytest.raises(RuntimeError, match="to be real but received complex tensor at flattened input idx: 0"):
            jacobian(function)(at)


def test_u4_jacrev_is_differentiable():
    close(jacrev(jacrev(lambda x: x.prod()))(wg.tensor([2.0, 3.0])), wg.tensor([[0.0, 1.0], [1.0, 0.0]]))


def test_u4_jacobian_of_each_sample():
    batch = wg.tensor([[1.0, 2.0], [3.0, 4.0]])
    for jacobian in (jacrev, jacfwd):
        close(vmap(jacobian(lambda x: x**2))(batch), wg.diag_embed(batch * 2))


def test_u4_jacfwd_randomness():
    with pytest.raises(RuntimeError, match="randomness error mode"):
        jacfwd(lambda x: x * wg.randn(2))(x2)
    assert jacfwd(lambda x: x * wg.randn(2), randomness="same")(x2).shape == (2, 2)


def test_u5_hessian():
    close(hessian(lambda x: (x**3).sum())(x2), wg.diag(x2 * 6))
    assert hessian(lambda x: x * x)(x2).shape == (2, 2, 2)
    blocks = hessian(lambda a, b: (a * b).sum(), argnums=(0, 1))(x2, x2)
    close(blocks[0][1], wg.eye(2))
    close(blocks[0][0], wg.zeros(2, 2))


def test_u5_hessian_of_a_function_that_looks_at_values():
    close(hessian(lambda x: (x**3).sum() if x.sum() > 0 else x.sum())(x2), wg.diag(x2 * 6))


def test_u5_hessian_inside_other_transforms():
    cubes = lambda x: (x**3).sum()  # noqa: E731
    close(vmap(hessian(cubes))(wg.stack([x2, 2 * x2])), wg.stack([wg.diag(x2 * 6), wg.diag(x2 * 12)]))
    close(jvp(hessian(cubes), (x2,), (wg.ones(2),))[1], 6 * wg.eye(2))
    close(grad(lambda x: hessian(cubes)(x).sum())(x2), 6 * wg.ones(2))
    w = wg.tensor(2.0, requires_grad=True)
    hessian(lambda x: w * cubes(x))(x2).sum().backward()
    close(w.grad, wg.tensor(18.0))


def test_u3_more_rows_than_are_made_at_once():
    x = wg.arange(70.0)
    close(jacrev(lambda t: t**2)(x), wg.diag(2 * x))
    close(jacrev(lambda t: t**2, chunk_size=33)(x), wg.diag(2 * x))
    close(jacrev(lambda t: t.reshape(7, 10).T)(x), jacfwd(lambda t: t.reshape(7, 10).T)(x))


def test_u7_linearize():
    calls = []

    def f(t):
        calls.append(1)
        return {"a": t["b"].sin()}

    output, push = linearize(f, {"b": x2})
    close(output["a"], x2.sin())
    for direction in (wg.ones(2), x2):
        close(push({"b": direction})["a"], x2.cos() * direction)
    assert len(calls) == 1
    assert not output["a"].requires_grad


@pytest.mark.parametrize(
    ("tangents", "text"),
    [
        ((x2, x2), "same argspec"),
        ((wg.ones(3),), "doesn't match the shape"),
        ((x2.double(),), "doesn't match the dtype"),
    ],
)
def test_u7_errors(tangents, text):
    with pytest.raises(RuntimeError, match=text):
        linearize(wg.sin, x2)[1](*tangents)
