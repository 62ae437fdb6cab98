"""Several Python threads call backward at once: rows E3 and M11 of the table of features."""

import threading

import pytest

import wengert as wg
from tests.functions import Square
from tests.threads import in_threads
from wengert.autograd import grad, set_multithreading_enabled


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
