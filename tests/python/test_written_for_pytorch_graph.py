"""Habits of programs that were written for PyTorch and run here after a change of the import, one test each: views,
custom functions, derivatives, nodes and leaves.
"""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import gc
import weakref

import pytest

import wengert as wg
from tests.functions import leaf
from wengert.autograd import Function, forward_ad, grad
from wengert.autograd.graph import Node


class Identity(Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return g


# --- Views
@pytest.mark.parametrize(("block", "text"), [(wg.no_grad, "no_grad"), (wg.inference_mode, "inference_mode")])
def test_V9_the_block_a_view_was_made_in_comes_before_its_kind(block, text):
    base = leaf(1.0, 2.0).clone()
    with block():
        parts = base.unbind()
    with pytest.raises(RuntimeError, match=f"A view was created in .* Move both the view and the write.*{text} block"):
        parts[0].add_(1)


def test_V12_views_of_custom_functions_where_nothing_was_recorded():
    view = Identity.apply(wg.ones(2))
    view.add_(1)
    with pytest.raises(RuntimeError, match="This view was created inside a custom Function"):
        view.mul_(leaf(2.0, 3.0))
    with wg.no_grad():
        view = Identity.apply(leaf(1.0))
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        view.zero_()


def test_F11_marking_a_view_that_is_no_input():
    class Wrong(Identity):
        @staticmethod
        def forward(ctx, x):
            out = x.clone().view_as(x)
            ctx.mark_dirty(out)
            return out

    with pytest.raises(RuntimeError, match="received a tensor that was not an input"):
        Wrong.apply(leaf(1.0).clone())


def test_F11_a_changed_and_saved_view_makes_no_cycle():
    class Saves(Identity):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x.mul_(2))
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    x = leaf(3.0)
    view = x.clone().view_as(x)
    Saves.apply(view).backward()
    assert x.grad.item() == 6
    gc.disable()
    try:
        view = x.clone().view_as(x)
        reference = weakref.ref(view)
        Saves.apply(view)
        del view
        assert reference() is None
    finally:
        gc.enable()


def test_F18_jvp_of_a_changed_input_has_to_change_the_tangent():
    class Double(Function):
        changes = True

        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x.mul_(2))
            return x

        @staticmethod
        def jvp(ctx, tangent):
            return tangent.mul_(2) if Double.changes else tangent

    for Double.changes in (True, False):
        x = wg.ones(1)
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(x, wg.ones(1))
            if Double.changes:
                assert forward_ad.unpack_dual(Double.apply(dual)).tangent.item() == 2
            else:
                with pytest.raises(RuntimeError, match="must modify the corresponding gradient inplace"):
                    Double.apply(dual)


def test_F18_the_view_that_jvp_returns_stays_one():
    class Both(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x

        @staticmethod
        def jvp(ctx, tangent):
            return tangent * 2, tangent.view_as(tangent)

    tangent = wg.ones(2)
    with forward_ad.dual_level():
        _, unchanged = Both.apply(forward_ad.make_dual(wg.ones(2), tangent))
        assert forward_ad.unpack_dual(unchanged).tangent._base is tangent


# --- Functional derivatives
def test_T6_what_does_not_depend_on_the_input_is_named():
    def apart(x):
        return x.long().float().requires_grad_().clone()

    functional = wg.autograd.functional
    with pytest.raises(RuntimeError, match="Output 1 of the user-provided function is independent of input 0"):
        functional.jacobian(lambda x: (x * x, apart(x)), wg.ones(2), strict=True)
    for function in (lambda x: apart(x).sum(), lambda x: (3 * x).sum()):
        with pytest.raises(RuntimeError, match="jacobian of the user-provided function with respect to input 0 is"):
            functional.hessian(function, wg.ones(2), strict=True)


# --- Nodes and leaves
def test_G13_classes_of_nodes_have_names_before_there_are_nodes():
    classes = wg._C._functions
    assert isinstance(leaf(1.0).sinh().grad_fn, classes.SinhBackward0)
    assert issubclass(classes.CopySlices, Node)
    assert issubclass(classes.DelayedError, Node)
    assert issubclass(Node, Node)
    assert not isinstance(Node, Node)
    with pytest.raises(AttributeError, match="NoSuchBackward0"):
        _ = classes.NoSuchBackward0


def test_G17_what_joins_several_roots_is_not_part_of_the_order():
    x = leaf(1.0)
    y = x * 2
    first, second = y.sin(), y.cos()
    seen = []
    second.register_hook(
        lambda gradient: seen.extend(node.name() for node in wg._C._current_graph_task_execution_order())
    )
    with wg.autograd.set_multithreading_enabled(False):
        grad((first, second), x)
    assert seen == ["CosBackward0", "SinBackward0", "MulBackward0", "torch::autograd::AccumulateGrad"]
    second.register_hook(lambda gradient: wg._C._current_graph_task_execution_order())
    with pytest.raises(RuntimeError, match="expects the current backward to be executed with multithreading disabled"):
        second.backward()


def test_L9_grad_dtype_belongs_to_leaves():
    with pytest.raises(RuntimeError, match="grad_dtype can only be accessed on leaf tensors"):
        _ = (leaf(1.0) * 2).grad_dtype


def test_L6_distinct_elements_have_no_derivative():
    values, inverse = wg.unique(leaf(2.0, 1.0, 2.0), return_inverse=True)
    assert values.requires_grad
    assert not inverse.requires_grad
    with pytest.raises(NotImplementedError, match=r"the derivative for 'unique.*' is not implemented"):
        values.sum().backward()


def test_B6_warnings_that_come_once_come_always_if_wanted():
    x = leaf(1.0)
    assert not wg.is_warn_always_enabled()
    wg.set_warn_always(True)
    try:
        for _ in range(2):
            with pytest.warns(UserWarning, match="Using backward\\(\\) with create_graph=True"):
                (x * x).backward(create_graph=True)
            x.grad = None
    finally:
        wg.set_warn_always(False)
