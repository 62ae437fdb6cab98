"""Section 7 of the semantics: inference mode, forward mode off, threads."""

import threading

from tests.differential.fixtures import a_leaf
from tests.differential.observation import better, differential, quietly, raised


def M8_inference_mode(tc):
    x = a_leaf(tc)
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
    x = a_leaf(tc)

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
    x = a_leaf(tc)
    with tc.inference_mode():
        with tc.inference_mode(False):
            y = x * 2
            inside = tc.is_inference_mode_enabled(), tc.is_grad_enabled(), y.is_inference(), y.requires_grad
            y.sum().backward()
        after = tc.is_inference_mode_enabled(), tc.is_grad_enabled()
    return inside, after, x.grad


def M8_enable_grad_inside(tc):
    x = a_leaf(tc)
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
    x = a_leaf(tc)
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
        normal.add_(1),  # what stands in y is another matter: PyTorch writes before it raises
    )


def M9_save_misuse(tc):
    x = a_leaf(tc)
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
    x = a_leaf(tc)
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
    x = a_leaf(tc)
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
    x = a_leaf(tc)
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
    x = a_leaf(tc)
    y = (x * x).sum()
    with tc.inference_mode():
        y.backward()
        inside = x.grad.is_inference()
    return x.grad, inside


def M10_saved_then_changed_inside(tc):
    x = a_leaf(tc)
    n = tc.ones(2)
    y = (x * n).sum()
    with tc.inference_mode():
        n.add_(1)
    return raised(y.backward, "modified by an inplace operation")


def M10_leaf_in_place(tc):
    x = a_leaf(tc)
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
        x = a_leaf(tc)
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
