"""Row F24: custom functions inside transforms."""

from __future__ import annotations

import pytest

import wengert as wg
from wengert.autograd import Function
from wengert.func import grad, jacfwd, jacrev, jvp, vmap

close = wg.testing.assert_close
batch = wg.arange(6.0).reshape(3, 2)


class Cube(Function):
    @staticmethod
    def forward(x):
        return x**3, x**2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], output[1])
        ctx.save_for_forward(inputs[0], output[1])

    @staticmethod
    def backward(ctx, grad_cube, grad_square):
        x, square = ctx.saved_tensors
        return 3 * square * grad_cube + 2 * x * grad_square

    @staticmethod
    def jvp(ctx, tangent):
        x, square = ctx.saved_tensors
        return 3 * square * tangent, 2 * x * tangent


class Generated(Cube):
    generate_vmap_rule = True


class Scaled(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, w, factor):
        return x * w * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs[:2])
        ctx.factor = inputs[2]

    @staticmethod
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        return grad * w * ctx.factor, grad * x * ctx.factor, None


class Own(Cube):
    infos: list = []  # noqa: RUF012

    @staticmethod
    def vmap(info, in_dims, x):
        Own.infos.append((info, in_dims))
        return Cube.apply(x.movedim(in_dims[0], 0)), (0, 0)


def test_f24_generated_rule():
    close(vmap(lambda x: Generated.apply(x)[0])(batch), batch**3)
    close(vmap(grad(lambda x: Generated.apply(x)[0].sum()))(batch), 3 * batch**2)
    close(grad(lambda x: vmap(lambda y: Generated.apply(y)[0].sum())(x).sum())(batch), 3 * batch**2)
    tangent = jvp(lambda x: vmap(lambda y: Generated.apply(y)[0])(x), (batch,), (wg.ones(3, 2),))[1]
    close(tangent, 3 * batch**2)


def test_f24_generated_rule_sums_over_what_samples_share():
    w = wg.tensor([3.0, 4.0])
    gradient = grad(lambda w: vmap(lambda x: Scaled.apply(x, w, 2.0))(batch).sum())(w)
    close(gradient, 2 * batch.sum(0))
    close(vmap(vmap(lambda x: Scaled.apply(x, x, 1.0)))(batch), batch**2)


def test_f24_own_rule():
    Own.infos.clear()
    close(vmap(lambda x: Own.apply(x)[0], in_dims=1, randomness="same")(batch.t()), batch**3)
    ((info, in_dims),) = Own.infos
    assert (info.batch_size, info.randomness, in_dims) == (3, "same", (1,))
    close(vmap(grad(lambda x: Own.apply(x)[0].sum()))(batch), 3 * batch**2)


def test_f24_grad_and_jvp_need_no_rule():
    close(grad(lambda x: Cube.apply(x)[0].sum())(batch), 3 * batch**2)
    close(jvp(lambda x: Cube.apply(x)[0], (batch,), (wg.ones(3, 2),))[1], 3 * batch**2)
    assert jacrev(lambda x: Cube.apply(x)[0])(batch[0]).shape == (2, 2)


def with_rule(result):
    class Bad(Cube):
        @staticmethod
        def vmap(info, in_dims, x):
            return result(x)

    return Bad


class Both(Own):
    generate_vmap_rule = True


class Plain(Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: vmap(Cube.apply)(batch), "does not have vmap support"),
        (lambda: vmap(Both.apply)(batch), "both generate_vmap_rule=True and an overridden vmap"),
        (lambda: vmap(with_rule(lambda x: x).apply)(batch), "to have two returns"),
        (lambda: vmap(with_rule(lambda x: (x, (0, 0))).apply)(batch), r"incompatible \(output, out_dims\) tuple"),
        (lambda: vmap(Plain.apply)(batch), "must override the setup_context staticmethod"),
        (lambda: grad(lambda x: Plain.apply(x).sum())(batch), "must override the setup_context staticmethod"),
        (lambda: jvp(Plain.apply, (batch,), (batch,)), "must override the setup_context staticmethod"),
    ],
)
def test_f24_errors(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()


def test_f24_outside_of_transforms_nothing_changes():
    x = batch.clone().requires_grad_()
    Plain.apply(x).sum().backward()
    close(x.grad, wg.ones(3, 2))


class Power(Function):
    """x ** 2 * w, with both derivatives, in every batch by the generated rule."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, w):
        return x * x * w

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        return 2 * x * w * grad, x * x * grad

    @staticmethod
    def jvp(ctx, x_t, w_t):
        x, w = ctx.saved_tensors
        zero = wg.zeros_like(x)
        return 2 * x * w * (zero if x_t is None else x_t) + x * x * (zero if w_t is None else w_t)


@pytest.mark.parametrize("dims", [(0, 0), (1, 0), (0, 1), (1, 1), (0, None), (None, 1)])
@pytest.mark.parametrize("inner", [(0, 0), (0, None), (None, 0)])
def test_f24_two_levels_keep_tangents_and_gradients(dims, inner):
    x, w = wg.arange(6.0).reshape(2, 3) + 1, wg.arange(6.0).reshape(2, 3) - 2.5
    if dims[0] == 1:
        x = x.t()
    if dims[1] == 1:
        w = w.t()
    x, w = (t[0] if d is None else t for t, d in zip((x, w), dims, strict=True))
    if dims[0] is None:
        x = (wg.arange(6.0).reshape(2, 3) + 1)[1]
    if dims[1] is None:
        w = (wg.arange(6.0).reshape(2, 3) - 2.5)[0]

    def both(apply):
        return vmap(vmap(apply, inner), dims)

    def plain(a, b):
        return a * a * b

    def check(a, b):
        close(both(Power.apply)(a, b), both(plain)(a, b))
        tangents = (wg.ones_like(a) * 0.5, wg.ones_like(b) * 2.0)
        close(jvp(both(Power.apply), (a, b), tangents)[1], jvp(both(plain), (a, b), tangents)[1])
        for which in (0, 1):
            close(
                grad(lambda *args: both(Power.apply)(*args).sum(), which)(a, b),
                grad(lambda *args: both(plain)(*args).sum(), which)(a, b),
            )

    check(x, w)
    close(vmap(jacfwd(Power.apply))(wg.tensor([[1.0, 2.0]]), wg.ones(1, 2)), wg.diag(wg.tensor([2.0, 4.0]))[None])


def test_f24_arguments_behind_a_tree_keep_their_gradients():
    class Weighted(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(weights, x):
            return weights[0] * x + weights[1]

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[0][0])

        @staticmethod
        def backward(ctx, grad):
            return None, ctx.saved_tensors[0] * grad

    weights = (wg.tensor([2.0, 3.0]), wg.tensor([1.0, 1.0]))
    slopes = vmap(grad(lambda x, w: Weighted.apply(w, x)))(wg.tensor([5.0, 7.0]), weights)
    close(slopes, weights[0])


class TransformsInside(Function):
    """Its derivatives are made by transforms, each of which opens levels and frames of its own."""

    @staticmethod
    def forward(x):
        return x.sin()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return wg.func.vjp(wg.sin, x)[1](grad)[0]

    @staticmethod
    def jvp(ctx, tangent):
        (x,) = ctx.saved_tensors
        return jvp(wg.sin, (x,), (tangent,))[1]


@pytest.mark.parametrize("outer", [jacfwd, jacrev])
@pytest.mark.parametrize("inner", [jacfwd, jacrev])
def test_transforms_inside_of_the_derivatives_of_functions(outer, inner):
    """A level that a jvp opens is seen in it; those of the differentiation that called it are not."""
    x = wg.tensor(0.4, dtype=wg.float64)
    assert inner(TransformsInside.apply)(x).item() == pytest.approx(x.cos().item())
    assert outer(inner(TransformsInside.apply))(x).item() == pytest.approx(-x.sin().item())
    assert jvp(TransformsInside.apply, (x,), (2 * x,))[1].item() == pytest.approx((2 * x * x.cos()).item())


def test_levels_around_a_jvp_are_seen_from_inside_of_it():
    def f(x):
        return TransformsInside.apply(x * x) * x

    x, one = wg.tensor(0.4, dtype=wg.float64), wg.tensor(1.0, dtype=wg.float64)

    def slope(x):
        return jvp(f, (x,), (one,))[1]

    second = jvp(slope, (x,), (one,))[1]
    third = jvp(lambda x: jvp(slope, (x,), (one,))[1], (x,), (one,))[1]
    plain = lambda x: (x * x).sin() * x  # noqa: E731
    want = grad(grad(plain))(x)
    assert second.item() == pytest.approx(want.item())
    assert third.item() == pytest.approx(grad(grad(grad(plain)))(x).item())
