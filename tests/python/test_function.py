"""Custom Functions: rows F1-F13 of the table of features."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import pytest

import wengert as wg
from tests.functions import Square, function
from wengert.autograd import Function, grad
from wengert.autograd.function import (
    BackwardCFunction,
)
from wengert.autograd.graph import Node

fwd = wg.autograd.forward_ad


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


def mark_and_double(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(2)


def test_F1_protocol(x):
    Square.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    (first,) = grad(Square.apply(x).sum(), x, create_graph=True)
    assert grad(first.sum(), x)[0].tolist() == [2.0, 2.0]


def test_F1_vjp_is_another_name_of_backward(x):
    class WithVjp(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 3

        @staticmethod
        def vjp(ctx, gradient):
            return gradient * 3

    WithVjp.apply(x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    both = function(vjp=lambda ctx, g: g)
    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
        both.apply(x).sum().backward()


def test_F1_class_methods(x):
    class Scale(Function):
        factor = 4.0

        @classmethod
        def forward(cls, ctx, x):
            return x * cls.factor

        @classmethod
        def backward(cls, ctx, gradient):
            return gradient * cls.factor

    Scale.apply(x).sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]


def test_F1_missing_methods(x):
    class Empty(Function):
        pass

    class OnlyForward(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

    with pytest.raises(NotImplementedError, match="You must implement the forward function"):
        Empty.apply(x)
    with pytest.raises(NotImplementedError, match="implement either the backward or vjp method"):
        OnlyForward.apply(x).sum().backward()
    with fwd.dual_level(), pytest.raises(NotImplementedError, match="You must implement the jvp function"):
        OnlyForward.apply(fwd.make_dual(x, wg.ones(2)))


def test_F2_names(x):
    y = Square.apply(x)
    assert type(y.grad_fn).__name__ == "SquareBackward"
    assert y.grad_fn.name() == "SquareBackward"
    assert type(y.grad_fn) is Square._backward_cls
    assert issubclass(Square._backward_cls, BackwardCFunction)
    assert Square._backward_cls._autograd_function_id != function()._backward_cls._autograd_function_id


def test_F3_instances(x):
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        instance = Square()
    with pytest.raises(RuntimeError, match="Legacy autograd function with non-static forward method is deprecated"):
        instance(x)


def test_F4_context_is_the_node(x):
    seen = {}

    def forward(ctx, x):
        seen.update(ctx=ctx, grad=wg.is_grad_enabled(), fwd=fwd._is_fwd_grad_enabled())
        ctx.note = "kept"
        return x * 2

    y = function(forward=forward).apply(x)
    assert seen["ctx"] is y.grad_fn
    assert isinstance(y.grad_fn, Node)
    assert seen["grad"] is False
    assert seen["fwd"] is False
    assert y.grad_fn.note == "kept"
    assert y.grad_fn.next_functions[0][0].variable is x


def test_F5_inputs(x):
    def forward(ctx, a, tensors, word):
        assert tensors[0].requires_grad
        assert word == "word"
        return a * tensors[0].detach()

    Made = function(forward=forward, backward=lambda ctx, g: (g, None, None))  # noqa: N806 (a class)
    w = wg.ones(2, requires_grad=True)
    y = Made.apply(x, [w], "word")
    assert next(edge[0] for edge in y.grad_fn.next_functions if edge[0] is not None).variable is x
    y.sum().backward()
    assert x.grad is not None
    assert w.grad is None


def test_F6_outputs(x):
    def forward(ctx, x):
        double = x * 2
        return double, "text", (x > 1), double

    first, text, mask, again = function(forward=forward, backward=lambda ctx, a, b, c, d: a + d).apply(x)
    assert text == "text"
    assert first.requires_grad
    assert not mask.requires_grad
    assert again is first
    first.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_F6_lists_are_untracked(x):
    result = function(forward=lambda ctx, x: [x * 2]).apply(x)
    assert isinstance(result, list)
    assert not result[0].requires_grad


def test_F7_returned_input(x):
    y = function(forward=lambda ctx, x: x, backward=lambda ctx, g: g * 5).apply(x)
    assert y is not x
    assert y._is_view()
    assert y.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]
    with pytest.raises(RuntimeError, match="view"):
        function(forward=lambda ctx, x: x).apply(x * 1).mul_(2)


def test_F8_returned_views(x):
    base = x * 1
    view = function(forward=lambda ctx, x: x.view(2, 1)).apply(base)
    assert view._is_view()
    with pytest.raises(RuntimeError, match="view"):
        view.mul_(2)
    first, _ = function(forward=lambda ctx, x: (x[:1], x[1:]), backward=lambda ctx, a, b: None).apply(base)
    with pytest.raises(RuntimeError, match="view"):
        first.mul_(2)


def test_F9_save_for_backward(x):
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(x)
        ctx.save_for_backward(x, None, result)
        return result

    def backward(ctx, gradient):
        saved, nothing, result = ctx.saved_tensors
        assert saved is x
        assert nothing is None
        return gradient * result

    Exp = function(forward=forward, backward=backward)  # noqa: N806 (a class)
    y = Exp.apply(x)
    with pytest.warns(DeprecationWarning, match="saved_variables"):
        assert y.grad_fn.saved_variables[0] is x
    y.sum().backward()
    wg.testing.assert_close(x.grad, x.detach().exp())
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.sum().backward()

    wrong = function(forward=lambda ctx, x: ctx.save_for_backward(x, 3) or x.clone())
    with pytest.raises(TypeError, match="save_for_backward can only save variables, but argument 1 is of type int"):
        wrong.apply(x)


def test_F9_saved_tensors_are_version_checked(x):
    value = x * 1
    y = Square.apply(value)
    with wg.no_grad():
        value.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_F9_saved_tensors_pass_through_hooks(x):
    with wg.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), lambda values: wg.tensor(values) * 10):
        y = Square.apply(x)
    y.sum().backward()
    assert x.grad.tolist() == [20.0, 40.0]


def test_F10_save_for_forward(x):
    def forward(ctx, x):
        ctx.save_for_forward(x)
        return x * x

    Made = function(forward=forward, jvp=lambda ctx, t: 2 * ctx.saved_tensors[0] * t)  # noqa: N806 (a class)
    with fwd.dual_level():
        tangent = fwd.unpack_dual(Made.apply(fwd.make_dual(x.detach(), wg.ones(2)))).tangent
    assert tangent.tolist() == [2.0, 4.0]
    assert len(Made.apply(x).grad_fn.saved_tensors) == 0
    with pytest.raises(AssertionError, match="save_for_forward"):
        function(forward=lambda ctx, x: ctx.save_for_forward(3)).apply(x)


def test_F11_mark_dirty(x):
    Double = function(forward=mark_and_double, backward=lambda ctx, g: g * 2)  # noqa: N806 (a class)
    value = x * 1
    before, version = value.grad_fn, value._version
    assert Double.apply(value) is value
    assert value._version > version
    assert value.grad_fn is not before
    assert value.grad_fn.name() == "MadeBackward"
    value.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_F11_mark_dirty_through_a_view(x):
    Double = function(forward=mark_and_double, backward=lambda ctx, g: g * 2)  # noqa: N806 (a class)
    base = x * 1
    Double.apply(base[:1])
    base.sum().backward()
    assert x.grad.tolist() == [2.0, 1.0]


def test_F11_mark_dirty_errors(x):
    Double = function(forward=mark_and_double)  # noqa: N806 (a class)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad has been used in an in-place operation"):
        Double.apply(x)
    with pytest.raises(RuntimeError, match="view of a leaf"):
        Double.apply(x[:1])
    with pytest.raises(RuntimeError, match="Some elements marked as dirty"):
        function(forward=lambda ctx, x: ctx.mark_dirty(x) or x * 2).apply(x * 1)
    with pytest.warns(UserWarning, match="Only input Tensors that have been mutated should be passed"):
        function(forward=lambda ctx, x: ctx.mark_dirty(y := x * 2) or y).apply(x)
    with pytest.raises((RuntimeError, TypeError)):
        function(forward=lambda ctx, x: ctx.mark_dirty(3) or x.clone()).apply(x)

    def two_outputs(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2), x * 3

    with pytest.raises(RuntimeError, match="your Function modifies inplace an input that is a view"):
        function(forward=two_outputs, backward=lambda ctx, a, b: a).apply((x * 1)[:1])


def test_F12_mark_non_differentiable(x):
    seen = []

    def forward(ctx, x):
        first, second = x * 2, x * 3
        ctx.mark_non_differentiable(second)
        return first, second

    def backward(ctx, first, second):
        seen.append(second.tolist())
        return first * 2

    first, second = function(forward=forward, backward=backward).apply(x)
    assert first.requires_grad
    assert not second.requires_grad
    first.sum().backward()
    assert seen == [[0.0, 0.0]]
    with pytest.raises((RuntimeError, TypeError)):
        function(forward=lambda ctx, x: ctx.mark_non_differentiable(3) or x.clone()).apply(x)


@pytest.mark.parametrize("materialize", [True, False])
def test_F13_set_materialize_grads(x, materialize):
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(materialize)
        return x * 2, x * 3

    def backward(ctx, first, second):
        seen.append(second if second is None else second.tolist())
        return first * 2

    first, _ = function(forward=forward, backward=backward).apply(x)
    first.sum().backward()
    assert seen == [[0.0, 0.0] if materialize else None]


def test_F13_materialize_non_differentiable_only(x):
    seen = []

    def forward(ctx, x):
        ctx._materialize_non_diff_grads = False
        first, second, third = x * 2, x * 3, x * 4
        ctx.mark_non_differentiable(third)
        return first, second, third

    def backward(ctx, *gradients):
        seen.append([gradient is None for gradient in gradients])
        return gradients[0]

    function(forward=forward, backward=backward).apply(x)[0].sum().backward()
    assert seen == [[False, False, True]]
