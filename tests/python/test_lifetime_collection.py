"""Collections in callbacks, passes, other threads and destructors: rows X8 and X9 of the table of features."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import gc
import threading

import pytest

import wengert as wg
from tests.lifetimes import Doubled, holding

pytestmark = pytest.mark.usefixtures("no_automatic_collection")


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


@pytest.mark.parametrize("again", [False, True])
def test_callbacks_of_gc_may_change_the_graph(x, again):
    """Ours must see what they leave: it is the last, also where one was added after it."""
    made = []

    def change(phase, info):
        if phase == "start" and info["generation"] == 2:
            made.append(z * z)  # another owner of what is shared
            if again and change_again not in gc.callbacks:
                gc.callbacks.append(change_again)

    def change_again(phase, info):
        if phase == "start":
            made.append(made[-1] + y)

    before = list(gc.callbacks)
    y = x * 2
    z = y * y
    y.register_hook(holding(z))
    gc.callbacks.append(change)
    try:
        for _ in range(3):
            gc.collect()
        ours = [c for c in gc.callbacks if c not in (change, change_again)]
        assert ours == before
        assert gc.callbacks[-1] is before[-1] or again
    finally:
        for c in (change, change_again):
            if c in gc.callbacks:
                gc.callbacks.remove(c)
    for t in made:
        assert t.grad_fn is not None
        t.sum().backward(retain_graph=True)
    z.sum().backward()
    y = z = None
    made.clear()
    gc.collect()


@pytest.mark.filterwarnings("ignore:Using backward")
def test_X8_collection_in_the_middle_of_a_pass(x):
    y = x * 2
    z = y * y
    y.register_hook(lambda grad: (z, gc.collect(), None)[2])
    x.register_hook(lambda grad: (z, gc.collect(), None)[2])
    z.sum().backward(create_graph=True)
    assert x.grad.tolist() == [8.0, 16.0]
    (y * y).sum().backward()
    assert x.grad.tolist() == [16.0, 32.0]


@pytest.mark.filterwarnings("ignore:Using backward")
def test_X8_collection_while_another_thread_runs_backward():
    weight = wg.rand(64, 64, requires_grad=True)
    failures = []

    def train():
        try:
            for _ in range(30):
                h = weight
                for _ in range(10):
                    h = (h @ weight).tanh()
                h.register_hook(holding(h))
                h.sum().backward(create_graph=True)
                weight.grad = None
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=train) for _ in range(2)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        gc.collect()
    assert not failures


@pytest.mark.filterwarnings("ignore:Using backward")
def test_X8_no_growth_over_many_steps():
    def alive():  # of this size: threads of other tests may have tensors of their own
        gc.collect()
        return len([o for o in gc.get_objects() if isinstance(o, wg.Tensor) and o.shape == (37,)])

    w = wg.ones(37, requires_grad=True)
    counts = []
    for step in range(80):
        if step % 20 == 19:
            counts.append(alive())
        leaf = w.detach().clone().requires_grad_()
        (leaf**3 * w).sum().backward(create_graph=True)
        w.grad = None
    assert counts[-1] <= counts[0]


def test_X9_collection_inside_a_destructor(x):
    deaths = []

    class Collecting:
        def __del__(self):
            gc.collect()
            deaths.append(1)

    for _ in range(3):
        y = Doubled.apply(x)
        y.grad_fn.dying = Collecting()
        y.grad_fn.ring = y
        del y
        gc.collect()
    y = Doubled.apply(x)
    y.grad_fn.dying = Collecting()
    del y
    assert len(deaths) == 4
