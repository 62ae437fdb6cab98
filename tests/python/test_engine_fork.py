"""The engine, the lock and other processes: rows E9 and E10 of the table of features."""

import os
import subprocess
import sys
import textwrap
import threading

import pytest

import wengert as wg


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


def test_e9_the_lock_is_free_while_the_core_works():
    """Another Python thread makes progress while a pass of C++ nodes runs."""
    a = wg.ones(1500, 1500, requires_grad=True)
    y = a
    for _ in range(20):
        y = (y * 1.0001).tanh()
    y = y.sum()
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(1)
            stop.wait(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    before = len(ticks)
    y.backward()
    progress = len(ticks) - before
    stop.set()
    thread.join()
    assert progress >= 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("before", ["nothing", "backward", "deep", "parallel"])
def test_e10_fork(before):
    """A forked child runs backward, whatever the parent ran before; with several threads, too."""
    program = f"""
        import os, threading
        import wengert as wg
        from wengert.autograd import Function

        class Nested(Function):
            @staticmethod
            def forward(ctx, x, levels):
                ctx.levels = levels
                return x.clone()
            @staticmethod
            def backward(ctx, gradient):
                if ctx.levels:
                    with wg.enable_grad():
                        Nested.apply(wg.ones(1, requires_grad=True), ctx.levels - 1).sum().backward()
                return gradient, None

        def deep():
            x = wg.ones(1, requires_grad=True)
            Nested.apply(x, 150).sum().backward()
            assert x.grad.item() == 1

        def parallel():
            wg.set_num_threads(3)
            x = wg.ones(300, 300, requires_grad=True)
            sum((x * i).tanh().exp().sum() for i in range(8)).backward()
            assert x.grad is not None

        def everything():
            x = wg.ones(2, requires_grad=True)
            (x * x).sum().backward()
            assert x.grad.tolist() == [2, 2]
            deep()
            parallel()

        before = {before!r}
        if before == "backward":
            (wg.ones(2, requires_grad=True) * 2).sum().backward()
        elif before == "deep":
            deep()
        elif before == "parallel":
            parallel()
        pid = os.fork()
        if pid == 0:
            try:
                everything()
                os._exit(0)
            except BaseException:
                import traceback
                traceback.print_exc()
                os._exit(1)
        assert os.waitpid(pid, 0)[1] == 0
        everything()
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=120)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_e10_fork_while_other_threads_are_in_the_core():
    """The locks of the core are free in the child, and counts are those of one thread again."""
    program = """
        import os, threading
        import wengert as wg

        shared = wg.ones(50, requires_grad=True)
        stop = threading.Event()

        def work():
            while not stop.is_set():
                y = shared
                for _ in range(30):
                    y = (y * 1.01).tanh()
                y.sum().backward()

        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        for _ in range(20):
            pid = os.fork()
            if pid == 0:
                x = wg.ones(3, requires_grad=True)
                ((x * x).sum() + (shared * shared).sum()).backward()
                os._exit(0 if x.grad.tolist() == [2, 2, 2] else 1)
            assert os.waitpid(pid, 0)[1] == 0
        stop.set()
        for t in threads:
            t.join()
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=120)
