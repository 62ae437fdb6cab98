"""Which threads a pass on several threads uses, how many, and that it gives them back."""

import ctypes
import threading
import time

import pytest

import wengert as wg
from tests.threads import in_threads
from tests.wide_graphs import bits, wide
from wengert import _C, _blas
from wengert.autograd import grad, set_multithreading_enabled


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
    assert wg.get_num_threads() >= 1
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
