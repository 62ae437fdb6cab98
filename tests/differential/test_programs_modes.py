"""Section 7 of the semantics: grad modes, inference mode included."""

import asyncio
import threading

from tests.differential.observation import better, differential, quietly, raised, warned


def _x(tc):
    return tc.tensor([1.0, 2.0], requires_grad=True)


def M1_contexts(tc):
    x = _x(tc)
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
    x = _x(tc)

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

    x = _x(tc)
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
    x = _x(tc)
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
                z = _x(tc)
                tc.autograd.grad((z * z).sum(), z, create_graph=True)
            seen.append(("after", tc.is_grad_enabled()))
            return grad * 2

    x = _x(tc)
    Nested.apply(x).sum().backward()
    tc.autograd.grad(Nested.apply(x).sum(), x, create_graph=True)
    return seen, tc.is_grad_enabled()


def M6_restored_after_errors(tc):
    x = _x(tc)

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


def M8_inference_mode(tc):
    x = _x(tc)
    before = tc.is_inference_mode_enabled()
    with tc.inference_mode():
        y = x * 2
        seen = [
            tc.is_inference_mode_enabled(),
            tc.is_grad_enabled(),
            y.is_inference(),
            y.requires_grad,
            y.is_leaf,
            tc.ones(1).is_inference(),
            tc.ones(1, requires_grad=True).requires_grad,
            x.is_inference(),
            raised(lambda: y._version, "Inference tensors do not track version counter"),
        ]
    return before, seen, tc.is_inference_mode_enabled(), tc.is_grad_enabled(), y.is_inference(), tc.is_inference(y)


def M8_every_way_to_make_a_tensor(tc):
    x = tc.arange(4.0).reshape(2, 2)
    with tc.inference_mode():
        made = [
            x + 1,
            x @ x,
            x.sum(),
            x.clone(),
            x.contiguous(),
            x > 1,
            x.argmax(),
            x.max(0)[0],
            x.max(0)[1],
            tc.cat([x, x]),
            tc.zeros(1),
            tc.tensor([1.0]),
            tc.arange(3),
            tc.rand(2),
            x.new_zeros(1),
            tc.zeros_like(x),
            x.double(),
            x[tc.tensor([0])],
            x.reshape(4),
            x[0],
            x.t(),
            x.detach(),
            x.unbind()[0],
            x.to(tc.float32),
        ]
    return [t.is_inference() for t in made]


def M8_decorators_and_arguments(tc):
    x = _x(tc)

    @tc.inference_mode
    def bare(x):
        return x * 2

    @tc.inference_mode()
    def called(x):
        return x * 2

    @tc.inference_mode(False)
    def off(x):
        return x * 2

    @tc.inference_mode(mode=True)
    def named(x):
        return x * 2

    return [f(x).is_inference() for f in (bare, called, off, named)], off(x).requires_grad


def M8_nested_false(tc):
    x = _x(tc)
    with tc.inference_mode():
        with tc.inference_mode(False):
            y = x * 2
            inside = tc.is_inference_mode_enabled(), tc.is_grad_enabled(), y.is_inference(), y.requires_grad
            y.sum().backward()
        after = tc.is_inference_mode_enabled(), tc.is_grad_enabled()
    return inside, after, x.grad


def M8_enable_grad_inside(tc):
    x = _x(tc)
    with tc.inference_mode(), tc.enable_grad():
        y = x * 2
        return tc.is_grad_enabled(), tc.is_inference_mode_enabled(), y.requires_grad, y.is_inference(), y.grad_fn


def M8_generator(tc):
    @tc.inference_mode()
    def generator():
        yield tc.is_inference_mode_enabled()
        yield tc.ones(1).is_inference()

    return [(value, tc.is_inference_mode_enabled()) for value in generator()]


def M8_repr(tc):
    with tc.inference_mode():
        y = tc.ones(2)
        return repr(y), str(tc.ones(1, requires_grad=True))


def M8_forward_mode_is_off(tc):
    forward_ad = tc.autograd.forward_ad

    def run():
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(tc.ones(1), tc.ones(1))
            with tc.inference_mode():
                inside = forward_ad.unpack_dual(dual * 2).tangent
            return inside, forward_ad.unpack_dual(dual * 2).tangent

    return quietly(run)


def M8_in_place_inside(tc):
    with tc.inference_mode():
        y = tc.ones(2)
        y.add_(1)
        y[0] = 5
        y.mul_(tc.ones(2))
        view = y[1:]
        view.mul_(10)
    return y, y.is_inference(), view.is_inference()


def M9_outside(tc):
    x = _x(tc)
    with tc.inference_mode():
        y = tc.ones(2)
    added = x + y
    added.sum().backward()
    view = y[:1]
    return (
        (y + 1).is_inference(),
        added.requires_grad,
        x.grad,
        view.is_inference(),
        view._is_view(),
        y.view(1, 2).is_inference(),
        y.detach().is_inference(),
        y.clone().is_inference(),
        y.reshape(2, 1).is_inference(),
    )


def M9_in_place_misuse(tc):
    with tc.inference_mode():
        y = tc.ones(2)
        integers = tc.ones(2, dtype=tc.int64)
    message = "Inplace update to inference tensor outside InferenceMode is not allowed"
    normal = tc.ones(2)

    def with_out():
        tc.add(normal, normal, out=y)

    def set_item():
        y[0] = 1

    def no_grad():
        with tc.no_grad():
            y.add_(1)

    return (
        raised(lambda: y.add_(1), message),
        raised(lambda: y.zero_(), message),
        raised(lambda: y.copy_(normal), message),
        raised(lambda: integers.add_(1), message),
        raised(with_out, message),
        raised(set_item, message),
        raised(no_grad, message),
        raised(lambda: y[:1].mul_(2), message),
        normal.add_(y),
    )


def M9_save_misuse(tc):
    x = _x(tc)
    with tc.inference_mode():
        y = tc.ones(2)
    message = "Inference tensors cannot be saved for backward"
    return (
        raised(lambda: x * y, message),
        raised(lambda: x / y, message),
        raised(lambda: y.requires_grad_().exp()),
        raised(lambda: x.clone().mul_(y), message),
        (x + y).requires_grad,
        (y * 2).requires_grad,
        (x.detach() * y).requires_grad,
    )


def M9_requires_grad_misuse(tc):
    with tc.inference_mode():
        y = tc.ones(2)
        allowed = tc.ones(2).requires_grad_().requires_grad
    return (
        allowed,
        raised(lambda: y.requires_grad_(True)),
        raised(lambda: setattr(y, "requires_grad", True)),
        y.requires_grad_(False).requires_grad,
    )


def M9_leaf_receives_gradients(tc):
    with tc.inference_mode():
        y = tc.ones(2, requires_grad=True)
    (y + 1).sum().backward()
    first = y.grad.clone()
    (y * 2).sum().backward()
    return first, y.grad, y.is_leaf, y.is_inference()


def M9_saved_as_itself(tc):
    with tc.inference_mode():
        y = tc.ones(2, requires_grad=True)
    return better(
        raised(lambda: y * y, "Inference tensors cannot be saved for backward"),
        torch=None,
        wengert=("RuntimeError", "Inference tensors cannot be saved for backward"),
        why="a gradient that was asked for is never dropped silently",
    )


def M9_views_are_not_tracked(tc):
    with tc.inference_mode():
        y = tc.ones(2)
    view = y[:1]
    return view._base, view._is_view(), view.grad_fn, view.requires_grad


def M9_copies_are_normal(tc):
    with tc.inference_mode():
        y = tc.ones(2)
    copy = y.clone()
    copy.add_(1)
    x = _x(tc)
    (x * copy).sum().backward()
    return x.grad, copy.is_inference()


def M10_in_place_on_normal_tensors(tc):
    n = tc.ones(2)
    before = n._version
    with tc.inference_mode():
        n.add_(1)
        n[0] = 7
    return n, n.is_inference(), n._version - before


def M10_views_of_normal_tensors(tc):
    x = _x(tc)
    y = x * 2
    with tc.inference_mode():
        view = y[:1]
        of_leaf = x[:1]
        seen = (
            view.is_inference(),
            view.requires_grad,
            view.is_leaf,
            view.grad_fn,
            view._is_view(),
            of_leaf.requires_grad,
            of_leaf.is_leaf,
            view._version,
        )
    return seen, raised(lambda: view.mul_(2), "A view was created in inference mode")


def M10_view_and_then_in_place_on_base(tc):
    x = _x(tc)
    y = x * 2
    with tc.inference_mode():
        view = y[:1]
    y.mul_(2)
    return raised(lambda: view.grad_fn, "A view was created in inference mode")


def M10_view_of_constant(tc):
    n = tc.ones(2)
    with tc.inference_mode():
        view = n[:1]
        view.add_(5)
    view.add_(1)
    return n, view, view.is_inference(), n._version


def M10_backward_inside(tc):
    x = _x(tc)
    y = (x * x).sum()
    with tc.inference_mode():
        y.backward()
        inside = x.grad.is_inference()
    return x.grad, inside


def M10_saved_then_changed_inside(tc):
    x = _x(tc)
    n = tc.ones(2)
    y = (x * n).sum()
    with tc.inference_mode():
        n.add_(1)
    return raised(y.backward, "modified by an inplace operation")


def M10_leaf_in_place(tc):
    x = _x(tc)
    with tc.inference_mode():
        x.add_(1)
    return x, x.is_leaf, x.requires_grad, x._version


def M10_threads(tc):
    seen = []
    with tc.inference_mode():
        thread = threading.Thread(
            target=lambda: seen.append((tc.is_inference_mode_enabled(), tc.ones(1).is_inference()))
        )
        thread.start()
        thread.join()
    return seen


def M11_multithreading(tc):
    autograd = tc.autograd
    seen = [autograd.is_multithreading_enabled()]
    with autograd.set_multithreading_enabled(False):
        seen.append(autograd.is_multithreading_enabled())
        x = _x(tc)
        threads = []
        x.register_hook(lambda grad: threads.append(threading.get_ident() == threading.main_thread().ident))
        x.sum().backward()
    seen.append(autograd.is_multithreading_enabled())
    autograd.set_multithreading_enabled(False)
    seen.append(autograd.is_multithreading_enabled())
    autograd.set_multithreading_enabled(True)
    return seen, threads


def M12_queries(tc):
    seen = [tc.is_grad_enabled(), tc.is_inference_mode_enabled()]
    tc._C._set_grad_enabled(False)
    seen.append(tc.is_grad_enabled())
    tc._C._set_grad_enabled(True)
    return seen, raised(lambda: tc._C._set_grad_enabled(1)), raised(lambda: tc._C._set_grad_enabled(None))


def M13_layout_policy(tc):
    x = tc.ones(2, 3, requires_grad=True)
    weight = tc.arange(6.0).reshape(3, 2).t()
    (x * weight).sum().backward()
    first = x.grad, x.grad.stride()
    x.grad = None
    with tc.autograd.enforce_grad_layout_policy(False):
        (x * weight).sum().backward()
    inside = x.grad
    return first, inside


def M14_forward_toggle(tc):
    forward_ad = tc.autograd.forward_ad
    seen = [forward_ad._is_fwd_grad_enabled()]
    with forward_ad._set_fwd_grad_enabled(False):
        seen.append(forward_ad._is_fwd_grad_enabled())
    return [*seen, forward_ad._is_fwd_grad_enabled()]


test_program = differential(globals())
