"""The process ends as it should, whatever its threads are doing."""

import subprocess
import sys

import pytest

PROGRAM = """
import threading, time
import wengert as wg

class Slow(wg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1
    @staticmethod
    def backward(ctx, grad):
        for _ in range(100):
            pass
        return grad

def plain():
    x = wg.ones(100, requires_grad=True)
    for _ in range(20):
        x = x * 1.5
    x.sum().backward()

def hooks():
    x = wg.ones(100, requires_grad=True)
    y = (x * 2).exp()
    y.register_hook(lambda grad: sum(range(1000)) and grad)
    y.grad_fn.register_prehook(lambda grads: sum(range(1000)) and None)
    y.sum().backward()

def functions():
    Slow.apply(wg.ones(3, requires_grad=True)).sum().backward()

def packed():
    with wg.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: sum(range(1000)) and t):
        (wg.ones(10, requires_grad=True).exp() * 2).sum().backward()

def nested():
    x = wg.ones(3, requires_grad=True)
    y = x * 2
    def again(grad):
        with wg.enable_grad():
            (wg.ones(3, requires_grad=True) * 2).sum().backward()
    y.register_hook(again)
    y.sum().backward()

def forever(work):
    while True:
        work()

wg.set_num_threads({threads})
for _ in range(3):
    threading.Thread(target=forever, args=({work},), daemon=True).start()
time.sleep(0.3)
"""


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("work", ["plain", "hooks", "functions", "packed", "nested"])
def test_daemon_threads_in_a_pass(work, threads):
    program = PROGRAM.format(work=work, threads=threads)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


CYCLES = """
import gc
import wengert as wg

gc.disable()

class Kept(wg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return 2 * x * grad

for _ in range(50):
    x = wg.ones(3, requires_grad=True)
    y = Kept.apply(Kept.apply(x) * 2)
    z = y * 3
    z.register_hook(lambda grad, z=z: grad)
    z.grad_fn.metadata["ring"] = z
    g, = wg.autograd.grad(y.sum(), x, create_graph=True)
    x.grad = g
del x, y, z, g
"""


def test_graphs_that_live_to_the_end():
    """They die while the interpreter ends, in its last collections of cycles."""
    done = subprocess.run([sys.executable, "-c", CYCLES], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
