"""Section 4 of the semantics: hooks."""

import gc
import pickle
import weakref
from collections import OrderedDict

from tests.differential.observation import better, differential, raised, warned


def _x(tc):
    return tc.tensor([1.0, 2.0], requires_grad=True)


def _leaf_node(x):
    return x.view_as(x).grad_fn.next_functions[0][0]


def H1_reads_and_replaces(tc):
    x = _x(tc)
    seen = []
    y = x * 2
    y.register_hook(lambda grad: seen.append(grad))
    y.register_hook(lambda grad: grad * 10)
    y.register_hook(lambda grad: seen.append(grad))
    y.sum().backward()
    return seen, x.grad


def H1_on_leaves(tc):
    x = _x(tc)
    seen = []
    x.register_hook(lambda grad: seen.append(grad) or grad + 1)
    (x * 2 + x * 3).sum().backward()
    (g,) = tc.autograd.grad((x * 2).sum(), x)
    return seen, x.grad, g


def H1_runs_where_grad_only_captures(tc):
    x = _x(tc)
    y = x * 2
    seen = []
    y.register_hook(lambda grad: seen.append(grad) or grad * 10)
    return tc.autograd.grad((y * 3).sum(), y), seen


def H1_capture_of_a_node_that_runs(tc):
    x = _x(tc)
    y = x * 2
    seen = []
    y.register_hook(lambda grad: seen.append(grad) or grad * 10)
    return tc.autograd.grad((y * 3).sum(), [x, y]), seen


def H1_backward_inputs_sees_the_result(tc):
    x = _x(tc)
    y = x * 2
    y.register_hook(lambda grad: grad * 10)
    (y * 3).sum().backward(inputs=[x, y])
    return x.grad, y.grad


def H1_not_on_the_path(tc):
    x, z = _x(tc), _x(tc)
    y = z * 2
    seen = []
    y.register_hook(lambda grad: seen.append(1))
    tc.autograd.grad((x * y).sum(), x)
    return seen


def H1_root(tc):
    x = _x(tc)
    y = (x * 2).sum()
    seen = []
    y.register_hook(lambda grad: seen.append(grad) or grad * 3)
    y.backward()
    return seen, x.grad


def H1_same_function_twice(tc):
    x = _x(tc)
    seen = []

    def hook(grad):
        seen.append(grad)

    x.register_hook(hook)
    x.register_hook(hook)
    x.sum().backward()
    return len(seen)


def H1_callable_without_name(tc):
    class Doubler:
        def __call__(self, grad):
            return grad * 2

    x = _x(tc)
    x.register_hook(Doubler())
    x.sum().backward()
    return x.grad


def H1_in_place_separates_old_and_new(tc):
    x = _x(tc)
    y = x * 2
    seen = []
    y.register_hook(lambda grad: seen.append(("old", grad)))
    y.mul_(3)
    y.register_hook(lambda grad: seen.append(("new", grad)))
    y.sum().backward()
    return seen, x.grad


def H1_of_several_outputs(tc):
    x = _x(tc)
    a, b = x.unbind()
    a.register_hook(lambda grad: grad * 10)
    b.register_hook(lambda grad: grad * 100)
    (a + b).backward()
    return x.grad


def H1_removed(tc):
    x = _x(tc)
    seen = []
    handle = x.register_hook(lambda grad: seen.append(1))
    handle.remove()
    x.sum().backward()
    return seen


def H1_hook_removes_itself(tc):
    x = _x(tc)
    seen = []

    def hook(grad):
        seen.append(1)
        handle.remove()

    handle = x.register_hook(hook)
    x.register_hook(lambda grad: seen.append(2))
    x.sum().backward()
    x.sum().backward()
    return seen


def H1_misuse(tc):
    x = _x(tc)

    def failing(hook, fragment):
        y = x * 2
        y.register_hook(hook)
        return raised(lambda: y.sum().backward(), fragment)

    def named(grad):
        return tc.ones(3)

    return (
        raised(
            lambda: tc.ones(1).register_hook(print), "cannot register a hook on a tensor that doesn't require gradient"
        ),
        failing(lambda grad: 3, "expected Variable, but hook returned"),
        failing(lambda grad: "text", "expected Variable, but hook returned"),
        failing(named, "hook 'named' has changed the size of value"),
        failing(lambda grad: grad.double(), "has changed the type of value"),
    )


def H1_exception(tc):
    x = _x(tc)

    def hook(grad):
        raise KeyError("mine")

    x.register_hook(hook)
    return raised(lambda: x.sum().backward(), "mine"), x.grad


def H1_gradient_may_be_changed_in_place(tc):
    x = _x(tc)
    y = x * 2
    y.register_hook(lambda grad: grad.clone().mul_(5))
    y.sum().backward()
    return x.grad


def H2_view_then_in_place(tc):
    x = _x(tc)
    base = x * 2
    view = base[0:1]
    sibling = base[1:2]
    seen = []
    view.register_hook(lambda grad: seen.append("view"))
    sibling.register_hook(lambda grad: seen.append("sibling"))
    view.mul_(3)
    base.sum().backward()
    return seen, x.grad


def H2_registered_after_touching_grad_fn(tc):
    x = _x(tc)
    base = x * 2
    view = base[0:1]
    view.register_hook(lambda grad: seen.append("old"))
    view.mul_(3)
    seen = []
    node = view.grad_fn
    view.register_hook(lambda grad: seen.append(("new", grad)))
    (view * 5).sum().backward()
    return seen, node is not None, x.grad


def H3_post_hook(tc):
    x = _x(tc)
    y = x * 2
    seen = []
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((inputs, outputs)))
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 10, None))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((inputs, outputs)))
    (y * 3).sum().backward()
    return seen, x.grad


def H3_none_clears_a_gradient(tc):
    x, z = _x(tc), _x(tc)
    y = x * z
    y.grad_fn.register_hook(lambda inputs, outputs: (None, inputs[1]))
    y.sum().backward()
    return x.grad, z.grad


def H3_only_where_the_node_runs(tc):
    x = _x(tc)
    y = x * 2
    seen = []
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append(1))
    tc.autograd.grad((y * 3).sum(), y, retain_graph=True)
    return seen


def H3_single_tensor_return(tc):
    x = _x(tc)
    y = x.exp()
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 10,))
    y.sum().backward()
    return x.grad


def H3_saved_tensors_are_still_there(tc):
    x = _x(tc)
    y = x.exp()
    seen = []
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append(y.grad_fn._saved_result))
    y.sum().backward()
    return seen, raised(lambda: y.grad_fn._saved_result, "after they have already been freed")


def H3_misuse(tc):
    x = _x(tc)

    def failing(hook, fragment):
        y = x * x
        y.grad_fn.register_hook(hook)
        return raised(lambda: y.sum().backward(), fragment)

    return (
        failing(lambda i, o: (i[0],), "incorrect number of values (got 1, but expected 2)"),
        failing(lambda i, o: (*i, None), "incorrect number of values (got 3, but expected 2)"),
        failing(lambda i, o: 3, "expected tuple, but hook returned"),
        failing(lambda i, o: list(i), "expected tuple, but hook returned"),
        failing(lambda i, o: (3, None), "expected Variable, but hook returned"),
        failing(lambda i, o: (tc.ones(5), None), "has changed the size of value"),
    )


def H4_pre_hook(tc):
    x = _x(tc)
    y = x * 2
    seen = []
    y.register_hook(lambda grad: grad + 1)
    y.grad_fn.register_prehook(lambda grads: seen.append(grads))
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 10,))
    y.grad_fn.register_prehook(lambda grads: seen.append(grads))
    y.sum().backward()
    return seen, x.grad


def H4_only_where_the_node_runs(tc):
    x = _x(tc)
    y = x * 2
    seen = []
    y.grad_fn.register_prehook(lambda grads: seen.append(1))
    tc.autograd.grad((y * 3).sum(), y, retain_graph=True)
    return seen


def H4_removed_by_an_earlier_hook(tc):
    x = _x(tc)
    y = x * 2
    seen = []

    def first(grads):
        second.remove()
        second.remove()
        seen.append("first")

    y.grad_fn.register_prehook(first)
    second = y.grad_fn.register_prehook(lambda grads: seen.append("second"))
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    return seen


def H4_misuse(tc):
    x = _x(tc)

    def failing(hook, fragment):
        y = x * x
        y.grad_fn.register_prehook(hook)
        return raised(lambda: y.sum().backward(), fragment)

    return (
        failing(lambda g: (g[0], g[0]), "incorrect number of values (got 2, but expected 1)"),
        failing(lambda g: 3, "expected tuple, but hook returned"),
        failing(lambda g: ("a",), "expected Variable, but hook returned"),
        failing(lambda g: (tc.ones(5),), "has changed the size of value"),
    )


def H4_whole_order(tc):
    x = _x(tc)
    y = x * 2
    seen = []
    y.retain_grad()

    def log(name):
        return lambda *args: seen.append((name, y.grad is None))

    y.grad_fn.register_prehook(log("node pre"))
    y.grad_fn.register_hook(log("node post"))
    y.register_hook(log("tensor"))
    y.register_hook(log("tensor again"))
    (y * 3).sum().backward()
    return seen


def H5_accumulate_grad_hooks(tc):
    x = _x(tc)
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
    x = _x(tc)
    node = _leaf_node(x)
    node.register_prehook(lambda grads: (grads[0] * 10,))
    (x * 2).sum().backward()
    return x.grad


def H6_post_accumulate_grad_hook(tc):
    x = _x(tc)
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
    x = _x(tc)

    def step(leaf):
        with tc.no_grad():
            leaf.add_(leaf.grad, alpha=-0.5)
        leaf.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * x).sum().backward()
    return x, x.grad


def H6_misuse(tc):
    x = _x(tc)
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
        x = _x(tc)
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
    x = _x(tc)
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
    x = _x(tc)
    handle = x.register_hook(lambda grad: None)
    alive = weakref.ref(x)
    del x
    gc.collect()
    handle.remove()
    return alive() is None


def H8_one_call_for_a_leaf_used_twice(tc):
    x = _x(tc)
    seen = []
    x.register_hook(lambda grad: seen.append(grad))
    (x * 2 + x * 3).sum().backward()
    return seen


def H8_one_call_for_an_interior_tensor_used_twice(tc):
    x = _x(tc)
    y = x * 1
    seen = []
    y.register_hook(lambda grad: seen.append(grad))
    (y * 2 + y * 3 + y).sum().backward()
    return seen


def H9_all(tc):
    x, y, z = _x(tc), _x(tc), _x(tc)
    seen = []
    handle = tc.autograd.graph.register_multi_grad_hook([x, y, z], lambda grads: seen.append(list(grads)))
    (x * 2 + y * 3).sum().backward()
    (x * 2 + y * 3 + z).sum().backward()
    handle.remove()
    (x * 2).sum().backward()
    return seen


def H9_grad_and_inputs(tc):
    x, y = _x(tc), _x(tc)
    a, b = x * 2, y * 3
    seen = []
    tc.autograd.graph.register_multi_grad_hook([a, b], lambda grads: seen.append(list(grads)))
    c = (a * b).sum()
    tc.autograd.grad(c, a, retain_graph=True)
    c.backward(inputs=[x], retain_graph=True)
    c.backward()
    return seen


def H9_nested_passes_are_independent(tc):
    x, y = _x(tc), _x(tc)
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
    x, y = _x(tc), _x(tc)
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
    x = _x(tc)
    y = x * 2
    edge = tc.autograd.graph.get_gradient_edge(y)
    seen = []
    tc.autograd.graph.register_multi_grad_hook([x, y], lambda grads: seen.append(list(grads)))
    (y * 3).sum().backward()
    return seen, edge.output_nr


def H9_misuse(tc):
    register = tc.autograd.graph.register_multi_grad_hook
    x = _x(tc)
    return (
        raised(lambda: register([x], print, mode="some"), "Expects mode to be one of ('all', 'any')"),
        raised(lambda: register([x, tc.ones(1)], print)),
    )


def H10_any(tc):
    x, y = _x(tc), _x(tc)
    seen = []
    handle = tc.autograd.graph.register_multi_grad_hook([x, tc.ones(1), y], lambda grad: seen.append(grad), mode="any")
    (x * 2 + y * 3).sum().backward()
    (y * 5).sum().backward()
    handle.remove()
    (y * 5).sum().backward()
    return len(seen), seen[1]


def H11_double_backward(tc):
    x = _x(tc)
    y = x * x
    seen = []
    y.register_hook(lambda grad: seen.append((tc.is_grad_enabled(), grad.requires_grad)))
    (g,) = tc.autograd.grad((y * y).sum(), x, create_graph=True)
    g.sum().backward()
    return seen, g


def H12_registered_while_running(tc):
    x = _x(tc)
    y = x * 2
    seen = []

    def first(inputs, outputs):
        seen.append("first")
        y.grad_fn.register_hook(lambda *_: seen.append("added"))

    y.grad_fn.register_hook(first)
    z = y.sum()
    z.backward(retain_graph=True)
    one = list(seen)
    z.backward()
    return one, seen


def H13_pickling_warns(tc):
    x = _x(tc)
    x.register_hook(len)
    quiet = _x(tc)
    quiet.register_hook(tc.utils.hooks.unserializable_hook(lambda grad: None))
    return (
        warned(lambda: pickle.dumps(x), "will not be serialized"),
        warned(lambda: pickle.dumps(quiet)),
        bool(pickle.loads(pickle.dumps(quiet))._backward_hooks),
    )


def H14_backward_hook(tc):
    hooks = tc.utils.hooks
    seen = []
    x = _x(tc)
    hook = hooks.BackwardHook("module", [lambda module, gin, gout: seen.append((module, gin, gout))], [])
    (inside,) = hook.setup_input_hook((x,))
    out = hook.setup_output_hook(inside * 3)
    out.sum().backward()
    return seen, x.grad, type(out) is tc.Tensor


def H14_pre_hook_and_replacement(tc):
    hooks = tc.utils.hooks
    x = _x(tc)
    hook = hooks.BackwardHook(
        "module", [lambda module, gin, gout: (gin[0] * 10,)], [lambda module, gout: (gout[0] * 2,)]
    )
    (inside,) = hook.setup_input_hook((x,))
    hook.setup_output_hook(inside * 3).sum().backward()
    return x.grad


def H14_other_arguments(tc):
    hooks = tc.utils.hooks
    seen = []
    x, c = _x(tc), tc.ones(2)
    hook = hooks.BackwardHook("module", [lambda module, gin, gout: seen.append((gin, gout))], [])
    a, number, b = hook.setup_input_hook((x, 5, c))
    out = hook.setup_output_hook((a * 3 + b, "text"))
    out[0].sum().backward()
    return seen, number, out[1], type(out).__name__


def H14_no_input_requires_grad(tc):
    hooks = tc.utils.hooks
    weight = _x(tc)
    seen = []

    def run():
        hook = hooks.BackwardHook("module", [lambda module, gin, gout: seen.append((gin, gout))], [])
        (inside,) = hook.setup_input_hook((tc.ones(2),))
        hook.setup_output_hook(inside * weight).sum().backward()

    return warned(run, "Full backward hook is firing when gradients are computed with respect to module outputs"), seen


def H14_misuse(tc):
    hooks = tc.utils.hooks
    x = _x(tc)
    hook = hooks.BackwardHook("module", [lambda module, gin, gout: (gin[0], gin[0])], [])
    (inside,) = hook.setup_input_hook((x,))
    out = hook.setup_output_hook(inside * 3)
    return raised(lambda: out.sum().backward(), "got 2, but expected 1")


def H15_retain_grad(tc):
    x = _x(tc)
    y = x * 2
    before = y.retains_grad
    y.retain_grad()
    y.retain_grad()
    z = (y * y).sum()
    z.backward(retain_graph=True)
    first = y.grad.clone()
    z.backward()
    x.retain_grad()
    return before, y.retains_grad, x.retains_grad, first, y.grad


def H15_sees_tensor_hooks(tc):
    x = _x(tc)
    y = x * 2
    y.register_hook(lambda grad: grad * 10)
    y.retain_grad()
    y.register_hook(lambda grad: grad + 1)
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 1000,))
    y.sum().backward()
    return y.grad, x.grad


def H15_after_in_place(tc):
    x = _x(tc)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    y.sum().backward()
    return y.grad, x.grad, y.retains_grad


def H15_views_and_several_outputs(tc):
    x = _x(tc)
    base = x * 1
    view = base[0:1]
    view.retain_grad()
    a, b = base.unbind()
    b.retain_grad()
    (view * 5 + b * 7 + a).sum().backward()
    return view.grad, b.grad, x.grad


def H15_view_then_in_place_on_base(tc):
    x = _x(tc)
    base = x * 1
    view = base[0:1]
    base.retain_grad()
    view.mul_(3)
    base.sum().backward()
    return base.grad, x.grad


def H15_tensor_is_not_kept_alive(tc):
    x = _x(tc)
    y = x * 2
    y.retain_grad()
    z = y.sum()
    alive = weakref.ref(y)
    del y
    gc.collect()
    dead = alive() is None
    z.backward()
    return dead, x.grad


def H15_create_graph(tc):
    x = _x(tc)
    y = x * x
    y.retain_grad()
    tc.autograd.grad((y * y).sum(), x, create_graph=True)
    shown = y.grad.requires_grad
    y.grad = None
    return shown


def H15_misuse(tc):
    return raised(lambda: tc.ones(1).retain_grad(), "can't retain_grad on Tensor that has requires_grad=False")


def H16_queue_callback(tc):
    x = _x(tc)
    engine = tc.autograd.Variable._execution_engine
    seen = []

    def hook(grad):
        seen.append("hook")
        engine.queue_callback(lambda: seen.append(("callback", x.grad is not None)))

    y = x * 2
    y.register_hook(hook)
    y.sum().backward()
    (x * 2).sum().backward()
    return seen


def H16_callbacks_queue_more(tc):
    x = _x(tc)
    engine = tc.autograd.Variable._execution_engine
    seen = []

    def later(n):
        def callback():
            seen.append(n)
            if n < 3:
                engine.queue_callback(later(n + 1))

        return callback

    x.register_hook(lambda grad: engine.queue_callback(later(0)))
    x.sum().backward()
    return seen


def H16_belongs_to_its_pass(tc):
    x, y = _x(tc), _x(tc)
    engine = tc.autograd.Variable._execution_engine
    seen = []

    def outer(grad):
        engine.queue_callback(lambda: seen.append("outer callback"))
        with tc.enable_grad():
            z = y * 2
            z.register_hook(lambda grad: engine.queue_callback(lambda: seen.append("inner callback")))
            z.sum().backward()
        seen.append("inner pass done")

    a = x * 2
    a.register_hook(outer)
    a.sum().backward()
    return seen


def H16_misuse(tc):
    x = _x(tc)
    engine = tc.autograd.Variable._execution_engine

    def fail():
        raise KeyError("mine")

    x.register_hook(lambda grad: engine.queue_callback(fail))
    return (
        raised(lambda: engine.queue_callback(print), "Final callbacks can only be installed during backward pass."),
        raised(lambda: x.sum().backward(), "mine"),
        x.grad,
    )


test_program = differential(globals())
