"""Custom Functions, saved tensors and anomaly mode against user code that pulls away what they are working with."""

import gc
import threading
import time
import warnings
import weakref

import pytest

import wengert as wg
from wengert import _C
from wengert.autograd import Function
from wengert.autograd.graph import allow_mutation_on_saved_tensors, saved_tensors_hooks


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


def function_that_saves(count):
    """Return a Function that saves `count` new tensors and shows its running ctx."""

    class Saves(Function):
        @staticmethod
        def forward(ctx, t):
            Saves.ctx = ctx
            ctx.save_for_backward(*[t * (i + 1.0) for i in range(count)])
            return t * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[-1]

    return Saves


# --- Pack hooks that look at, and change, the ctx whose tensors are being packed


def test_a_pack_hook_that_takes_handles_of_the_list_that_grows(x):
    saves, handles = function_that_saves(20), []

    def pack(t):
        handles.extend(saves.ctx._raw_saved_tensors)
        return t

    with saved_tensors_hooks(pack, lambda t: t):
        y = saves.apply(x)
    assert handles == []  # the node has them all or none
    handles = y.grad_fn._raw_saved_tensors
    y.sum().backward()
    del y
    for handle in handles:
        with pytest.raises(RuntimeError, match="already been freed"):
            handle.unpack()
    assert x.grad.tolist() == [20, 40]


@pytest.mark.parametrize("value", [None, (), 5])
def test_a_pack_hook_that_replaces_what_is_to_be_saved(x, value):
    saves = function_that_saves(20)

    def pack(t):
        saves.ctx.to_save = value
        gc.collect()
        return t

    with saved_tensors_hooks(pack, lambda t: t):
        y = saves.apply(x)
    y.sum().backward()
    assert x.grad.tolist() == [20, 40]


def test_a_pack_hook_that_fails_leaves_nothing_saved(x):
    saves, calls = function_that_saves(3), []

    def pack(t):
        calls.append(t)
        if len(calls) == 2:
            raise KeyError("second")
        return t

    with saved_tensors_hooks(pack, lambda t: t), pytest.raises(KeyError):
        saves.apply(x)
    assert saves.ctx._raw_saved_tensors == ()


def test_a_pack_hook_that_frees_the_graph(x):
    y = (x * 3).exp()
    total, saved = y.sum(), y.grad_fn._raw_saved_result

    def pack(t):
        total.backward()
        return t

    saved.register_hooks(pack, lambda t: t)
    with pytest.raises(RuntimeError, match="already been freed"):
        saved.unpack()


def test_a_hook_whose_end_frees_the_graph(x):
    class Ending:
        def __call__(self, t):
            return t

        def __del__(self):
            total.backward()

    y = (x * 3).exp()
    total = y.sum()
    y.grad_fn._raw_saved_result.register_hooks(Ending(), lambda t: t)  # a pack function goes as soon as it has run
    with pytest.raises(RuntimeError, match="already been freed"):
        total.backward()
    assert x.grad is not None


def test_handles_outlive_their_node(x):
    handle = x.exp().grad_fn._raw_saved_result
    gc.collect()
    assert handle.unpack().tolist() == x.exp().tolist()


def test_tensors_noted_by_the_context_are_kept(x):
    class Strangers(Function):
        @staticmethod
        def forward(ctx, t):
            Strangers.ctx = ctx
            ctx.mark_dirty(wg.ones(2))
            ctx.mark_non_differentiable(wg.ones(2))
            return t * 2, t * 3

        @staticmethod
        def backward(ctx, a, b):
            return a * 2 + b * 3

    taken = []

    def show(*args, **kwargs):
        Strangers.ctx.dirty_tensors = Strangers.ctx.non_differentiable = None
        taken.extend(wg.ones(2) for _ in range(20))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        a, b = Strangers.apply(x)
    assert a.requires_grad
    assert b.requires_grad
    assert len(taken) == 20


# --- The class of the node


@pytest.mark.parametrize(
    "answer", [lambda node: 5, lambda node: None, lambda node: node, lambda node: node.next_functions]
)
def test_a_node_class_that_makes_something_else(x, answer):
    saves = function_that_saves(1)
    y = saves.apply(x)
    node = y.grad_fn
    saves._backward_cls.__new__ = lambda cls, *args: answer(node)
    with pytest.raises(TypeError, match="must return a new node"):
        saves.apply(x)
    y.sum().backward()
    assert x.grad.tolist() == [1, 2]


def test_a_node_class_that_is_no_class(x):
    saves = function_that_saves(1)
    for wrong in (5, int, type(x.exp().grad_fn), wg.Tensor):
        saves._backward_cls = wrong
        with pytest.raises(TypeError):
            saves.apply(x)


def test_node_types_that_are_asked_for_while_they_are_made():
    """A collection inside the making of a type may ask for the same type."""
    found = []

    class Asks:
        def __init__(self, tensor):
            self.tensor, self.ring = tensor, self

        def __del__(self):
            found.append(type(self.tensor.grad_fn))

    x = wg.ones(3, requires_grad=True)
    names = ["sinh", "cosh", "asinh", "atan", "log1p", "expm1", "digamma", "erfinv", "i0", "sinc", "logit"]
    threshold = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for name in names:
            Asks(getattr(wg, name)(x * 0.5))
            assert getattr(wg, name)(x * 0.5).grad_fn is not None
    finally:
        gc.set_threshold(*threshold)
    gc.collect()
    assert len(found) == len(names)
    for name in names:
        assert type(getattr(wg, name)(x * 0.5).grad_fn) in found


# --- Anomaly mode


def test_a_warning_that_clears_the_metadata_it_is_made_from(x):
    class Fails(Function):
        @staticmethod
        def forward(ctx, t):
            return t * 2

        @staticmethod
        def backward(ctx, grad):
            raise ValueError("of the user")

    class Outer(Function):
        @staticmethod
        def forward(ctx, t):
            return t * 2

        @staticmethod
        def backward(ctx, grad):
            return Fails.apply(Fails.apply(grad))

    shown = []

    def show(message, *args, **kwargs):
        shown.append(str(message))
        waiting = [first.grad_fn]
        while waiting:
            node = waiting.pop()
            node.metadata.clear()
            waiting += [n for n, _ in node.next_functions if n is not None]
        gc.collect()

    with wg.autograd.set_detect_anomaly(True):
        inner = Outer.apply(x * x)
        (first,) = wg.autograd.grad((inner * inner).sum(), x, create_graph=True)
        del inner
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = show
            with pytest.raises(ValueError, match="of the user"):
                first.sum().backward()
    assert "Error detected in FailsBackward" in shown[0]


# --- What a thread leaves behind


def test_a_thread_that_ends_with_a_write_observer_set():
    class Observer:
        def __call__(self, tensor):
            pass

    gone = []

    def run():
        observer = Observer()
        gone.append(weakref.ref(observer))
        _C._autograd._set_write_observer(observer)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    gc.collect()
    assert gone[0]() is None


def test_a_thread_that_ends_inside_scopes(x):
    gone = []

    class Hook:
        def __call__(self, t):
            return t

    def run():
        hook = Hook()
        gone.append(weakref.ref(hook))
        saved_tensors_hooks(hook, hook).__enter__()
        allow_mutation_on_saved_tensors().__enter__()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    deadline = time.monotonic() + 60  # what C++ holds for a thread dies after Python has joined it
    while gone[0]() is not None and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    assert gone[0]() is None
    (x * x).sum().backward()
    assert x.grad.tolist() == [2, 4]
