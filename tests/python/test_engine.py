"""The engine: rows E1-E4 and E12-E14 of the table of features, and G16-G20 inside passes."""

import gc
import itertools
import logging
import threading

import pytest

import wengert as wg
from tests.functions import Nested, Noting, OopsError
from wengert import _C
from wengert.autograd import Function, Variable, backward, grad, set_multithreading_enabled

engine = Variable._execution_engine


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


def test_e1_a_node_runs_when_all_its_gradients_are_there_later_ones_first(x):
    notes = []
    shared = Noting.apply(x, "shared", notes)
    first = Noting.apply(shared, "first", notes)
    second = Noting.apply(shared, "second", notes)
    (first + second).sum().backward()
    assert notes == ["second", "first", "shared"]


def test_e1_accumulation_comes_as_soon_as_it_is_ready(x):
    notes = []
    early = Noting.apply(x * 1, "early", notes)
    leaf = wg.ones(2, requires_grad=True)
    leaf.register_post_accumulate_grad_hook(lambda leaf: notes.append("leaf"))
    (early + leaf).sum().backward()
    assert notes == ["leaf", "early"]


def test_e1_set_sequence_nr_changes_the_order(x):
    notes = []
    first, second = Noting.apply(x, "first", notes), Noting.apply(x, "second", notes)
    first.grad_fn._set_sequence_nr(second.grad_fn._sequence_nr() + 1)
    (first + second).sum().backward()
    assert notes == ["first", "second"]


def test_e2_the_caller_runs_the_nodes_and_no_thread_is_started(x):
    started = _C._worker_threads_started()
    idents = []
    x.register_hook(lambda gradient: idents.append(threading.get_ident()))
    (x * 2).sum().backward()
    assert idents == [threading.get_ident()]
    assert _C._worker_threads_started() == started


@pytest.mark.parametrize("levels", [3, 60])
def test_e4_shallow_nesting_stays_on_the_thread(x, levels):
    idents = []
    Nested.apply(x, levels, lambda level: idents.append(threading.get_ident())).sum().backward()
    assert idents == [threading.get_ident()] * (levels + 1)
    assert x.grad.tolist() == [1.0, 1.0]


def test_e4_deep_nesting_continues_on_pool_threads(x):
    idents = []
    Nested.apply(x, 200, lambda level: idents.append(threading.get_ident())).sum().backward()
    groups = [idents[0]] + [b for a, b in itertools.pairwise(idents) if a != b]
    sizes = [idents.count(ident) for ident in groups]
    assert sizes == [61, 61, 61, 18]
    assert x.grad.tolist() == [1.0, 1.0]


def test_e4_two_thousand_levels(x):
    levels = []
    Nested.apply(x, 2000, levels.append).sum().backward()
    assert levels == list(range(2000, -1, -1))
    assert x.grad.tolist() == [1.0, 1.0]


def test_e4_pool_threads_are_reused(x):
    Nested.apply(x, 200, id).sum().backward()
    started = _C._worker_threads_started()
    for _ in range(3):
        Nested.apply(x, 200, id).sum().backward()
    assert _C._worker_threads_started() == started


def test_e4_grad_in_a_hook_of_a_shared_graph(x):
    inner = (x * x).sum()
    found = []
    y = x * 3
    y.register_hook(lambda gradient: found.append(grad(inner, x, retain_graph=True)[0].tolist()))
    y.sum().backward()
    assert found == [[2.0, 4.0]]
    inner.backward()
    assert x.grad.tolist() == [5.0, 7.0]


def test_e4_a_pass_over_the_graph_that_is_just_running(x):
    """The inner pass meets nodes that the outer one has claimed."""
    y = x * 2
    z = y.exp().sum()
    seen = []

    def hook(gradient):
        if not seen:  # the inner pass calls it, too
            seen.append(None)
            seen.append(grad(z, x, retain_graph=True)[0].tolist())

    y.register_hook(hook)
    z.backward(retain_graph=True)
    assert seen == [None, x.grad.tolist()]


def test_e12_execution_engine(x):
    y = (x * x).sum()
    results = engine.run_backward((y,), (wg.tensor(1.0),), True, False, (x,), allow_unreachable=True)
    assert results[0].tolist() == [2.0, 4.0]
    assert x.grad is None
    assert engine.run_backward([y], [None], keep_graph=True, create_graph=False, accumulate_grad=True) is None
    assert x.grad.tolist() == [2.0, 4.0]
    engine.backward(y, retain_graph=True)
    assert engine.grad(y, x)[0].tolist() == [2.0, 4.0]
    assert x.grad.tolist() == [4.0, 8.0]
    assert engine.is_checkpoint_valid()
    with pytest.raises(RuntimeError, match="got 1 tensors and 2 gradients"):
        engine.run_backward((y,), (None, None), True, False)
    with pytest.raises(RuntimeError, match="during backward pass"):
        engine.queue_callback(lambda: None)
    engine.set_num_threads(2)
    assert wg.get_num_threads() == 2
    engine.set_num_threads(1)


def test_e12_callbacks_run_once_at_the_end_of_their_pass(x):
    notes = []

    def hook(gradient):
        engine.queue_callback(lambda: notes.append("first"))
        engine.queue_callback(lambda: engine.queue_callback(lambda: notes.append("queued by a callback")))

    y = x * 2
    y.register_hook(hook)
    x.register_hook(lambda gradient: notes.append("leaf"))
    y.sum().backward()
    assert notes == ["leaf", "first", "queued by a callback"]


def test_e12_callbacks_of_nested_passes_are_their_own(x):
    notes = []

    def hook(gradient):
        engine.queue_callback(lambda: notes.append("outer"))
        with wg.enable_grad():
            inner = wg.ones(1, requires_grad=True) * 1
        inner.register_hook(lambda g: engine.queue_callback(lambda: notes.append("inner")))
        inner.backward()
        notes.append("inner is over")

    y = x * 2
    y.register_hook(hook)
    y.sum().backward()
    assert notes == ["inner", "inner is over", "outer"]


def test_e12_errors_of_callbacks_keep_their_type(x):
    def fail():
        raise OopsError("in a callback")

    y = x * 2
    y.register_hook(lambda gradient: engine.queue_callback(fail))
    with pytest.raises(OopsError, match="in a callback"):
        y.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [2.0, 2.0]
    assert _C._current_graph_task_id() == -1


def test_e13_deep_graphs():
    x = wg.ones(1, requires_grad=True)
    y = x
    for _ in range(150_000):
        y = y + 1
    y.backward()
    assert x.grad.item() == 1
    del y
    y = x
    for _ in range(150_000):
        y = y * 1
    del y


def test_e13_deep_graphs_of_custom_functions():
    class Same(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    x = wg.ones(1, requires_grad=True)
    y = x
    for _ in range(150_000):
        y = Same.apply(y)
    y.backward()
    assert x.grad.item() == 1
    del y
    gc.collect()


def test_e14_debug_log(x, caplog):
    y = (x * 2).sum()
    with caplog.at_level(logging.DEBUG, logger="wengert.autograd.graph"):
        y.backward(retain_graph=True)
    messages = [record.getMessage() for record in caplog.records if record.name == "wengert.autograd.graph"]
    assert len(messages) == 3
    assert "SumBackward0" in messages[0]
    assert "MulBackward0" in messages[1]
    assert "[2]" in messages[1]
    assert "AccumulateGrad" in messages[2]
    caplog.clear()
    y.backward()
    assert not caplog.records


def test_g16_pass_ids_increase(x):
    assert _C._current_graph_task_id() == -1
    ids = []
    y = x * 2
    y.register_hook(lambda gradient: ids.append(_C._current_graph_task_id()))
    y.sum().backward(retain_graph=True)
    grad(y.sum(), x)
    assert 0 <= ids[0] < ids[1]
    assert _C._current_graph_task_id() == -1


def test_g17_execution_order(x):
    with pytest.raises(RuntimeError, match="should only be called during"):
        _C._current_graph_task_execution_order()
    y = x.exp()
    left, right = y * 2, y * 3
    z = left + right
    orders = []
    z.register_hook(lambda gradient: orders.append(_C._current_graph_task_execution_order()))
    accumulator = y.grad_fn.next_functions[0][0]
    total = z.sum()
    with set_multithreading_enabled(False):
        total.backward(retain_graph=True)
        grad(total, [left], retain_graph=True)
    expected = [total.grad_fn, z.grad_fn, right.grad_fn, left.grad_fn, y.grad_fn, accumulator]
    assert orders[0] == expected
    assert orders[1] == [total.grad_fn, z.grad_fn, left.grad_fn]
    with pytest.raises(RuntimeError, match="multithreading disabled"):
        total.backward()


def test_g18_will_engine_execute_node(x):
    y = x.exp()
    z = y * 2
    elsewhere = x * 3
    accumulator = y.grad_fn.next_functions[0][0]
    with pytest.raises(RuntimeError, match="during the backward pass"):
        _C._will_engine_execute_node(y.grad_fn)
    with pytest.raises(RuntimeError, match="expects an grad_fn"):
        _C._will_engine_execute_node(x)
    answers = []

    def ask(gradient):
        nodes = (z.grad_fn, y.grad_fn, elsewhere.grad_fn)
        answers.append([_C._will_engine_execute_node(node) for node in nodes])

    y.register_hook(ask)
    z.sum().backward(retain_graph=True)
    grad(z.sum(), y, retain_graph=True)
    z.sum().backward(inputs=[x], retain_graph=True)
    assert answers == [[True, True, False]] * 3

    def ask_for_leaf(gradient):
        answers.append(_C._will_engine_execute_node(accumulator))

    z.register_hook(ask_for_leaf)
    with pytest.raises(RuntimeError, match="A leaf node was passed"):
        grad(z.sum(), x, retain_graph=True)
    z.sum().backward()
    assert answers[-2:] == [True, [True, True, False]]


def test_g19_g20_the_node_and_the_pass_that_run(x):
    seen = []
    y = x.exp()
    z = y * 2
    z.grad_fn.register_prehook(
        lambda gradients: seen.append((_C._current_autograd_node(), _C._autograd._get_current_graph_task_keep_graph()))
    )
    z.sum().backward(retain_graph=True)
    z.sum().backward()
    assert seen == [(z.grad_fn, True), (z.grad_fn, False)]
    assert _C._current_autograd_node() is None


def test_backward_twice_with_roots_that_are_ancestors(x):
    y = x * 2
    z = y * 3
    backward([z, y], [wg.ones(2), wg.ones(2)])
    assert x.grad.tolist() == [8.0, 8.0]
