"""Passes that are left in the middle: generators that are closed or dropped, and signals at any time."""

import _thread
import contextlib
import gc
import signal
import threading
import time

import pytest

import wengert as wg
from tests.functions import works
from wengert.autograd.graph import saved_tensors_hooks
from wengert.utils.checkpoint import checkpoint


@pytest.fixture(autouse=True)
def heard():
    """Interrupts are exceptions here, also in a job in the background, which the shell starts deaf to them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


def test_a_generator_that_is_closed_in_the_middle_of_its_pass(x):
    ended = []

    def steps():
        try:
            with wg.no_grad(), saved_tensors_hooks(lambda t: t, lambda t: t):
                while True:
                    with wg.enable_grad():
                        y = x * x
                    yield y
        finally:
            ended.append(True)

    def hook(gradient):
        generator.close()
        gc.collect()

    generator = steps()
    with contextlib.suppress(RuntimeError):
        y = next(generator)
        y.register_hook(hook)
        with wg.enable_grad():
            y.sum().backward()
    assert ended == [True]
    wg.set_grad_enabled(True)
    wg._C._autograd._pop_saved_tensors_default_hooks()  # left inside the pass only, with which that ends
    works()


def test_a_generator_that_is_dropped_in_another_thread(x):
    def steps():
        with saved_tensors_hooks(lambda t: t, lambda t: t), wg.inference_mode(False), wg.no_grad():
            yield 1

    held = [steps()]
    next(held[0])

    def drop():
        with contextlib.suppress(RuntimeError):
            held.pop().close()

    thread = threading.Thread(target=drop)
    thread.start()
    thread.join()
    wg.set_grad_enabled(True)
    wg._C._autograd._pop_saved_tensors_default_hooks()
    works()


def long_pass(x, length=300_000):
    y = x
    for _ in range(length):
        y = y * 1.0
    return y.sum()


def test_a_signal_in_a_long_pass_is_handled_by_the_user_code_in_it(x):
    """A KeyboardInterrupt reaches the first Python code of the pass, and ends it."""
    y = x
    for i in range(200):
        y = y * 1.0
        y.register_hook(lambda g, i=i: _thread.interrupt_main() if i == 100 else None)
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            y.sum().backward()
    finally:
        signal.signal(signal.SIGINT, previous)
    works()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
def test_signals_all_the_time(x):
    arrived = []

    def handler(number, frame):
        arrived.append(number)
        with wg.enable_grad():
            (x.detach().requires_grad_() * 2).sum().backward()

    previous = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        for _ in range(20):
            long_pass(x, 2000).backward()
            checkpoint(lambda t: t.exp(), x, use_reentrant=False).sum().backward()
            repr(x)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert arrived
    works()


@pytest.mark.usefixtures("no_automatic_collection")  # in callbacks of gc, Python drops exceptions
def test_exceptions_of_signals_anywhere(x):
    class Stopped(Exception):  # noqa: N818  (no error)
        pass

    def handler(number, frame):
        raise Stopped

    previous = signal.signal(signal.SIGALRM, handler)
    stopped = 0
    try:
        for i in range(60):
            signal.setitimer(signal.ITIMER_REAL, 0.0002 * (1 + i % 10))
            try:
                y = x
                for _ in range(300):
                    y = y * 1.0
                    y.register_hook(lambda g: g * 1.0)
                y.sum().backward()
                time.sleep(0.1)
            except Stopped:
                stopped += 1
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert stopped == 60
    works()


class TakenOverError(Exception):
    """Ctrl-C arrives while the core takes this exception over."""

    def __str__(self):
        signal.raise_signal(signal.SIGINT)
        return "never"


def test_an_interrupt_beside_another_exception_is_heard():
    def pack(tensor):
        raise TakenOverError

    x = wg.ones(2, requires_grad=True)
    with pytest.raises(KeyboardInterrupt), saved_tensors_hooks(pack, lambda t: t):
        x * x
    y = x * 2
    y.register_hook(pack)
    with pytest.raises(KeyboardInterrupt):
        y.sum().backward()
    inner = lambda u: checkpoint(wg.sin, u * u, use_reentrant=False)  # noqa: E731
    checkpoint(inner, x, use_reentrant=False).sum().backward()  # nothing was left on
    wg.testing.assert_close(x.grad, (x * x).cos().detach() * 2 * x.detach())
