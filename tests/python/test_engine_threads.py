"""Row E3: several Python threads call backward at once. And passes that use several threads themselves."""

import ctypes
import threading
import time
import warnings

import numpy as np
import pytest

import wengert as wg
from tests.threads import in_threads
from wengert import _C, _blas
from wengert.autograd import Function, grad, set_multithreading_enabled


@pytest.fixture
def threads():
    """Set the number of threads for one test."""
    yield wg.set_num_threads
    wg.set_num_threads(1)


def test_e3_independent_graphs():
    def run(i):
        for step in range(100):
            x = wg.full((8,), float(i + 1), requires_grad=True)
            y = x
            for _ in range(10):
                y = (y * 0.5 + x).tanh()
            (first,) = grad(y.sum(), x, create_graph=True)
            (second,) = grad(first.sum(), x)
            assert second.shape == x.shape
            assert step >= 0

    in_threads(4, run)


def test_e3_shared_leaf():
    shared = wg.zeros(100, requires_grad=True)

    def run(i):
        for _ in range(200):
            (shared * 1.0).sum().backward()

    in_threads(4, run)
    assert shared.grad.tolist() == [800.0] * 100


@pytest.mark.filterwarnings("ignore:Using backward:UserWarning")
def test_e3_shared_leaf_with_create_graph():
    shared = wg.ones(10, requires_grad=True)

    def run(i):
        for _ in range(50):
            (shared * shared).sum().backward(create_graph=True)

    in_threads(4, run)
    assert shared.grad.tolist() == [400.0] * 10
    shared.grad = None


def test_e3_shared_graph_that_is_kept():
    x = wg.linspace(0.1, 1, 20).requires_grad_()
    y = x
    for _ in range(20):
        y = (y * 1.1).sin()
    y = y.sum()
    (expected,) = grad(y, x, retain_graph=True)

    def run(i):
        for _ in range(50):
            (got,) = grad(y, x, retain_graph=True)
            assert got.tolist() == expected.tolist()

    in_threads(4, run)


@pytest.mark.parametrize("repeat", range(5))
def test_e3_shared_graph_that_is_freed(repeat):
    """One call succeeds at least; those that come too late say so."""
    x = wg.linspace(0.1, 1, 20).requires_grad_()
    y = x
    for _ in range(100):
        y = (y * 1.01).sin()
    y = y.sum()
    results, messages = [], []

    def run(i):
        try:
            results.append(grad(y, x)[0].tolist())
        except RuntimeError as error:
            messages.append(str(error))

    in_threads(4, run)
    assert results
    assert all(result == results[0] for result in results)
    assert all("Specify retain_graph=True" in message for message in messages)


def test_e3_shared_graph_of_python_functions():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return 2 * x * gradient

    x = wg.ones(4, requires_grad=True)
    y = Square.apply(Square.apply(x)).sum()
    in_threads(4, lambda i: [y.backward(retain_graph=True) for _ in range(50)])
    assert x.grad.tolist() == [800.0] * 4


def test_e3_hooks_are_registered_and_removed_while_passes_run():
    x = wg.ones(4, requires_grad=True)
    y = x
    for _ in range(30):
        y = y * 1.0
    total = y.sum()
    stop = threading.Event()

    def run(i):
        if i == 0:
            for _ in range(300):
                handles = [y.register_hook(lambda g: None), y.grad_fn.register_hook(lambda a, b: None)]
                handles += [x.register_hook(lambda g: None), y.grad_fn.register_prehook(lambda a: None)]
                for handle in handles:
                    handle.remove()
            stop.set()
        else:
            while not stop.is_set():
                total.backward(retain_graph=True)

    in_threads(3, run)


def test_e3_gradients_are_read_and_dropped_while_passes_run():
    x = wg.ones(1000, requires_grad=True)
    stop = threading.Event()

    def run(i):
        if i == 0:
            for _ in range(500):
                gradient = x.grad
                assert gradient is None or gradient.shape == (1000,)
                x.grad = None
            stop.set()
        else:
            while not stop.is_set():
                (x * 2).sum().backward()

    in_threads(3, run)


def test_e3_one_graph_extended_by_several_threads():
    """Forward operations on shared tensors while others differentiate them."""
    x = wg.ones(5, requires_grad=True)
    base = (x * 2).exp()

    def run(i):
        for _ in range(100):
            (got,) = grad((base * i).sum(), x, retain_graph=True)
            assert got.tolist() == pytest.approx([2 * i * 7.389056] * 5)

    in_threads(4, run)


def test_m11_multithreading_belongs_to_the_thread():
    with set_multithreading_enabled(False):
        seen = []
        in_threads(2, lambda i: seen.append(wg.autograd.is_multithreading_enabled()))
    assert seen == [True, True]


# --- Passes on several threads


def wide(chains=8, steps=4, n=256):
    """Independent chains from a few leaves to one number."""
    rng = np.random.default_rng(0)
    leaves = [wg.tensor(rng.standard_normal((n, n)) / n**0.5, requires_grad=True) for _ in range(4)]
    total = None
    for chain in range(chains):
        y = leaves[chain % 4]
        for step in range(steps):
            y = (y @ leaves[(chain + step) % 4]).tanh()
        total = y.sum() if total is None else total + (y * y).sum()
    return leaves, total


def bits(tensors):
    return [np.asarray(t.detach()).tobytes() for t in tensors]


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


def test_parallel_passes_run_on_several_threads_and_hooks_see_them(threads):
    _, total = wide()
    idents = set()
    nodes = [total.grad_fn]
    seen = set()
    while nodes:
        node = nodes.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        node.register_prehook(lambda gradients: idents.add(threading.get_ident()))
        nodes += [child for child, _ in node.next_functions]
    threads(2)
    total.backward(retain_graph=True)
    assert len(idents) == 2
    idents.clear()
    with set_multithreading_enabled(False):
        total.backward()
    assert idents == {threading.get_ident()}


def test_parallel_python_nodes_take_turns(threads):
    class Square(Function):
        inside = 0

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return 2 * x * gradient

    x = wg.full((300, 300), 0.5, requires_grad=True)
    total = sum(Square.apply((x * (i + 1)).tanh()).exp().sum() for i in range(8))
    (expected,) = grad(total, x, retain_graph=True)
    threads(3)
    for _ in range(3):
        assert bits(grad(total, [x], retain_graph=True)) == bits([expected])


class OopsError(Exception):
    pass


def test_parallel_errors_keep_their_type(threads):
    class Fails(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            raise OopsError("from whichever thread")

    leaves, total = wide()
    bad = Fails.apply(leaves[0]).sum()
    threads(2)
    for _ in range(5):
        with pytest.raises(OopsError, match="whichever"):
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


def test_parallel_small_passes_start_no_threads(threads):
    threads(4)
    started = _C._worker_threads_started()
    x = wg.ones(10, requires_grad=True)
    for _ in range(20):
        sum((x * i).tanh().sum() for i in range(20)).backward()
    assert _C._worker_threads_started() == started


def test_parallel_callers_at_once(threads):
    threads(2)
    leaves, total = wide(chains=6, steps=3, n=160)
    with set_multithreading_enabled(False):
        expected = bits(grad(total, leaves, retain_graph=True))

    def run(i):
        for _ in range(5):
            assert bits(grad(total, leaves, retain_graph=True)) == expected

    in_threads(3, run)


def test_parallel_blas_gets_its_threads_back(threads):
    def counts():
        return [ctypes.CFUNCTYPE(ctypes.c_int)(get)() for get, _ in _blas.thread_controls()]

    leaves, total = wide()
    before = counts()
    during = []
    leaves[0].register_hook(lambda gradient: during.append(counts()))
    threads(2)
    total.backward()
    assert counts() == before
    assert during == [[1] * len(before)]


def test_num_threads_arguments(threads):
    assert wg.get_num_threads() == 1
    threads(3)
    assert wg.get_num_threads() == 3
    for wrong in (0, -1):
        with pytest.raises(RuntimeError, match="positive"):
            threads(wrong)
    for wrong in (1.5, "2", True):
        with pytest.raises(RuntimeError, match="expects an int"):
            threads(wrong)


def test_parallel_time_is_bounded(threads):
    """A pass with helpers ends soon after its last node, also if there are more threads than branches."""
    leaves, total = wide(chains=2, steps=3, n=256)
    threads(16)
    start = time.perf_counter()
    for _ in range(10):
        grad(total, leaves, retain_graph=True)
    assert time.perf_counter() - start < 30


def test_parallel_a_watched_pass_runs_on_one_thread(threads):
    leaves, total = wide()
    idents = set()
    for leaf in leaves:
        leaf.register_hook(lambda gradient: idents.add(threading.get_ident()))
    threads(2)
    with wg.autograd.profiler.profile() as profile:
        total.backward()
    assert idents == {threading.get_ident()}
    assert any("TanhBackward0" in event.name for event in profile.function_events)
