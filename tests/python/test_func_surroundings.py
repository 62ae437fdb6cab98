"""Rows U1 to U7, U10: transforms and what surrounds them: modes, levels, and tensors that stay behind."""

from __future__ import annotations

import threading

import pytest

import wengert as wg
import wengert.autograd.forward_ad as fwd
from wengert.autograd import functional
from wengert.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

close = wg.testing.assert_close
x3 = wg.tensor([1.0, 2.0, 3.0])


def cubes(x):
    return (x**3).sum()


# --- Inference mode
@pytest.mark.parametrize(
    ("transform", "expected"),
    [
        (lambda: grad(cubes)(x3), 3 * x3**2),
        (lambda: vjp(cubes, x3)[1](wg.tensor(1.0))[0], 3 * x3**2),
        (lambda: jvp(cubes, (x3,), (wg.ones(3),))[1], (3 * x3**2).sum()),
        (lambda: jacrev(lambda x: x**3)(x3), (3 * x3**2).diag()),
        (lambda: jacfwd(lambda x: x**3)(x3), (3 * x3**2).diag()),
        (lambda: hessian(cubes)(x3), (6 * x3).diag()),
        (lambda: vmap(grad(lambda x: x**3))(x3), 3 * x3**2),
    ],
    ids=["grad", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "vmap of grad"],
)
def test_u1_transforms_differentiate_in_inference_mode(transform, expected):
    with wg.inference_mode():
        result = transform()
        assert wg.is_inference_mode_enabled()
        assert wg.is_grad_enabled() is False
    close(wg.Tensor.clone(result), expected)


def test_u1_inference_tensors_are_primals():
    with wg.inference_mode():
        x = wg.tensor([1.0, 2.0])
        gradient = grad(lambda t: (t * t).sum())(x)
    assert gradient.tolist() == [2.0, 4.0]
    assert x.tolist() == [1.0, 2.0]
    assert grad(lambda t: (t * t).sum())(x).tolist() == [2.0, 4.0]


def test_u1_inference_mode_inside_makes_constants():
    def f(x):
        with wg.inference_mode():
            shift = x**2
        return (x - shift).sum()

    close(grad(f)(x3), wg.ones(3))


def test_u1_an_exception_leaves_inference_mode_as_it_was():
    def fails(x):
        raise ZeroDivisionError

    with wg.inference_mode():
        for transform in (lambda: grad(fails)(x3), lambda: jvp(fails, (x3,), (x3,))):
            with pytest.raises(ZeroDivisionError):
                transform()
            assert wg.is_inference_mode_enabled()
            assert not wg.is_grad_enabled()
    assert wg.is_grad_enabled()


# --- Forward mode switched off
def test_u3_jvp_propagates_where_forward_mode_is_off():
    with fwd._set_fwd_grad_enabled(False):
        _, tangent = jvp(wg.sin, (x3,), (wg.ones(3),))
        assert not fwd._is_fwd_grad_enabled()
    close(tangent, x3.cos())


def test_u3_jvp_inside_a_custom_function():
    class Sine(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return -jvp(wg.cos, (x,), (wg.ones_like(x),))[1]

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * jvp(wg.sin, (x,), (wg.ones_like(x),))[1]

    x = x3.clone().requires_grad_()
    y = Sine.apply(x)
    close(y, x.sin())
    close(wg.autograd.grad(y.sum(), x)[0], x.cos())


def test_u3_levels_outside_stay_off():
    def f(x):
        with fwd._set_fwd_grad_enabled(False):
            shift = jvp(lambda t: t**3, (x,), (wg.ones_like(x),))[1]  # 3 x^2, a constant of the outer level
        return x * shift

    x = wg.tensor(2.0)
    value, tangent = jvp(f, (x,), (wg.tensor(1.0),))
    assert value.item() == 24
    assert tangent.item() == 12


def test_u3_switched_off_inside_makes_constants():
    def f(x):
        with fwd._set_fwd_grad_enabled(False):
            shift = x**2
        return x**2 - shift

    close(jvp(f, (x3,), (wg.ones(3),))[1], 2 * x3)


# --- Tensors that outlive their vmap
def escaped(size=3):
    kept = []
    vmap(lambda x: kept.append(x) or x * 2)(wg.rand(size))
    return kept[0]


@pytest.mark.parametrize(
    "use",
    [lambda t: t.sin(), lambda t: t + 1, lambda t: t.mul_(1), lambda t: t.sum(), lambda t: t * wg.ones(2)],
    ids=["unary", "number", "in place", "reduction", "tensor"],
)
def test_u6_a_sample_outside_its_vmap_is_an_error(use):
    with pytest.raises(RuntimeError, match="may have escaped from inside a function being vmapped"):
        use(escaped())


def test_u6_a_sample_of_another_vmap_does_not_mix():
    stranger = escaped(3)
    with pytest.raises(RuntimeError, match="may have escaped"):
        vmap(lambda x: x + stranger)(wg.rand(3))


def test_u6_levels_are_printed_by_depth():
    texts = []
    for _ in range(2):
        vmap(vmap(lambda x: texts.append(repr(x)) or x))(wg.rand(2, 3))
    for text in texts:
        assert text.startswith("BatchedTensor(lvl=2, bdim=0, value=")
        assert "BatchedTensor(lvl=1, bdim=0, value=" in text
    assert repr(escaped()).startswith("BatchedTensor(lvl=-1")


def test_u6_other_threads_have_vmaps_of_their_own():
    results = []

    def work():
        results.append(vmap(grad(lambda x: x**2))(wg.ones(4)))

    def f(x):
        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return x * 2

    close(vmap(f)(x3), 2 * x3)
    assert [r.tolist() for r in results] == [[2.0] * 4] * 4


# --- wengert.autograd.functional
@pytest.mark.parametrize(
    "call",
    [
        lambda x: functional.jacobian(wg.sin, x),
        lambda x: functional.hessian(lambda t: t.sin().sum(), x),
        lambda x: functional.vjp(wg.sin, x, x),
        lambda x: functional.jvp(wg.sin, x, x),
        lambda x: functional.vhp(lambda t: t.sin().sum(), x, x),
        lambda x: functional.hvp(lambda t: t.sin().sum(), x, x),
    ],
    ids=["jacobian", "hessian", "vjp", "jvp", "vhp", "hvp"],
)
@pytest.mark.parametrize("transform", [vmap, grad, lambda f: lambda x: jvp(f, (x,), (x,))], ids=["vmap", "grad", "jvp"])
def test_t3_functional_is_refused_inside_transforms(call, transform):
    with pytest.raises(
        RuntimeError, match=r"autograd\.functional cannot be used inside of a function being transformed"
    ):
        transform(call)(x3)


# --- What functions return
@pytest.mark.parametrize("output", [None, (), [], {}], ids=repr)
def test_u2_nothing_returned_is_an_error(output):
    for transform in (lambda f: vjp(f, x3), lambda f: jvp(f, (x3,), (x3,)), lambda f: jacrev(f)(x3)):
        with pytest.raises(RuntimeError, match="Expected f to be a function that has non-empty output"):
            transform(lambda x: output)
