"""Custom Functions: rows F14-F28 of the table of features."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import gc
import traceback
import warnings
import weakref

import pytest

import wengert as wg
from tests.functions import Square, function
from wengert.autograd import Function, grad
from wengert.autograd.function import (
    FunctionCtx,
    InplaceFunction,
    NestedIOFunction,
    _ContextMethodMixin,
    once_differentiable,
)

fwd = wg.autograd.forward_ad


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


class Power(Function):
    @staticmethod
    def forward(x, exponent=2):
        return x**exponent

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.exponent = inputs
        ctx.save_for_backward(x, output)

    @staticmethod
    def backward(ctx, gradient):
        x, _ = ctx.saved_tensors
        return gradient * ctx.exponent * x ** (ctx.exponent - 1), None


def dual_apply(cls, x, tangent=None):
    with fwd.dual_level():
        result = cls.apply(fwd.make_dual(x.detach(), wg.ones(2) if tangent is None else tangent))
        results = result if isinstance(result, tuple) else (result,)
        return [fwd.unpack_dual(value).tangent for value in results]


def test_F14_needs_input_grad(x):
    seen = []

    def forward(ctx, a, number, b):
        seen.append(ctx.needs_input_grad)
        return a * b

    def backward(ctx, gradient):
        seen.append(ctx.needs_input_grad)
        return gradient, None, gradient

    w = wg.ones(2, requires_grad=True)
    Made = function(forward=forward, backward=backward)  # noqa: N806 (a class)
    Made.apply(x, 1, wg.ones(2)).sum().backward()
    assert seen == [(True, False, False), (True, False, False)]
    seen.clear()
    grad(Made.apply(x, 1, w).sum(), w)
    assert seen[0] == (True, False, True)
    assert seen[1] in [(False, False, True), (True, False, True)]  # a pass may say what it does not need


def test_F15_backward_results(x):
    trailing = function(backward=lambda ctx, g: (g, None, None))
    trailing.apply(x).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    other = wg.ones(2)

    def fail(backward, *args, match):
        made = function(forward=lambda ctx, *args: args[0].clone(), backward=backward)
        with pytest.raises(RuntimeError, match=match):
            made.apply(*args).sum().backward()

    fail(lambda ctx, g: g, x, x, match=r"returned an incorrect number of gradients \(expected 2, got 1\)")
    fail(lambda ctx, g: (g, other), x, 3, match="returned a gradient different than None at position 2")
    fail(lambda ctx, g: 3.0, x, match=r"expected Variable or None \(got float\)")


def test_F16_once_differentiable(x):
    modes = []

    def backward(ctx, gradient):
        modes.append(wg.is_grad_enabled())
        return gradient * 2

    Made = function(backward=once_differentiable(backward))  # noqa: N806 (a class)
    Made.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    cotangent = wg.ones(2, requires_grad=True)
    (first,) = grad(Made.apply(x), x, cotangent, create_graph=True)
    assert first.requires_grad
    assert modes == [False, False]
    with pytest.raises(RuntimeError, match="trying to differentiate twice a function that was marked with @once_diff"):
        first.sum().backward()
    (first,) = grad(Made.apply(x), x, wg.ones(2), create_graph=True)
    assert not first.requires_grad


def test_F17_setup_context(x):
    assert grad(Power.apply(x, 3).sum(), x)[0].tolist() == [3.0, 12.0]
    assert grad(Power.apply(x).sum(), x)[0].tolist() == [2.0, 4.0]
    assert grad(Power.apply(x, exponent=3).sum(), x)[0].tolist() == [3.0, 12.0]
    assert grad(Power.apply(exponent=3, x=x).sum(), x)[0].tolist() == [3.0, 12.0]


def test_F17_setup_context_is_inherited(x):
    class Cube(Power):
        @staticmethod
        def forward(x, exponent=3):
            return x**exponent

    assert grad(Cube.apply(x).sum(), x)[0].tolist() == [3.0, 12.0]


def test_F18_jvp(x):
    (tangent,) = dual_apply(Square, x)
    assert tangent.tolist() == [2.0, 4.0]


def test_F18_jvp_must_follow_the_forward(x):
    class Dirty(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def jvp(ctx, tangent):
            return tangent * 2

    with pytest.raises(RuntimeError, match="inplace"), fwd.dual_level():
        Dirty.apply(fwd.make_dual(x.detach(), wg.ones(2)) * 1)

    viewing = function(forward=lambda ctx, x: x.view(2), jvp=lambda ctx, t: t * 1)
    with pytest.raises(RuntimeError, match="view"):
        dual_apply(viewing, x)

    def constant(ctx, x):
        y = x * 2
        ctx.mark_non_differentiable(y)
        return y

    with pytest.raises(RuntimeError, match="You should return None at that position instead"):
        dual_apply(function(forward=constant, jvp=lambda ctx, t: t), x)


def test_F18_jvp_of_several_outputs_and_other_arguments(x):
    def forward(ctx, x, number):
        return x * number, "text", x + 1

    Made = function(forward=forward, jvp=lambda ctx, t, number: (t * 3, None, t))  # noqa: N806 (a class)
    with fwd.dual_level():
        a, text, b = Made.apply(fwd.make_dual(x.detach(), wg.ones(2)), 3)
        assert text == "text"
        assert fwd.unpack_dual(a).tangent.tolist() == [3.0, 3.0]
        assert fwd.unpack_dual(b).tangent.tolist() == [1.0, 1.0]


def test_F19_context_lifetime(x):
    class Attribute:
        pass

    attribute = Attribute()
    reference = weakref.ref(attribute)

    def forward(ctx, x, attribute):
        ctx.attribute = attribute
        return x.clone()

    y = function(forward=forward, backward=lambda ctx, g: (g, None)).apply(x, attribute)
    del attribute
    y.sum().backward()
    gc.collect()
    assert reference() is not None
    del y
    gc.collect()
    assert reference() is None


def test_F19_cycles_through_the_context_are_collected(x):
    y = function().apply(x)
    y.grad_fn.cycle = y
    reference = weakref.ref(y.grad_fn)
    del y
    gc.collect()
    assert reference() is None


def test_F20_saved_tensors_outside_backward(x):
    y = Square.apply(x)
    assert y.grad_fn.saved_tensors[0] is x
    assert len(y.grad_fn._raw_saved_tensors) == 1
    y.sum().backward()
    with pytest.raises(RuntimeError, match="already been freed"):
        _ = y.grad_fn.saved_tensors


def test_F21_exceptions_keep_type_and_traceback(x):
    class SpecialError(Exception):
        pass

    def backward(ctx, gradient):
        raise SpecialError("inside")

    with pytest.raises(SpecialError, match="inside") as caught:
        function(backward=backward).apply(x).sum().backward()
    assert 'raise SpecialError("inside")' in "".join(traceback.format_tb(caught.tb))


def test_F22_clear_saved_tensors_on_access(x):
    counts = []

    class Once(Square):
        clear_saved_tensors_on_access = True

        @staticmethod
        def backward(ctx, gradient):
            counts.append(len(ctx.saved_tensors))
            with pytest.raises(RuntimeError):
                _ = ctx.saved_tensors
            return gradient

    Once.apply(x).sum().backward()
    assert counts == [1]


def test_F23_boxed_grads_call(x):
    class Boxed(Square):
        boxed_grads_call = True

        @staticmethod
        def backward(ctx, gradients):
            (gradient,) = gradients
            gradients.clear()
            return gradient * 7

    Boxed.apply(x).sum().backward()
    assert x.grad.tolist() == [7.0, 7.0]


def test_F24_defaults_for_vmap():
    assert Function.generate_vmap_rule is False
    with pytest.raises(NotImplementedError, match=r"To use autograd.Function with vmap"):
        Function.vmap(None, (), None)


def test_F25_subclass_returned_as_is(x):
    class Mine(wg.Tensor):
        pass

    value = (x.detach().as_subclass(Mine)).requires_grad_()
    assert type(function(forward=lambda ctx, x: x).apply(value)) is Mine


def test_F26_legacy_names(x):
    assert _ContextMethodMixin is FunctionCtx
    for cls in (InplaceFunction, NestedIOFunction):
        assert issubclass(cls, Function)
        with pytest.raises(NotImplementedError):
            cls.apply(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert InplaceFunction(inplace=True).inplace is True
    with pytest.warns(FutureWarning, match="mark_shared_storage is deprecated"):
        function(forward=lambda ctx, x: ctx.mark_shared_storage() or x.clone()).apply(x)


def test_F27_resize_and_type(x):
    from wengert.autograd._functions import Resize, Type

    y = Resize.apply(x, (2, 1))
    assert y.shape == (2, 1)
    y.sum().backward()
    assert x.grad.shape == (2,)
    with pytest.raises(RuntimeError, match="number of elements"):
        Resize.apply(x, (3,))
    assert grad(Type.apply(x, wg.float64).sum(), x)[0].dtype == wg.float32


def test_F28_no_tensors():
    result = function(forward=lambda ctx, a, b: a + b).apply(1, 2)
    assert result == 3


def test_acceptance_F4_example():
    class MyFunc(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad_output):
            (saved,) = ctx.saved_tensors
            assert saved is x
            return grad_output * 2

    x = wg.tensor([1.0], requires_grad=True)
    MyFunc.apply(x).backward()
    assert x.grad.item() == 2.0


def test_mixed_graph_runs_in_one_pass(x):
    y = (Square.apply(x.exp()) + Square.apply(x)).sum()
    y.backward()
    wg.testing.assert_close(x.grad, 2 * (2 * x.detach()).exp() + 2 * x.detach())
