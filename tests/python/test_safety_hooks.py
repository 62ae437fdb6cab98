"""Hooks that take away what their pass works with: results, leaves, gradients, other hooks, the graph."""

import contextlib
import gc
import sys

import pytest

import wengert as wg
from tests.functions import works
from wengert.autograd.graph import register_multi_grad_hook, saved_tensors_hooks


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


def test_a_hook_that_drops_every_result_of_the_graph(x):
    held = [(x * 2).exp()]
    held.append(held[0].sin().sum())

    def hook(gradient):
        held.clear()
        gc.collect()

    held[0].register_hook(hook)
    held[1].backward()
    assert held == []
    assert x.grad is not None


def test_a_hook_that_removes_itself_and_adds_others(x):
    y = x * 2
    ran, handles = [], []

    def add(gradient):
        ran.append(len(handles))
        for handle in handles:
            handle.remove()
        handles[:] = [y.register_hook(add) for _ in range(3)]
        gc.collect()
        return gradient * 1

    handles.append(y.register_hook(add))
    for _ in range(3):
        y.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [6, 6]
    assert len(ran) == 1 + 3 + 3


def test_a_hook_that_empties_the_dictionary_of_hooks(x):
    y = x * 2

    def clear(*arguments):
        for owner in gc.get_referrers(clear):
            if isinstance(owner, dict) and clear in owner.values() and "clear" not in owner:
                owner.clear()
        gc.collect()

    for _ in range(5):
        y.register_hook(clear)
        y.grad_fn.register_hook(clear)
        y.grad_fn.register_prehook(clear)
        x.register_post_accumulate_grad_hook(clear)
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_a_hook_that_replaces_the_leaf_and_its_gradient(x):
    def hook(gradient):
        x.grad = None
        x.data = wg.ones(2)
        gradient.resize_(0)

    y = x * 2
    y.register_hook(hook)
    with contextlib.suppress(RuntimeError):
        y.sum().backward()
    works()


def test_hooks_that_change_the_gradients_they_are_given(x):
    def shrink(gradient):
        gradient.data = wg.ones(1)

    for register in (lambda y: y.register_hook(shrink), lambda y: y.grad_fn.register_prehook(lambda g: shrink(g[0]))):
        y = x * x
        register(y)
        with contextlib.suppress(RuntimeError):
            y.sum().backward()
    y = x * x
    y.grad_fn.register_hook(lambda i, o: [shrink(g) for g in (*i, *o)] and None)
    with contextlib.suppress(RuntimeError):
        y.sum().backward()
    works()


def test_unpack_hooks_that_free_the_graph(x):
    def unpack(t):
        with contextlib.suppress(RuntimeError, RecursionError):
            y.grad_fn._raw_saved_self.unpack()
            total.backward()
        return t

    with saved_tensors_hooks(lambda t: t, unpack):
        y = x * x
    total = y.sum()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(150)
    try:
        with contextlib.suppress(RuntimeError, RecursionError):
            total.backward()
    finally:
        sys.setrecursionlimit(limit)
    works()


def test_a_hook_for_several_gradients_that_goes_while_it_runs(x):
    a, b = x * 2, x * 3
    handles = []

    def hook(gradients):
        handles.pop().remove()
        gc.collect()

    handles.append(register_multi_grad_hook((a, b), hook))
    (a + b).sum().backward()
    assert handles == []
    assert x.grad.tolist() == [5, 5]
