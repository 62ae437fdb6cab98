"""Section 7 of the semantics: grad modes."""

import asyncio
import threading

from tests.differential.fixtures import a_leaf
from tests.differential.observation import differential, quietly, raised, warned


def M1_contexts(tc):
    x = a_leaf(tc)
    seen = []
    with tc.no_grad():
        seen.append((x * 2).requires_grad)
        with tc.enable_grad():
            seen.append((x * 2).requires_grad)
            with tc.no_grad():
                seen.append((x * 2).requires_grad)
            seen.append((x * 2).requires_grad)
        seen.append((x * 2).requires_grad)
    seen.append((x * 2).requires_grad)
    return seen


def M1_decorators(tc):
    x = a_leaf(tc)

    @tc.no_grad
    def bare(x, factor=2):
        "Doc."
        return x * factor

    @tc.no_grad()
    def called(x):
        return x * 2

    @tc.enable_grad()
    def on(x):
        return x * 2

    with tc.no_grad():
        inside = on(x).requires_grad
    return bare(x, factor=3), bare(x).requires_grad, called(x).requires_grad, inside, bare.__name__, bare.__doc__


def M1_decorated_method(tc):
    class Model:
        @tc.no_grad()
        def forward(self, x):
            return x * 2

        @classmethod
        @tc.no_grad()
        def of_class(cls, x):
            return x * 2

        @staticmethod
        @tc.no_grad()
        def of_none(x):
            return x * 2

    x = a_leaf(tc)
    return Model().forward(x).requires_grad, Model.of_class(x).requires_grad, Model.of_none(x).requires_grad


def M1_restored_after_exceptions(tc):
    def fail():
        with tc.no_grad():
            raise KeyError("mine")

    return raised(fail, "mine"), tc.is_grad_enabled()


def M1_recursive_decorated_function(tc):
    @tc.no_grad()
    def count(n):
        return [tc.is_grad_enabled()] + (count(n - 1) if n else [])

    return count(3), tc.is_grad_enabled()


def M1_one_object_used_again(tc):
    mode = tc.no_grad()
    seen = []
    for _ in range(2):
        with mode:
            seen.append(tc.is_grad_enabled())
        seen.append(tc.is_grad_enabled())
    return seen


def M2_acts_at_once(tc):
    seen = [tc.is_grad_enabled()]
    tc.set_grad_enabled(False)
    seen.append(tc.is_grad_enabled())
    tc.set_grad_enabled(True)
    with tc.set_grad_enabled(False):
        seen.append(tc.is_grad_enabled())
    with tc.set_grad_enabled(mode=False):
        with tc.set_grad_enabled(True):
            seen.append(tc.is_grad_enabled())
        seen.append(tc.is_grad_enabled())
    return seen, tc.is_grad_enabled()


def M2_decorator(tc):
    @tc.set_grad_enabled(False)
    def off():
        return tc.is_grad_enabled()

    return tc.is_grad_enabled(), off(), tc.is_grad_enabled()


def M2_clone_and_repr(tc):
    mode = tc.set_grad_enabled(False)
    shown = repr(mode)
    tc.set_grad_enabled(True)
    clone = mode.clone()
    inside = tc.is_grad_enabled()
    tc.set_grad_enabled(True)
    return shown.endswith("set_grad_enabled(mode=False)"), type(clone).__name__, clone.mode, inside


def M2_misuse(tc):
    return [
        raised(lambda value=value: tc.set_grad_enabled(value)) for value in (1, None, "True", 0.0)
    ], tc.is_grad_enabled()


def M3_generator(tc):
    @tc.no_grad()
    def generator():
        received = yield tc.is_grad_enabled()
        yield received, tc.is_grad_enabled()
        return "result"

    g = generator()
    seen = [next(g), tc.is_grad_enabled(), g.send("sent"), tc.is_grad_enabled()]
    try:
        next(g)
    except StopIteration as stop:
        seen.append(stop.value)
    return seen


def M3_throw_and_close(tc):
    seen = []

    @tc.no_grad()
    def generator():
        try:
            yield 1
        except KeyError:
            seen.append(tc.is_grad_enabled())
        try:
            yield 2
        finally:
            seen.append(tc.is_grad_enabled())

    g = generator()
    next(g)
    g.throw(KeyError("x"))
    g.close()
    return seen, tc.is_grad_enabled()


def M3_generator_switches_itself(tc):
    @tc.no_grad()
    def generator():
        with tc.enable_grad():
            yield tc.is_grad_enabled()
        yield tc.is_grad_enabled()

    seen = []
    for inside in generator():
        seen.append((inside, tc.is_grad_enabled()))
    return seen


def M3_yield_from_and_errors(tc):
    @tc.no_grad()
    def inner():
        yield tc.is_grad_enabled()
        raise ValueError("mine")

    def outer():
        yield from inner()

    return raised(lambda: list(outer()), "mine"), tc.is_grad_enabled()


def M3_coroutine(tc):
    @tc.no_grad()
    async def work():
        first = tc.is_grad_enabled()
        return first

    return asyncio.run(work()) in (True, False), tc.is_grad_enabled()


def M4_classes(tc):
    def decorate():
        @tc.no_grad()
        class Made:
            def __init__(self):
                self.mode = tc.is_grad_enabled()

            def later(self):
                return tc.is_grad_enabled()

        return Made

    made = quietly(decorate)()
    return warned(decorate)[0][0], made.mode, made.later()


def M5_threads(tc):
    seen = []
    with tc.no_grad():
        thread = threading.Thread(target=lambda: seen.append(tc.is_grad_enabled()))
        thread.start()
        thread.join()
    return seen


def M6_inside_backward(tc):
    x = a_leaf(tc)
    y = x * x
    seen = []
    y.register_hook(lambda grad: seen.append(tc.is_grad_enabled()))
    with tc.no_grad():
        tc.autograd.grad(y.sum() if False else y, x, tc.ones(2), create_graph=True)
        seen.append(tc.is_grad_enabled())
    tc.autograd.grad(y, x, tc.ones(2))
    seen.append(tc.is_grad_enabled())
    return seen


def M6_in_custom_functions_and_nested_passes(tc):
    seen = []

    class Nested(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            seen.append(("forward", tc.is_grad_enabled()))
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            seen.append(("backward", tc.is_grad_enabled()))
            with tc.enable_grad():
                z = a_leaf(tc)
                tc.autograd.grad((z * z).sum(), z, create_graph=True)
            seen.append(("after", tc.is_grad_enabled()))
            return grad * 2

    x = a_leaf(tc)
    Nested.apply(x).sum().backward()
    tc.autograd.grad(Nested.apply(x).sum(), x, create_graph=True)
    return seen, tc.is_grad_enabled()


def M6_restored_after_errors(tc):
    x = a_leaf(tc)

    def fail(grad):
        raise KeyError("mine")

    x.register_hook(fail)
    with tc.no_grad():
        inside = raised(lambda: tc.autograd.grad(x, x, tc.ones(2)), "mine"), tc.is_grad_enabled()
    return inside, tc.is_grad_enabled()


def M7_factories(tc):
    with tc.no_grad():
        return [
            tc.ones(1, requires_grad=True).requires_grad,
            tc.tensor([1.0], requires_grad=True).requires_grad,
            tc.zeros_like(tc.ones(1), requires_grad=True).requires_grad,
            tc.randn(1, requires_grad=True).requires_grad,
            tc.ones(1).requires_grad_().requires_grad,
        ]


test_program = differential(globals())
