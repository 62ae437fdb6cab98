"""Rows U4, U6: `autograd.grad` inside vmap, and functions that jacfwd cannot run as a batch."""

from __future__ import annotations

import pytest

import wengert as wg
from wengert.func import grad, jacfwd, jacrev, jvp, vmap

close = wg.testing.assert_close
x3 = wg.tensor([1.0, 2.0, 3.0])


# --- autograd.grad inside vmap
def test_u6_a_batch_of_cotangents():
    x = x3.clone().requires_grad_()
    y = x * wg.tensor([2.0, 3.0, 4.0])
    rows = vmap(lambda v: wg.autograd.grad(y, x, v, retain_graph=True)[0])(wg.eye(3))
    close(rows, wg.tensor([2.0, 3.0, 4.0]).diag())


def test_u6_the_graph_is_freed_after_the_last_sample():
    x = x3.clone().requires_grad_()
    y = x**2
    vmap(lambda v: wg.autograd.grad(y, x, v)[0])(wg.eye(3))
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.sum().backward()


def test_u6_gradients_of_samples():
    x = wg.rand(4, 3).requires_grad_()
    close(vmap(lambda t: wg.autograd.grad((t**3).sum(), t)[0])(x), 3 * x.detach() ** 2)
    close(vmap(lambda t: wg.autograd.grad((t**3).sum(), t)[0], in_dims=1)(x), (3 * x.detach() ** 2).T)


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (lambda t: t, "only for scalar outputs"),
        (lambda t: (t * 1j).sum(), "only for real scalar outputs"),
        (lambda t: t.detach().sum(), "does not require grad"),
        (lambda t: wg.ones(()), "does not require grad"),
    ],
)
@pytest.mark.parametrize("shared", [False, True])
def test_u6_samples_start_a_pass_by_the_rules_of_the_engine(output, message, shared):
    x = wg.rand(4, 3).requires_grad_()
    w = x3.clone().requires_grad_()
    with pytest.raises(RuntimeError, match=message):
        vmap(lambda t: wg.autograd.grad(output(t), w if shared else t))(x)


def test_u6_a_shared_input_has_a_gradient_for_each_sample():
    w = x3.clone().requires_grad_()
    x = wg.rand(4, 3)
    per_sample = vmap(lambda t: wg.autograd.grad((w * t).sin().sum(), w)[0])(x)
    close(per_sample, x * (x * x3).cos())


def test_u6_shared_and_mapped_inputs_together():
    w = x3.clone().requires_grad_()
    x = wg.rand(4, 3).requires_grad_()
    for_w, for_x = vmap(lambda t: wg.autograd.grad((w * t**2).sum(), (w, t)))(x)
    close(for_w, x.detach() ** 2)
    close(for_x, 2 * x.detach() * x3)


def test_u6_hessian_by_vmap_over_a_recorded_gradient():
    x = x3.clone().requires_grad_()
    (g,) = wg.autograd.grad((x**4).sum(), x, create_graph=True)
    close(vmap(lambda v: wg.autograd.grad(g, x, v, retain_graph=True)[0])(wg.eye(3)), (12 * x3**2).diag())


def test_u6_batches_of_batches():
    x = x3.clone().requires_grad_()
    y = x.exp()
    v = wg.rand(2, 4, 3)
    result = vmap(vmap(lambda u: wg.autograd.grad(y, x, u, retain_graph=True)[0]))(v)
    close(result, v * x3.exp())


def test_u6_unused_inputs_are_none_or_errors():
    x, other = (x3.clone().requires_grad_() for _ in range(2))
    y = x * 2
    seen = []

    def f(v):
        a, b = wg.autograd.grad(y, (x, other), v, retain_graph=True, allow_unused=True)
        seen.append(b)
        return a

    close(vmap(f)(wg.eye(3)), 2 * wg.eye(3))
    assert seen == [None]
    with pytest.raises(RuntimeError, match="unused"):
        vmap(lambda v: wg.autograd.grad(y, other, v, retain_graph=True)[0])(wg.eye(3))


def test_u6_create_graph_inside_vmap():
    x = wg.rand(4).requires_grad_()

    def second(t):
        (g,) = wg.autograd.grad(t**3, t, create_graph=True)
        return wg.autograd.grad(g, t)[0]

    close(vmap(second)(x), 6 * x.detach())


def test_u6_implicit_cotangents_need_one_element():
    x = wg.rand(4, 3).requires_grad_()
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        vmap(lambda t: wg.autograd.grad(t * 2, t)[0])(x)


def test_u6_backward_is_refused_inside_vmap():
    x = wg.rand(4, 3).requires_grad_()
    with pytest.raises(RuntimeError, match=r"backward\(\) called inside a functorch transform"):
        vmap(lambda t: t.sum().backward())(x)
    with pytest.raises(RuntimeError, match=r"backward\(\) called inside a functorch transform"):
        vmap(lambda t: wg.autograd.backward([t.sum()]))(x)


# --- jacfwd of functions that are no functions of batches
def test_u4_jacfwd_of_scalars():
    assert jacfwd(lambda x: x**2)(wg.tensor(3.0)).item() == 6
    assert jacfwd(jacfwd(lambda x: x**3))(wg.tensor(2.0)).item() == 12


@pytest.mark.filterwarnings("ignore:Converting a tensor")  # it drops a tangent, knowingly
def test_u4_jacfwd_of_a_function_that_looks_at_values():
    def f(x):
        return x**2 if x.sum() > 0 else x * float(x[0])

    close(jacfwd(f)(x3), (2 * x3).diag())
    close(jacfwd(f)(-x3), (-wg.ones(3)).diag())


def test_u4_jacfwd_of_a_function_that_fills_a_tensor_of_its_own():
    def f(x):
        out = wg.zeros(2)
        out[0] = x[0] * x[1]
        out[1] = x.sum() ** 2
        return out

    close(jacfwd(f)(x3), jacrev(f)(x3))


def test_u4_jacfwd_of_a_function_that_writes_into_an_argument():
    def f(x, y):
        y[:2] = x[:2] ** 2
        return y * 2, y.sum()

    blocks = jacfwd(f)(x3, wg.zeros(3))
    close(blocks[0], wg.tensor([[4.0, 0, 0], [0, 8.0, 0], [0, 0, 0]]))
    close(blocks[1], wg.tensor([2.0, 4.0, 0.0]))


def test_u4_jacfwd_one_by_one_keeps_aux_and_structure():
    def f(p):
        scale = 2 if p["a"] > 0 else 3
        return {"y": p["a"] * scale * p["b"]}, p["b"].sum()

    jacobian, aux = jacfwd(f, has_aux=True)({"a": wg.tensor(1.0), "b": x3})
    close(jacobian["y"]["a"], 2 * x3)
    close(jacobian["y"]["b"], 2 * wg.eye(3))
    assert aux.item() == 6


def test_u4_batches_that_a_function_looks_into_stay_errors():
    def f(x):
        return x**2 if x.sum() > 0 else x

    with pytest.raises(RuntimeError, match="data-dependent control flow"):
        vmap(jacfwd(f))(wg.rand(2, 3))


# --- Views of a tensor that a dual tensor is written into
def test_d6_views_see_what_is_written_into_their_base():
    def f(x, y):
        base = x.clone()
        row, column = base[0], base.t()[1]
        base.copy_(y)
        return row, column

    y, t = wg.rand(2, 3), wg.rand(2, 3)
    (row, column), (row_t, column_t) = jvp(lambda v: f(wg.zeros(2, 3), v), (y,), (t,))
    close((row, column), (y[0], y[:, 1]))
    close((row_t, column_t), (t[0], t[:, 1]))
    close(
        vmap(lambda v, u: jvp(lambda s: f(wg.zeros_like(v), s), (v,), (u,)))(wg.stack([y]), wg.stack([t]))[1][0][0],
        t[0],
    )


def test_d6_views_see_it_in_second_derivatives_too():
    def f(x):
        base = wg.zeros(2)
        view = base[:1]
        base.copy_(wg.stack([x**3, x]))
        return view.sum()

    x, one = wg.tensor(2.0), wg.tensor(1.0)
    second = jvp(lambda s: jvp(f, (s,), (one,))[1], (x,), (one,))[1]
    assert second.item() == 12
    assert jvp(grad(f), (x,), (one,))[1].item() == 12


def test_what_is_not_finite_is_found_in_every_cotangent_of_a_batch():
    """Vectors of equal eigenvalues: the gradient is NaN where a cotangent reads them, and right where none does."""
    a = wg.eye(2, dtype=wg.float64, requires_grad=True)
    outputs = wg.linalg.eigh(a)
    of_values = wg.ones(3, 2, dtype=wg.float64)
    of_vectors = wg.zeros(3, 2, 2, dtype=wg.float64)
    of_vectors[1, 0, 1] = 1.0
    (found,) = wg.autograd.grad(outputs, a, (of_values, of_vectors), is_grads_batched=True, retain_graph=True)
    for i in range(3):
        (one,) = wg.autograd.grad(outputs, a, (of_values[i], of_vectors[i]), retain_graph=True)
        wg.testing.assert_close(found[i], one, equal_nan=True)
    assert wg.isfinite(found).all(-1).all(-1).tolist() == [True, False, True]
