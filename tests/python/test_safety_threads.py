"""Several threads on what one graph consists of: hooks that change hooks, packed tensors, ends of threads, watchers."""

import contextlib
import gc
import threading

import numpy as np
import pytest

import wengert as wg
from tests.threads import in_threads
from wengert.autograd import Function, grad
from wengert.autograd.graph import saved_tensors_hooks
from wengert.profiler import profile, record_function


@pytest.fixture
def two_threads():
    before = wg.get_num_threads()
    wg.set_num_threads(2)
    yield
    wg.set_num_threads(before)


def graph(x, length=20):
    y = x
    for i in range(length):
        y = (y * 0.9 + x).tanh() if i % 2 else y.exp().log1p()
    return y


def wide(x, branches=6):
    return sum((x * float(i + 1)).sin().cumsum(0).tanh() for i in range(branches)).sum()


def test_hooks_that_add_and_remove_hooks_in_several_passes():
    x = wg.rand(100, requires_grad=True)
    y = graph(x)
    middle = y.grad_fn.next_functions[0][0]

    def hook(*arguments):
        handles = [middle.register_hook(quiet), middle.register_prehook(quiet), y.register_hook(quiet)]
        for handle in handles:
            handle.remove()

    def quiet(*arguments):
        return None

    middle.register_prehook(hook)
    y.register_hook(hook)
    (expected,) = grad(y.sum(), x, retain_graph=True)

    def run(i):
        for _ in range(10):
            (found,) = grad(y.sum(), x, retain_graph=True)
            assert (found - expected).abs().max().item() == 0

    in_threads(4, run)


def test_packed_tensors_of_one_graph_in_several_passes():
    x = wg.rand(50, requires_grad=True)
    with saved_tensors_hooks(lambda t: t.numpy().copy(), lambda a: wg.from_numpy(a)):
        y = graph(x)
    (expected,) = grad(y.sum(), x, retain_graph=True)

    def run(i):
        with saved_tensors_hooks(lambda t: (t, i), lambda pair: pair[0]):
            mine = graph(x, 6)
        for _ in range(5):
            (found,) = grad(y.sum(), x, retain_graph=True)
            assert (found - expected).abs().max().item() == 0
            grad(mine.sum(), x, retain_graph=True)

    in_threads(4, run)


def test_hooks_are_registered_on_packed_tensors_while_passes_free_them():
    for _ in range(20):
        x = wg.rand(20, requires_grad=True)
        y = x.exp() * x.sin()
        handles = [n._raw_saved_self for n, _ in y.grad_fn.next_functions if hasattr(n, "_raw_saved_self")]
        handles += [y.grad_fn._raw_saved_self, y.grad_fn._raw_saved_other]

        def run(i, y=y, x=x, handles=handles):
            if i == 0:
                with contextlib.suppress(RuntimeError):
                    y.sum().backward()
            elif i == 1:
                with contextlib.suppress(RuntimeError):
                    grad(y.sum(), x)
            else:
                for handle in handles:
                    with contextlib.suppress(RuntimeError):
                        handle.register_hooks(lambda t: t.clone(), lambda t: t)
                    with contextlib.suppress(RuntimeError):
                        handle.unpack()

        in_threads(4, run)


def test_a_graph_lives_on_when_the_thread_that_made_it_has_ended():
    made = []

    class Twice(Function):
        @staticmethod
        def forward(ctx, t):
            ctx.save_for_backward(t)
            ctx.note = [threading.current_thread().name]
            return t * 2

        @staticmethod
        def backward(ctx, gradient):
            assert ctx.note
            return gradient * 2 + 0 * ctx.saved_tensors[0]

    def make(i):
        x = wg.rand(1000, requires_grad=True)
        with saved_tensors_hooks(lambda t: [t], lambda kept: kept[0]):
            y = Twice.apply(graph(x, 4))
        y.register_hook(lambda g: g * 1)
        made.append((x, y))

    in_threads(4, make)
    for x, y in made:
        y.sum().backward()
        assert x.grad.shape == (1000,)
    in_threads(4, lambda i: made.pop())
    gc.collect()


def test_graphs_made_here_die_elsewhere():
    for _ in range(5):
        graphs = [graph(wg.rand(100, requires_grad=True)) for _ in range(40)]

        def run(i, graphs=graphs):
            while True:
                try:
                    y = graphs.pop()
                except IndexError:
                    return
                if i % 2:
                    y.sum().backward()
                del y

        in_threads(4, run)
    gc.collect()


def test_collections_while_passes_run():
    x = wg.rand(200, requires_grad=True)

    def run(i):
        for step in range(10):
            y = graph(x, 8)
            y.register_hook(lambda g, y=y: None)  # a ring
            y.sum().backward()
            if (step + i) % 3 == 0:
                gc.collect()

    in_threads(4, run)
    gc.collect()


def test_parallel_passes_from_several_threads(two_threads):
    x = wg.rand(20_000, requires_grad=True)
    (expected,) = grad(wide(x), x)

    def run(i):
        for _ in range(3):
            y = wide(x)
            seen = []
            y.register_hook(seen.append)
            (found,) = grad(y, x)
            assert (found - expected).abs().max().item() == 0
            assert len(seen) == 1

    in_threads(3, run)


def test_parallel_passes_with_hooks_that_change_hooks(two_threads):
    x = wg.rand(20_000, requires_grad=True)

    def run(i):
        for _ in range(3):
            parts = [(x * float(k + 1)).sin().tanh() for k in range(6)]

            def hook(gradient, parts=parts):
                parts[0].register_hook(lambda g: None).remove()
                return None

            for part in parts:
                part.register_hook(hook)
                part.grad_fn.register_prehook(lambda g: None)
            sum(parts).sum().backward()

    in_threads(3, run)
    assert x.grad is not None


def test_profiles_in_several_threads():
    x = wg.rand(100, requires_grad=True)

    def run(i):
        for _ in range(3):
            with profile(profile_memory=True, record_shapes=True) as found, record_function(f"thread {i}"):
                graph(x, 6).sum().backward()
            assert any(e.key == f"thread {i}" for e in found.key_averages())

    in_threads(4, run)


def test_debug_mode_and_anomaly_mode_in_several_threads():
    x = wg.rand(100, requires_grad=True)

    def run(i):
        for _ in range(3):
            y = graph(x, 6)
            y.sum().backward()
            z = (x.detach() - 2).requires_grad_()
            bad = (z.log() * 0).sum()
            with contextlib.suppress(RuntimeError, UserWarning):
                bad.backward()
            with contextlib.suppress(RuntimeError):
                kept = x.detach().requires_grad_() * 1
                out = kept.exp()
                out.add_(1)
                out.sum().backward()

    wg.autograd.set_debug_mode(True)
    try:
        in_threads(3, run)
        with wg.autograd.set_detect_anomaly(True):
            in_threads(3, run)
    finally:
        wg.autograd.set_debug_mode(False)


def test_leaves_are_written_under_no_grad_while_others_read_them():
    """As asynchronous optimisers do: the numbers may be torn, the library stays whole."""
    shared = [wg.rand(64, requires_grad=True) for _ in range(3)]

    def run(i):
        for _ in range(20):
            gradients = [wg.ones(64)] * 3
            with contextlib.suppress(RuntimeError):  # another thread has written what this one saved
                gradients = grad(sum((p * p).sum() for p in shared), shared)
            with wg.no_grad():
                for p, g in zip(shared, gradients, strict=True):
                    p -= 0.01 * g

    in_threads(4, run)
    assert all(p.isfinite().all().item() for p in shared)


def test_loans_that_end_beside_a_pass(two_threads):
    """Memory is exported and given back while passes ask whether it is shared, and log who wrote to it."""
    x = wg.rand(50).requires_grad_()
    shared = wg.rand(50)
    over = threading.Event()

    def export(i):
        while not over.is_set():
            held = [shared.numpy(), np.from_dlpack(shared), memoryview(shared)]
            held[0][0] = 0.5
            del held

    def back():
        try:
            for _ in range(200):
                y = (x * shared).sum() + (shared * x.exp()).sum()
                with contextlib.suppress(RuntimeError):  # somebody wrote from outside, which is what it says
                    y.backward()
                with wg.no_grad():
                    shared.mul_(1.0)
        finally:
            over.set()

    in_threads(3, lambda i: back() if i == 0 else export(i))


def test_foreign_memory_beside_a_pass(two_threads):
    x = wg.rand(50).requires_grad_()
    over = threading.Event()
    array = np.ones(50, dtype=np.float32)

    def borrow(i):
        while not over.is_set():
            held = [wg.from_numpy(array), wg.from_dlpack(array)]
            del held

    def back():
        try:
            for _ in range(200):
                (x * wg.from_numpy(array)).sum().backward()
        finally:
            over.set()

    in_threads(3, lambda i: back() if i == 0 else borrow(i))
