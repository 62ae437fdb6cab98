"""Grad modes: one test for each row M1-M14 of the table of features."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import asyncio
import threading

import pytest

import wengert as wg
from wengert.autograd import grad_mode


def leaf():
    return wg.tensor([1.0, 2.0], requires_grad=True)


def test_M1_no_grad_and_enable_grad_as_contexts():
    x = leaf()
    with wg.no_grad():
        assert not (x * 2).requires_grad
        with wg.enable_grad():
            assert (x * 2).requires_grad
        assert not wg.is_grad_enabled()
    assert wg.is_grad_enabled()


@pytest.mark.parametrize("decorator", [wg.no_grad, wg.no_grad()])
def test_M1_decorator_with_and_without_parentheses(decorator):
    @decorator
    def double(x):
        """Docstring."""
        return x * 2

    assert double.__name__ == "double"
    assert double.__doc__ == "Docstring."
    assert not double(leaf()).requires_grad
    assert wg.is_grad_enabled()


def test_M1_one_object_may_be_entered_again_while_open():
    mode = wg.no_grad()
    with mode:
        with mode:
            assert not wg.is_grad_enabled()
        assert not wg.is_grad_enabled()
    assert wg.is_grad_enabled()
    with mode:
        assert not wg.is_grad_enabled()
    assert wg.is_grad_enabled()


def test_M1_restored_after_an_exception():
    with pytest.raises(KeyError), wg.no_grad():
        raise KeyError
    assert wg.is_grad_enabled()


def test_M1_decorating_something_that_is_no_function():
    with pytest.raises(TypeError):
        wg.no_grad(5)


def test_M2_set_grad_enabled_acts_at_once():
    try:
        wg.set_grad_enabled(False)
        assert not wg.is_grad_enabled()
    finally:
        wg.set_grad_enabled(True)
    with wg.set_grad_enabled(False) as value:
        assert value is None
        assert not wg.is_grad_enabled()
    assert wg.is_grad_enabled()


def test_M2_set_grad_enabled_decorator_restores_at_decoration():
    @wg.set_grad_enabled(False)
    def is_enabled():
        return wg.is_grad_enabled()

    assert wg.is_grad_enabled()
    assert is_enabled() is False
    assert wg.is_grad_enabled()


def test_M2_set_grad_enabled_clone_and_repr():
    with wg.set_grad_enabled(True) as _:
        pass
    mode = wg.set_grad_enabled(True)
    assert "set_grad_enabled(mode=True)" in repr(mode)
    assert mode.clone().mode is True


def test_M2_set_grad_enabled_wants_a_bool():
    with pytest.raises(TypeError):
        wg.set_grad_enabled(1)
    assert wg.is_grad_enabled()


def test_M3_generator_switches_at_every_resume():
    @wg.no_grad()
    def generator():
        assert not wg.is_grad_enabled()
        received = yield 1
        assert not wg.is_grad_enabled()
        assert received == "sent"
        try:
            yield 2
        except KeyError:
            assert not wg.is_grad_enabled()
            yield 3
        return "result"

    running = generator()
    assert wg.is_grad_enabled()
    assert next(running) == 1
    assert wg.is_grad_enabled()
    with wg.set_grad_enabled(True):
        assert running.send("sent") == 2
        assert wg.is_grad_enabled()
    assert running.throw(KeyError()) == 3
    assert wg.is_grad_enabled()
    with pytest.raises(StopIteration) as stopped:
        next(running)
    assert stopped.value.value == "result"
    assert wg.is_grad_enabled()


def test_M3_generator_keeps_the_callers_own_changes():
    @wg.no_grad()
    def generator():
        yield wg.is_grad_enabled()
        yield wg.is_grad_enabled()

    running = generator()
    assert next(running) is False
    with wg.set_grad_enabled(False):
        assert next(running) is False
        assert not wg.is_grad_enabled()
    assert wg.is_grad_enabled()


def test_M3_generator_closed_inside_the_mode():
    seen = []

    @wg.no_grad()
    def generator():
        try:
            yield
        finally:
            seen.append(wg.is_grad_enabled())

    running = generator()
    next(running)
    running.close()
    assert seen == [False]
    assert wg.is_grad_enabled()


def test_M3_coroutine_switches_at_every_resume():
    @wg.no_grad()
    async def inner():
        before = wg.is_grad_enabled()
        await asyncio.sleep(0)
        return before, wg.is_grad_enabled()

    async def outer():
        result = await inner()
        return result, wg.is_grad_enabled()

    assert asyncio.run(outer()) == ((False, False), True)


def test_M4_class_decoration_warns_and_wraps_construction():
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):

        @wg.no_grad()
        class Box:
            def __init__(self):
                self.at_construction = wg.is_grad_enabled()

            def later(self):
                return wg.is_grad_enabled()

    box = Box()
    assert box.at_construction is False
    assert box.later() is True


def test_M5_new_threads_start_with_grad_enabled():
    seen = []
    with wg.no_grad():
        thread = threading.Thread(target=lambda: seen.append(wg.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


@pytest.mark.parametrize("create_graph", [False, True])
def test_M6_inside_backward_grad_mode_is_create_graph(create_graph):
    seen = []

    class Spy(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            seen.append(wg.is_grad_enabled())
            return grad

    x = leaf()
    y = Spy.apply(x).sum()
    with wg.set_grad_enabled(not create_graph):
        wg.autograd.grad(y, x, create_graph=create_graph)
        assert wg.is_grad_enabled() is (not create_graph)
    assert seen == [create_graph]


def test_M6_restored_after_an_error_in_backward():
    class Fails(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        Fails.apply(leaf()).sum().backward()
    assert wg.is_grad_enabled()


def test_M7_factories_keep_requires_grad():
    with wg.no_grad():
        assert wg.tensor([1.0], requires_grad=True).requires_grad
        assert wg.zeros(2, requires_grad=True).requires_grad


def test_M8_inference_mode():
    x = leaf()
    with wg.inference_mode():
        assert wg.is_inference_mode_enabled()
        assert not wg.is_grad_enabled()
        y = x * 2
        assert y.is_inference()
        assert not y.requires_grad
        assert wg.ones(2, requires_grad=True).requires_grad
        with wg.inference_mode(False):
            assert not wg.is_inference_mode_enabled()
    assert not wg.is_inference_mode_enabled()
    with pytest.raises(RuntimeError):
        _ = y._version


def test_M8_inference_mode_as_decorator():
    @wg.inference_mode
    def bare(x):
        return x * 2

    @wg.inference_mode(mode=False)
    def off(x):
        return x * 2

    assert bare(leaf()).is_inference()
    assert not off(leaf()).is_inference()


def test_M9_inference_tensors_outside():
    with wg.inference_mode():
        y = wg.ones(2)
    x = leaf()
    assert (y + 1).sum().item() == 4.0
    assert (x + y).requires_grad
    assert y[:1].is_inference()
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode is not allowed"):
        y.add_(1)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        x * y
    with pytest.raises(RuntimeError):
        y.requires_grad_(True)


def test_M10_normal_tensors_inside():
    x = leaf()
    y = (x * 3).sum()
    with wg.inference_mode():
        z = wg.ones(2)
        y.backward()
    assert x.grad.tolist() == [3.0, 3.0]
    n = wg.ones(2)
    version = n._version
    with wg.inference_mode():
        n.add_(1)
        assert not n.is_inference()
        assert n._version == version + 1
        view = x[:1]
        assert not view.is_inference()
        assert view.requires_grad
        assert view.is_leaf
    assert z.is_inference()


def test_M11_set_multithreading_enabled():
    assert wg.autograd.is_multithreading_enabled()
    with wg.autograd.set_multithreading_enabled(False):
        assert not wg.autograd.is_multithreading_enabled()
        seen = []
        x = leaf()
        x.register_hook(lambda grad: seen.append(threading.get_ident()))
        x.sum().backward()
        assert seen == [threading.get_ident()]
    assert wg.autograd.is_multithreading_enabled()
    wg.autograd.set_multithreading_enabled(False)
    assert not wg.autograd.is_multithreading_enabled()
    wg.autograd.set_multithreading_enabled(True)


def test_M12_queries():
    assert wg.is_grad_enabled()
    assert not wg.is_inference_mode_enabled()
    wg._C._set_grad_enabled(False)
    assert not wg.is_grad_enabled()
    wg._C._set_grad_enabled(True)
    with pytest.raises(TypeError):
        wg._C._set_grad_enabled("yes")


def test_M13_enforce_grad_layout_policy():
    x = wg.ones(2, 3, requires_grad=True)
    weight = wg.arange(6.0).reshape(3, 2).t()
    (x * weight).sum().backward()
    assert x.grad.stride() == x.stride()
    with grad_mode.enforce_grad_layout_policy(False):
        x.grad = None
        (x * weight).sum().backward()
    assert wg._C._is_grad_layout_enforcement_enabled()
    assert x.grad.tolist() == weight.tolist()


def test_M14_forward_grad_toggle():
    fwd = wg.autograd.forward_ad
    x = wg.tensor([2.0])
    assert fwd._is_fwd_grad_enabled()
    with fwd.dual_level():
        dual = fwd.make_dual(x, wg.ones(1))
        with fwd._set_fwd_grad_enabled(False):
            assert not fwd._is_fwd_grad_enabled()
            assert fwd.unpack_dual(dual * 2).tangent is None
        assert fwd.unpack_dual(dual * 2).tangent.tolist() == [2.0]
    assert fwd._is_fwd_grad_enabled()


def test_M8_inference_tensors_that_require_grad_are_recorded():
    with wg.inference_mode():
        leaf = wg.tensor([1.0, 2.0]).requires_grad_()
        assert not (leaf + 1).requires_grad
    result = (leaf + 1).sum() + leaf.sum()  # neither needs the values
    assert result.requires_grad
    result.backward()
    assert leaf.grad.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        leaf * leaf
