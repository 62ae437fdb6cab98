"""Habits of programs that were written for PyTorch and run here after a change of the import, one test each: hooks,
saved tensors, recomputation.
"""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import gc
import warnings
import weakref

import pytest

import wengert as wg
from tests.functions import leaf
from wengert.autograd import Function
from wengert.autograd.graph import saved_tensors_hooks
from wengert.utils.checkpoint import checkpoint


def same(tensor):
    return tensor


# --- Hooks
def test_S10_scopes_left_and_entered_during_backward_end_with_the_pass():
    def leave(tensor):
        inner.__exit__()
        return tensor

    inner, outer = saved_tensors_hooks(same, leave), saved_tensors_hooks(same, same)
    with outer:
        inner.__enter__()
        leaf(1.0).sin().sum().backward()
    inner.__exit__()
    leaf(1.0).exp().grad_fn._raw_saved_result.register_hooks(same, same)  # none is left

    def entering():
        def enter(tensor):
            scope().__enter__()
            return tensor

        hooks = saved_tensors_hooks(same, enter)
        scope = weakref.ref(hooks)
        with hooks:
            leaf(1.0).sin().sum().backward()
        return weakref.ref(enter)

    assert entering()() is None


def test_S10_errors_undo_scopes_too():
    def enter(tensor):
        saved_tensors_hooks(same, same).__enter__()
        raise ValueError("stop")

    with saved_tensors_hooks(same, enter):
        y = leaf(1.0).sin()
    with pytest.raises(ValueError, match="stop"):
        y.backward()
    assert y.grad_fn._raw_saved_self.unpack_hook is enter
    assert leaf(1.0).sin().grad_fn._raw_saved_self.unpack_hook is None


def test_H12_first_post_hook_may_come_from_an_unpack_hook():
    seen = []

    def halve(grad_inputs, grad_outputs):
        seen.append(grad_outputs)
        return tuple(g / 2 for g in grad_inputs)

    def unpack(tensor):
        wg._C._current_autograd_node().register_hook(halve)
        return tensor

    x = leaf(3.0)
    with saved_tensors_hooks(same, unpack):
        x.exp().backward(wg.ones(1))
    assert seen == [(None,)]
    assert x.grad.item() == pytest.approx(wg.tensor(3.0).exp().item() / 2)


def test_H2_hook_on_a_view_with_a_new_history():
    base = leaf(1.0).clone()
    written, other = base[:], base[:]

    def never(gradient):
        raise AssertionError

    other.register_hook(never)
    written.mul_(2)
    assert other.grad_fn.name() == "AsStridedBackward0"
    seen = []
    other.register_hook(lambda gradient: seen.append(gradient.item()))
    (written + other).sum().backward()
    assert seen == [1.0]


def test_A1_post_hooks_of_a_leaf_see_the_stored_gradient():
    x = leaf(1.0, 2.0)
    node = x.view_as(x).grad_fn.next_functions[0][0]
    seen = []

    def add(tensor):
        tensor.grad.add_(0.5)

    x.register_post_accumulate_grad_hook(add)
    node.register_hook(lambda grad_inputs, grad_outputs: seen.append(grad_outputs[0].tolist()))
    (x * 3).sum().backward()
    assert seen == [[3.5, 3.5]]
    assert x.grad.tolist() == [3.5, 3.5]


def test_A1_a_recorded_first_gradient_is_copied():
    x = leaf(1.0, 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (x * x).sum().backward(create_graph=True)
    assert x.grad.grad_fn.name() == "CopyBackwards"
    x.grad = None


# --- Saved tensors
def test_S2_what_is_kept_of_a_saved_tensor():
    x = leaf(2.0)
    with saved_tensors_hooks(lambda tensor: ("packed", tensor), lambda pair: pair[1]):
        squared = x**2
    raw = squared.grad_fn._raw_saved_self
    assert raw.data[0] == "packed"
    assert raw.data[1] is x
    assert raw.unpack_hook(raw.data) is x
    exponential = squared.exp()
    assert exponential.grad_fn._raw_saved_result.data is not exponential
    assert exponential.grad_fn._raw_saved_result.unpack_hook is None
    assert (exponential**2).grad_fn._raw_saved_self.data is exponential
    with pytest.raises(TypeError, match="incompatible function arguments"):
        raw.register_hooks(same)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        raw.register_hooks(1, 2)
    squared.backward()
    with pytest.raises(RuntimeError, match="freed"):
        _ = squared.grad_fn._raw_saved_self.data


def test_S6_whether_hooks_are_allowed():
    allowed = wg._C._autograd._saved_tensors_hooks_is_enabled
    assert allowed()
    with wg.autograd.graph.disable_saved_tensors_hooks("not here"):
        assert not allowed()


def test_F9_saved_tensors_that_are_cleared_can_be_read_once():
    class Twice(Function):
        clear_saved_tensors_on_access = True

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            assert len(ctx.saved_tensors) == 1
            return g * len(ctx.saved_tensors)

    with pytest.raises(RuntimeError, match="can only be accessed once"):
        Twice.apply(leaf(1.0)).backward()


def test_K4_a_recomputation_that_ends_in_a_custom_function_leaves_nothing_behind():
    made = []

    class Keeps(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.clone()
            made.append(weakref.ref(y))
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * y

    gc.disable()
    try:
        checkpoint(Keeps.apply, leaf(2.0), use_reentrant=False).backward()
        assert [reference() for reference in made] == [None, None]
    finally:
        gc.enable()
