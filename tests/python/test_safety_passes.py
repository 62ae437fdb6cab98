"""Backward passes whose user code deletes, revives, interrupts or abandons what the pass works with."""

import _thread
import contextlib
import gc
import signal
import sys
import threading
import time
import weakref

import pytest

import wengert as wg
from wengert.autograd import Function, grad
from wengert.autograd.graph import register_multi_grad_hook, saved_tensors_hooks
from wengert.utils.checkpoint import checkpoint


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


def works():
    x = wg.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2, 4]


# --- Hooks that take away


def test_a_hook_that_drops_every_result_of_the_graph(x):
    held = [(x * 2).exp()]
    held.append(held[0].sin().sum())

    def hook(gradient):
        held.clear()
        gc.collect()

    held[0].register_hook(hook)
    held[1].backward()
    assert held == []
    assert x.grad is not None


def test_a_hook_that_removes_itself_and_adds_others(x):
    y = x * 2
    ran, handles = [], []

    def add(gradient):
        ran.append(len(handles))
        for handle in handles:
            handle.remove()
        handles[:] = [y.register_hook(add) for _ in range(3)]
        gc.collect()
        return gradient * 1

    handles.append(y.register_hook(add))
    for _ in range(3):
        y.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [6, 6]
    assert len(ran) == 1 + 3 + 3


def test_a_hook_that_empties_the_dictionary_of_hooks(x):
    y = x * 2

    def clear(*arguments):
        for owner in gc.get_referrers(clear):
            if isinstance(owner, dict) and clear in owner.values() and "clear" not in owner:
                owner.clear()
        gc.collect()

    for _ in range(5):
        y.register_hook(clear)
        y.grad_fn.register_hook(clear)
        y.grad_fn.register_prehook(clear)
        x.register_post_accumulate_grad_hook(clear)
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_a_hook_that_replaces_the_leaf_and_its_gradient(x):
    def hook(gradient):
        x.grad = None
        x.data = wg.ones(2)
        gradient.resize_(0)

    y = x * 2
    y.register_hook(hook)
    with contextlib.suppress(RuntimeError):
        y.sum().backward()
    works()


def test_hooks_that_change_the_gradients_they_are_given(x):
    def shrink(gradient):
        gradient.data = wg.ones(1)

    for register in (lambda y: y.register_hook(shrink), lambda y: y.grad_fn.register_prehook(lambda g: shrink(g[0]))):
        y = x * x
        register(y)
        with contextlib.suppress(RuntimeError):
            y.sum().backward()
    y = x * x
    y.grad_fn.register_hook(lambda i, o: [shrink(g) for g in (*i, *o)] and None)
    with contextlib.suppress(RuntimeError):
        y.sum().backward()
    works()


def test_unpack_hooks_that_free_the_graph(x):
    def unpack(t):
        with contextlib.suppress(RuntimeError, RecursionError):
            y.grad_fn._raw_saved_self.unpack()
            total.backward()
        return t

    with saved_tensors_hooks(lambda t: t, unpack):
        y = x * x
    total = y.sum()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(150)
    try:
        with contextlib.suppress(RuntimeError, RecursionError):
            total.backward()
    finally:
        sys.setrecursionlimit(limit)
    works()


def test_a_hook_for_several_gradients_that_goes_while_it_runs(x):
    a, b = x * 2, x * 3
    handles = []

    def hook(gradients):
        handles.pop().remove()
        gc.collect()

    handles.append(register_multi_grad_hook((a, b), hook))
    (a + b).sum().backward()
    assert handles == []
    assert x.grad.tolist() == [5, 5]


# --- Objects that come back


def test_results_that_revive_themselves(x):
    revived = []

    class Revives(wg.Tensor):
        def __del__(self):
            revived.append(self)

    for _ in range(3):
        y = (x * 2).as_subclass(Revives)
        z = y.exp()
        del y
        gc.collect()
        z.sum().backward()
        del z
        gc.collect()
    assert all(isinstance(t, wg.Tensor) for t in revived)
    for t in revived:
        repr(t)
    revived.clear()
    gc.collect()


def test_contexts_that_revive_themselves(x):
    revived = []

    class Twice(Function):
        @staticmethod
        def forward(ctx, t):
            ctx.save_for_backward(t)
            return t * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    Twice._backward_cls.__del__ = lambda self: revived.append(self)
    y = Twice.apply(x)
    y.sum().backward()
    del y
    gc.collect()
    assert len(revived) == 1
    node = revived[0]
    assert node.next_functions[0][0] is not None
    assert node(wg.ones(2)).tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="already been freed"):
        node.saved_tensors  # noqa: B018


def test_weak_references_whose_callbacks_use_the_graph(x):
    seen = []

    class Marked(wg.Tensor):
        pass

    def run():
        y = (x * 2).as_subclass(Marked)
        z = y.exp().sum()
        references.append(weakref.ref(y, lambda r: seen.append((r(), z_of()))))
        references.append(weakref.ref(z.grad_fn, lambda r: seen.append((r(), gc.collect()))))
        return z

    def z_of():
        (x * x).sum().backward()
        return x.grad

    references = []
    z = run()
    z.backward()
    del z
    gc.collect()
    assert [r() for r in references] == [None, None]
    assert len(seen) == 2
    assert seen[0][0] is None


def test_a_finaliser_that_runs_inside_an_operation(x):
    """The collector may run between any two steps; what it finds may use everything."""
    count = []

    class Ring:
        def __init__(self):
            self.ring = self
            self.y = x * 2

        def __del__(self):
            self.y.sum().backward()
            count.append(wg.cat([self.y, self.y]).tolist())

    threshold = gc.get_threshold()
    gc.set_threshold(3)
    try:
        for _ in range(50):
            Ring()
            y = wg.stack([x, x * 3]).sum(0)
            y.register_hook(lambda g: None)
            y.sum().backward()
            y[0].tolist()
            repr(y)
    finally:
        gc.set_threshold(*threshold)
    gc.collect()
    assert len(count) == 50


# --- Passes that are left


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


# --- Overriding types that answer with rubbish


class Rubbish(wg.Tensor):
    answer = None

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if isinstance(cls.answer, BaseException):
            raise cls.answer
        return cls.answer


@pytest.mark.parametrize("answer", [None, 5, "text", [], (), NotImplemented, KeyError("raised"), object(), -1])
def test_answers_of_overriding_types(x, answer):
    Rubbish.answer = answer
    t = wg.ones(2, 2).as_subclass(Rubbish)
    uses = [
        lambda: t + t, lambda: 2 - t, lambda: t @ t, lambda: -t, lambda: t[0], lambda: len(t),
        lambda: t.__setitem__(0, 1),
        lambda: bool(t), lambda: float(t), lambda: int(t), lambda: list(t), lambda: t in (t,), lambda: 1 in t,
        lambda: t.shape, lambda: t.grad_fn, lambda: t.backward(), lambda: t.tolist(), lambda: wg.cat([t, t]),
        lambda: wg.autograd.grad(t, t), lambda: repr(t), lambda: format(t, "5"), lambda: hash(t), lambda: t == t,
        lambda: wg.ones(2).index_put((t,), t), lambda: wg.stack((wg.ones(2), t)), lambda: x * t, lambda: t.numpy(),
        lambda: wg.nn.functional.relu(t), lambda: t.requires_grad_(), lambda: t.data, lambda: wg.tensor(t),
        lambda: t.register_hook(lambda g: g), lambda: checkpoint(lambda a: a * 2, t, use_reentrant=False),
        lambda: wg.func.grad(lambda a: a.sum())(t), lambda: wg.func.vmap(lambda a: a * 2)(t),
        lambda: memoryview(t), lambda: t.__array__(), lambda: divmod(t, 2), lambda: t.__iadd__(1), lambda: t**2,
    ]  # fmt: skip
    for use in uses:
        with contextlib.suppress(Exception):
            use()
    Rubbish.answer = None
    works()


def test_gradients_that_override(x):
    class Keeps(wg.Tensor):
        pass

    Rubbish.answer = 5
    for kind in (Rubbish, Keeps):
        y = x * 2 + x.exp()
        y.register_hook(lambda g, kind=kind: g.clone().as_subclass(kind))
        with contextlib.suppress(Exception):
            y.sum().backward(retain_graph=True)
        with contextlib.suppress(Exception):
            grad(y, x, wg.ones(2).as_subclass(kind), create_graph=True)
    Rubbish.answer = None
    works()


def test_reprs_that_call_each_other(x):
    class Loops(wg.Tensor):
        def __repr__(self, **kwargs):
            return f"Loops({self.partner!r})"

    a, b = x.detach().as_subclass(Loops), x.detach().as_subclass(Loops)
    a.partner, b.partner = b, a
    with pytest.raises(RecursionError):
        repr(a)
    node = (x * 2).grad_fn
    node.metadata["me"] = node.metadata
    node.metadata["node"] = node
    repr(node.metadata)
    gc.collect()
