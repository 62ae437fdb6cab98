"""Section 4 of the semantics: retained gradients, accumulation, several gradients at once."""

import gc
import pickle
import weakref
from collections import OrderedDict

from tests.differential.fixtures import a_leaf
from tests.differential.observation import better, differential, raised


def _leaf_node(x):
    return x.view_as(x).grad_fn.next_functions[0][0]


def H5_accumulate_grad_hooks(tc):
    x = a_leaf(tc)
    node = _leaf_node(x)
    seen = []

    def log(name):
        return lambda *args: seen.append((name, x.grad is None, args))

    node.register_prehook(log("pre"))
    node.register_hook(log("post"))
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append("accumulated"))
    x.register_hook(lambda grad: seen.append("tensor"))
    (x * 2).sum().backward()
    tc.autograd.grad((x * 2).sum(), x)
    return seen


def H5_prehook_replaces(tc):
    x = a_leaf(tc)
    node = _leaf_node(x)
    node.register_prehook(lambda grads: (grads[0] * 10,))
    (x * 2).sum().backward()
    return x.grad


def H6_post_accumulate_grad_hook(tc):
    x = a_leaf(tc)
    seen = []
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append((1, leaf is x, leaf.grad.clone())))
    handle = x.register_post_accumulate_grad_hook(lambda leaf: seen.append(2))
    (x * 2).sum().backward()
    (x * 3).sum().backward(inputs=[x])
    tc.autograd.grad((x * 3).sum(), x)
    handle.remove()
    x.sum().backward()
    return seen


def H6_optimizer_in_the_hook(tc):
    x = a_leaf(tc)

    def step(leaf):
        with tc.no_grad():
            leaf.add_(leaf.grad, alpha=-0.5)
        leaf.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * x).sum().backward()
    return x, x.grad


def H6_misuse(tc):
    x = a_leaf(tc)
    return (
        raised(
            lambda: (x * 2).register_post_accumulate_grad_hook(print),
            "post accumulate grad hooks cannot be registered on non-leaf tensors",
        ),
        raised(
            lambda: tc.ones(1).register_post_accumulate_grad_hook(print),
            "cannot register a hook on a tensor that doesn't require gradient",
        ),
    )


def H6_returned_values(tc):
    def failing(value):
        x = a_leaf(tc)
        x.register_post_accumulate_grad_hook(lambda leaf: value)
        return raised(lambda: x.sum().backward())

    return better(
        (failing(3), failing(tc.ones(2))),
        torch=(("TypeError", ""), ("RuntimeError", "")),
        wengert=(("RuntimeError", ""), ("RuntimeError", "")),
        why="any result but None is refused, since nothing uses it",
    )


def H7_handle(tc):
    hooks = tc.utils.hooks
    store = OrderedDict()
    handle = hooks.RemovableHandle(store)
    other = hooks.RemovableHandle(store)
    store[handle.id], store[other.id] = print, print
    handle.remove()
    handle.remove()
    with other:
        inside = list(store) == [other.id]
    return other.id > handle.id, inside, list(store)


def H7_context_manager(tc):
    x = a_leaf(tc)
    seen = []
    with x.register_hook(lambda grad: seen.append(1)):
        x.sum().backward()
    x.sum().backward()
    return seen


def H7_pickle(tc):
    RemovableHandle = tc.utils.hooks.RemovableHandle
    store = OrderedDict()
    handle = RemovableHandle(store)
    store[handle.id] = "hook"
    loaded_store, loaded = pickle.loads(pickle.dumps((store, handle)))
    before = list(loaded_store.values())
    loaded.remove()
    alone = pickle.loads(pickle.dumps(handle))
    alone.remove()
    return before, list(loaded_store), list(store.values())


def H7_extra_dict(tc):
    first, second = OrderedDict(), OrderedDict()
    handle = tc.utils.hooks.RemovableHandle(first, extra_dict=second)
    first[handle.id] = second[handle.id] = 1
    handle.remove()
    return first, second


def H7_holds_nothing(tc):
    x = a_leaf(tc)
    handle = x.register_hook(lambda grad: None)
    alive = weakref.ref(x)
    del x
    gc.collect()
    handle.remove()
    return alive() is None


def H8_one_call_for_a_leaf_used_twice(tc):
    x = a_leaf(tc)
    seen = []
    x.register_hook(lambda grad: seen.append(grad))
    (x * 2 + x * 3).sum().backward()
    return seen


def H8_one_call_for_an_interior_tensor_used_twice(tc):
    x = a_leaf(tc)
    y = x * 1
    seen = []
    y.register_hook(lambda grad: seen.append(grad))
    (y * 2 + y * 3 + y).sum().backward()
    return seen


def H9_all(tc):
    x, y, z = a_leaf(tc), a_leaf(tc), a_leaf(tc)
    seen = []
    handle = tc.autograd.graph.register_multi_grad_hook([x, y, z], lambda grads: seen.append(list(grads)))
    (x * 2 + y * 3).sum().backward()
    (x * 2 + y * 3 + z).sum().backward()
    handle.remove()
    (x * 2).sum().backward()
    return seen


def H9_grad_and_inputs(tc):
    x, y = a_leaf(tc), a_leaf(tc)
    a, b = x * 2, y * 3
    seen = []
    tc.autograd.graph.register_multi_grad_hook([a, b], lambda grads: seen.append(list(grads)))
    c = (a * b).sum()
    tc.autograd.grad(c, a, retain_graph=True)
    c.backward(inputs=[x], retain_graph=True)
    c.backward()
    return seen


def H9_nested_passes_are_independent(tc):
    x, y = a_leaf(tc), a_leaf(tc)
    seen = []
    tc.autograd.graph.register_multi_grad_hook([x, y], lambda grads: seen.append([g is not None for g in grads]))

    def inner(grad):
        with tc.enable_grad():
            (x * 5).sum().backward()

    a = x * y
    a.register_hook(inner)
    a.sum().backward()
    return seen


def H9_failed_pass(tc):
    x, y = a_leaf(tc), a_leaf(tc)
    seen = []
    tc.autograd.graph.register_multi_grad_hook([x, y], lambda grads: seen.append(1))
    bad = y * 2

    def fail(grad):
        raise ValueError("mine")

    bad.register_hook(fail)
    first = raised(lambda: (x * 2 + bad).sum().backward(), "mine")
    (x * y).sum().backward()
    return first, seen


def H9_edges(tc):
    x = a_leaf(tc)
    y = x * 2
    edge = tc.autograd.graph.get_gradient_edge(y)
    seen = []
    tc.autograd.graph.register_multi_grad_hook([x, y], lambda grads: seen.append(list(grads)))
    (y * 3).sum().backward()
    return seen, edge.output_nr


def H9_misuse(tc):
    register = tc.autograd.graph.register_multi_grad_hook
    x = a_leaf(tc)
    return (
        raised(lambda: register([x], print, mode="some"), "Expects mode to be one of ('all', 'any')"),
        raised(lambda: register([x, tc.ones(1)], print)),
    )


def H10_any(tc):
    x, y = a_leaf(tc), a_leaf(tc)
    seen = []
    handle = tc.autograd.graph.register_multi_grad_hook([x, tc.ones(1), y], lambda grad: seen.append(grad), mode="any")
    (x * 2 + y * 3).sum().backward()
    (y * 5).sum().backward()
    handle.remove()
    (y * 5).sum().backward()
    return len(seen), seen[1]


def H11_double_backward(tc):
    x = a_leaf(tc)
    y = x * x
    seen = []
    y.register_hook(lambda grad: seen.append((tc.is_grad_enabled(), grad.requires_grad)))
    (g,) = tc.autograd.grad((y * y).sum(), x, create_graph=True)
    g.sum().backward()
    return seen, g


test_program = differential(globals())
