"""A pass on several threads does what it does on one: gradients, errors, warnings, hooks and modes are the same."""

import threading
import warnings

import pytest

import wengert as wg
from tests.functions import Fails, OopsError, Square
from tests.wide_graphs import bits, wide
from wengert import _C
from wengert.autograd import Function, grad


@pytest.mark.parametrize("count", [2, 3, 5])
def test_parallel_gradients_have_the_bits_of_one_thread(threads, count):
    leaves, total = wide()
    expected = bits(grad(total, leaves, retain_graph=True))
    threads(count)
    for _ in range(4):
        assert bits(grad(total, leaves, retain_graph=True)) == expected


def test_parallel_second_derivatives_have_the_bits_of_one_thread(threads):
    leaves, total = wide(chains=5, steps=2, n=192)

    def second():
        first = grad(total, leaves, create_graph=True)
        return bits(grad(sum((f * f).sum() for f in first), leaves, retain_graph=True))

    expected = second()
    threads(3)
    for _ in range(3):
        assert second() == expected


def test_parallel_python_nodes_take_turns(threads):
    x = wg.full((300, 300), 0.5, requires_grad=True)
    total = sum(Square.apply((x * (i + 1)).tanh()).exp().sum() for i in range(8))
    (expected,) = grad(total, x, retain_graph=True)
    threads(3)
    for _ in range(3):
        assert bits(grad(total, [x], retain_graph=True)) == bits([expected])


def test_parallel_errors_keep_their_type(threads):
    leaves, total = wide()
    bad = Fails.apply(leaves[0]).sum()
    threads(2)
    for _ in range(5):
        with pytest.raises(OopsError, match="as it was"):
            (total + bad).backward(retain_graph=True)
    assert _C._current_graph_task_id() == -1
    total.backward()
    assert all(leaf.grad is not None for leaf in leaves)


def test_parallel_warnings_reach_the_caller(threads):
    class Warns(Function):
        @staticmethod
        def forward(ctx, x, i):
            ctx.i = i
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            warnings.warn(f"number {ctx.i}", UserWarning, stacklevel=1)
            return gradient, None

    x = wg.ones(400, 400, requires_grad=True)
    total = sum(Warns.apply((x * (i + 1)).tanh(), i).exp().sum() for i in range(6))
    threads(2)
    with pytest.warns(UserWarning, match="number") as caught:
        total.backward()
    assert sorted(str(w.message) for w in caught) == [f"number {i}" for i in range(6)]


def test_parallel_nested_passes_and_callbacks(threads):
    leaves, total = wide()
    inner_leaves, inner = wide(chains=4, steps=2)
    expected = bits(grad(inner, inner_leaves, retain_graph=True))
    found, done = [], []

    def hook(gradient):
        found.append(bits(grad(inner, inner_leaves, retain_graph=True)) == expected)
        wg.autograd.Variable._execution_engine.queue_callback(lambda: done.append(threading.get_ident()))

    for leaf in leaves:
        leaf.register_hook(hook)
    threads(2)
    total.backward()
    assert found == [True] * 4
    assert done == [threading.get_ident()] * 4


def test_parallel_retained_gradients_and_multi_grad_hooks(threads):
    x = wg.full((300, 300), 0.5, requires_grad=True)
    middle = [(x * (i + 1)).tanh() for i in range(8)]
    for m in middle:
        m.retain_grad()
    calls = []
    wg.autograd.graph.register_multi_grad_hook(middle, lambda grads: calls.append([g is not None for g in grads]))
    threads(3)
    sum(m.exp().sum() for m in middle).backward()
    assert calls == [[True] * 8]
    for m in middle:
        assert bits([m.grad]) == bits([m.detach().exp()])


def test_parallel_thread_local_state_goes_along(threads):
    modes = set()
    _C._stash_obj_in_tls("parallel", 7)

    def hook(gradient):
        modes.add((wg.is_grad_enabled(), _C._is_fwd_grad_enabled(), _C._get_obj_in_tls("parallel")))

    x = wg.full((300, 300), 0.5, requires_grad=True)
    middle = [(x * (i + 1)).tanh() for i in range(8)]
    for m in middle:
        m.register_hook(hook)
    total = sum(m.exp().sum() for m in middle)
    threads(2)
    with wg.autograd.forward_ad._set_fwd_grad_enabled(False):
        total.backward(retain_graph=True)
    assert modes == {(False, False, 7)}
    modes.clear()
    grad(total, x, create_graph=True)
    assert modes == {(True, True, 7)}
