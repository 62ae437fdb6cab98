"""Rows of several sections at work together: hooks and modes."""

import copy
import gc
import threading

from tests.differential.fixtures import a_function, a_leaf
from tests.differential.observation import differential, quietly, raised


def M6_hook_changes_the_mode(tc):
    x = a_leaf(tc)
    y = x * x
    y.register_hook(lambda grad: tc.set_grad_enabled(True) and None)
    y.sum().backward()
    return x.grad, x.grad.requires_grad, tc.is_grad_enabled()


def H1_hook_on_a_tensor_of_another_graph(tc):
    x = a_leaf(tc)
    y = x * 2
    seen = []

    def hook(grad):
        seen.append(grad)
        return grad * y.detach()

    y.register_hook(hook)
    (y * 3).sum().backward()
    return seen, x.grad


def H1_order_among_leaves_and_interior(tc):
    x = a_leaf(tc)
    seen = []
    y = x * 2
    z = y * 3
    for name, tensor in (("x", x), ("y", y), ("z", z)):
        tensor.register_hook(lambda grad, name=name: seen.append(name))
    z.sum().backward()
    return seen


def H1_hook_registers_hooks(tc):
    x = a_leaf(tc)
    y = x * 2
    seen = []

    def outer(grad):
        seen.append("outer")
        x.register_hook(lambda grad: seen.append("inner"))

    y.register_hook(outer)
    y.sum().backward()
    return seen


def H1_removed_by_an_earlier_tensor_hook(tc):
    x = a_leaf(tc)
    seen = []

    def first(grad):
        seen.append("first")
        second.remove()

    x.register_hook(first)
    second = x.register_hook(lambda grad: seen.append("second"))
    x.sum().backward()
    x.sum().backward()
    return seen


def H1_copies_have_no_hooks(tc):
    x = a_leaf(tc)
    seen = []
    x.register_hook(lambda grad: seen.append(1))
    other = copy.deepcopy(x)
    (other * 2).sum().backward()
    x.detach().requires_grad_().sum().backward()
    return seen, other.grad


def H3_replaced_gradient_of_wrong_dtype(tc):
    x = a_leaf(tc)
    y = x.exp()
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0].double(),))
    return raised(lambda: y.sum().backward(), "has changed the type of value")


def H5_accumulator_hooks_die_with_the_graph(tc):
    x = a_leaf(tc)
    seen = []
    x.view_as(x).grad_fn.next_functions[0][0].register_hook(lambda *_: seen.append(1))
    gc.collect()
    (x * 2).sum().backward()
    return seen


def H6_under_create_graph(tc):
    x = a_leaf(tc)
    seen = []
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad.requires_grad))
    quietly(lambda: (x**3).sum().backward(create_graph=True))
    x.grad = None
    return seen


def H6_clears_the_gradient(tc):
    x = a_leaf(tc)
    kept = []

    def take(leaf):
        kept.append(leaf.grad)
        leaf.grad = None

    x.register_post_accumulate_grad_hook(take)
    (x * 2).sum().backward()
    (x * 3).sum().backward()
    return kept, x.grad


def H9_same_tensor_twice(tc):
    x = a_leaf(tc)
    seen = []
    tc.autograd.graph.register_multi_grad_hook([x, x], lambda grads: seen.append(list(grads)))
    (x * 2).sum().backward()
    return seen


def H9_two_passes_in_threads(tc):
    x, y = a_leaf(tc), a_leaf(tc)
    seen = []
    tc.autograd.graph.register_multi_grad_hook([x, y], lambda grads: seen.append(len(grads)))
    threads = [threading.Thread(target=lambda: (x * y).sum().backward()) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seen, x.grad


def H15_in_create_graph_and_again(tc):
    x = a_leaf(tc)
    y = x * x
    y.retain_grad()
    quietly(lambda: (y * y).sum().backward(create_graph=True))
    first = y.grad
    quietly(lambda: (y * y).sum().backward(create_graph=True))
    second = y.grad
    y.grad = x.grad = None
    return first, second, first is second


def H15_deleted_gradient(tc):
    x = a_leaf(tc)
    y = x * 2
    y.retain_grad()
    z = y.sum()
    z.backward(retain_graph=True)
    y.grad = None
    z.backward()
    return y.grad


def H16_callback_sees_no_current_pass(tc):
    x = a_leaf(tc)
    engine = tc.autograd.Variable._execution_engine
    seen = []
    x.register_hook(lambda grad: engine.queue_callback(lambda: seen.append(tc._C._current_autograd_node())))
    x.sum().backward()
    return seen


def H16_not_after_an_error(tc):
    x = a_leaf(tc)
    engine = tc.autograd.Variable._execution_engine
    seen = []

    def fail(grad):
        engine.queue_callback(lambda: seen.append(1))
        raise ValueError("mine")

    x.register_hook(fail)
    return raised(lambda: x.sum().backward(), "mine"), seen


def M6_hooks_and_functions_under_no_grad(tc):
    x = a_leaf(tc)
    y = x * x
    seen = []
    y.grad_fn.register_hook(lambda *_: seen.append(tc.is_grad_enabled()))
    with tc.no_grad():
        y.sum().backward() if False else tc.autograd.backward(y, tc.ones(2), create_graph=False)
    return seen, x.grad


def M8_custom_function_inside(tc):
    x = a_leaf(tc)
    Made = a_function(tc)
    with tc.inference_mode():
        y = Made.apply(x)
    return y.is_inference(), y.requires_grad, y.grad_fn


def M8_backward_of_outer_graph_inside(tc):
    x = a_leaf(tc)
    Made = a_function(tc, backward=lambda ctx, grad: grad * 2)
    y = Made.apply(x).sum()
    seen = []
    x.register_hook(lambda grad: seen.append(grad.is_inference()))
    with tc.inference_mode():
        y.backward()
    return x.grad, seen


def M9_hooks_on_inference_leaves(tc):
    with tc.inference_mode():
        y = tc.ones(2, requires_grad=True)
    seen = []
    y.register_hook(lambda grad: seen.append(grad))
    (y + 1).sum().backward()
    return seen, y.grad


def M9_used_as_constants(tc):
    x = a_leaf(tc)
    with tc.inference_mode():
        c = tc.ones(2)
    out = x + c - c
    return out.requires_grad, raised(lambda: tc.where(c > 0, x, c).sum().backward()), x.grad


def M10_two_modes(tc):
    x = a_leaf(tc)
    y = x * 2
    with tc.inference_mode():
        with tc.inference_mode(False):
            view = y[:1]
        view_inside = y[1:]
    view.mul_(3)
    y.sum().backward()
    return x.grad, raised(lambda: view_inside.mul_(2))


test_program = differential(globals())
