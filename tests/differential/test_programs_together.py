"""Rows of several sections at work together."""

import copy
import gc
import threading
import weakref

from tests.differential.observation import better, differential, quietly, raised


def _x(tc):
    return tc.tensor([1.0, 2.0], requires_grad=True)


def _make(tc, **methods):
    methods = {"forward": lambda ctx, x: x.clone(), "backward": lambda ctx, grad: grad, **methods}
    members = {name: staticmethod(value) if callable(value) else value for name, value in methods.items()}
    return type(tc.autograd.Function)("Made", (tc.autograd.Function,), members)


def G11_calling_a_node_runs_no_hooks(tc):
    y = _x(tc) * 2
    seen = []
    y.register_hook(lambda grad: seen.append("tensor"))
    y.grad_fn.register_prehook(lambda grads: seen.append("pre"))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append("post"))
    return y.grad_fn(tc.ones(2)), seen


def G11_calling_a_freed_node(tc):
    y = _x(tc).exp()
    y.sum().backward()
    return raised(lambda: y.grad_fn(tc.ones(2)), "second time")


def G11_walking_the_graph_by_hand(tc):
    x = _x(tc)
    y = x.sin().exp()
    grad = tc.ones(2)
    node = y.grad_fn
    names = []
    while hasattr(node, "next_functions") and node.next_functions:
        names.append(node.name())
        grad = node(grad)
        node = node.next_functions[0][0]
    return names, grad, node.variable is x


def G14_edges_of_several_outputs(tc):
    x = _x(tc)
    a, b = x.unbind()
    edges = [tc.autograd.graph.get_gradient_edge(t) for t in (a, b)]
    return [edge.output_nr for edge in edges], tc.autograd.grad(a * 2 + b * 3, edges)


def G14_edge_outlives_the_tensor(tc):
    x = _x(tc)
    y = x.exp()
    edge = tc.autograd.graph.get_gradient_edge(y)
    del y
    gc.collect()
    return tc.autograd.grad(edge, x, tc.ones(2))


def G18_inside_custom_backward(tc):
    seen = []
    x, z = _x(tc), _x(tc)
    y = z * 3

    def backward(ctx, grad):
        seen.append(tc._C._will_engine_execute_node(y.grad_fn))
        return grad, grad

    out = _make(tc, forward=lambda ctx, a, b: a + b, backward=backward).apply(x, y).sum()
    tc.autograd.grad(out, x, retain_graph=True)
    out.backward()
    return seen


def G19_is_the_context_in_backward(tc):
    seen = []
    Made = _make(tc, backward=lambda ctx, grad: seen.append(tc._C._current_autograd_node() is ctx) or grad)
    Made.apply(_x(tc)).sum().backward()
    return seen


def L14_set_with_pending_graph(tc):
    x = _x(tc)
    y = (x * x).sum()
    with tc.no_grad():
        x.set_(tc.ones(2))
    return raised(y.backward, "modified by an inplace operation")


def L11_detach_in_the_middle(tc):
    x = _x(tc)
    y = x * 2
    z = y * y
    y.detach_()
    w = y * x
    w.sum().backward()
    return x.grad, z.requires_grad, raised(lambda: z.sum().backward())


def L3_turned_off_after_use(tc):
    x = _x(tc)
    y = x * x
    x.requires_grad_(False)
    y.sum().backward()
    return x.grad, x.requires_grad


def M6_hook_changes_the_mode(tc):
    x = _x(tc)
    y = x * x
    y.register_hook(lambda grad: tc.set_grad_enabled(True) and None)
    y.sum().backward()
    return x.grad, x.grad.requires_grad, tc.is_grad_enabled()


def L8_grad_of_a_view(tc):
    x = tc.arange(4.0).reshape(2, 2).requires_grad_()
    x.t().sum().backward()
    x.grad[0, 0] = 100
    return x.grad, x.grad.stride()


def B5_error_leaves_the_rest_usable(tc):
    x, z = _x(tc), _x(tc)
    calls = []

    def backward(ctx, grad):
        calls.append(1)
        if len(calls) == 1:
            raise ValueError("once")
        return grad

    bad = _make(tc, backward=backward).apply(z).exp()
    y = x.exp()
    out = (bad + y).sum()
    first = raised(lambda: out.backward(retain_graph=True), "once")
    x.grad = z.grad = None
    out.backward()
    return first, x.grad, z.grad


def B6_third_derivative(tc):
    x = tc.tensor(2.0, requires_grad=True)
    y = x**5
    results = []
    for _ in range(4):
        (y,) = tc.autograd.grad(y, x, create_graph=True)
        results.append(y.item())
    return results


def B6_hessian_vector_product(tc):
    x = _x(tc)
    y = (x[0] ** 2 * x[1]).sin() + x.prod()
    (g,) = tc.autograd.grad(y, x, create_graph=True)
    return tc.autograd.grad(g @ tc.tensor([1.0, -1.0]), x)


def B6_gradient_penalty(tc):
    x, w = _x(tc), tc.tensor([3.0, -1.0], requires_grad=True)
    (g,) = tc.autograd.grad((x * w).exp().sum(), x, create_graph=True)
    ((g.norm() - 1) ** 2).backward()
    return w.grad, x.grad


def B8_grad_inside_no_grad(tc):
    x = _x(tc)
    y = (x**3).sum()
    with tc.no_grad():
        (g,) = tc.autograd.grad(y, x, create_graph=True)
    return g.requires_grad, tc.autograd.grad(g.sum(), x)


def B8_with_respect_to_a_view(tc):
    x = _x(tc)
    view = x[0:1]
    y = (view * 3).sum() + x.sum()
    return tc.autograd.grad(y, [view, x])


def B8_view_taken_after_use(tc):
    x = _x(tc)
    y = x.sum()
    return tc.autograd.grad(y, [x[0:1]], allow_unused=True)


def B11_batched_second_order(tc):
    x = _x(tc)
    (g,) = tc.autograd.grad((x**3).sum() * x[0], x, create_graph=True)
    return tc.autograd.grad(g, x, tc.eye(2), is_grads_batched=True)


def B13_undefined_to_a_multi_output_node(tc):
    x = _x(tc)
    values, _ = x.sort(descending=True)
    a, b = values.unbind()
    (b * 3).backward()
    return x.grad, a.requires_grad


def B14_sum_of_broadcast_in_custom_function(tc):
    x = tc.ones(1, 3, requires_grad=True)
    y = _make(tc, forward=lambda ctx, x: x.expand(2, 3).clone(), backward=lambda ctx, grad: grad).apply(x)
    y.sum().backward()
    return x.grad


def H1_hook_on_a_tensor_of_another_graph(tc):
    x = _x(tc)
    y = x * 2
    seen = []

    def hook(grad):
        seen.append(grad)
        return grad * y.detach()

    y.register_hook(hook)
    (y * 3).sum().backward()
    return seen, x.grad


def H1_order_among_leaves_and_interior(tc):
    x = _x(tc)
    seen = []
    y = x * 2
    z = y * 3
    for name, tensor in (("x", x), ("y", y), ("z", z)):
        tensor.register_hook(lambda grad, name=name: seen.append(name))
    z.sum().backward()
    return seen


def H1_hook_registers_hooks(tc):
    x = _x(tc)
    y = x * 2
    seen = []

    def outer(grad):
        seen.append("outer")
        x.register_hook(lambda grad: seen.append("inner"))

    y.register_hook(outer)
    y.sum().backward()
    return seen


def H1_removed_by_an_earlier_tensor_hook(tc):
    x = _x(tc)
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
    x = _x(tc)
    seen = []
    x.register_hook(lambda grad: seen.append(1))
    other = copy.deepcopy(x)
    (other * 2).sum().backward()
    x.detach().requires_grad_().sum().backward()
    return seen, other.grad


def H3_replaced_gradient_of_wrong_dtype(tc):
    x = _x(tc)
    y = x.exp()
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0].double(),))
    return raised(lambda: y.sum().backward(), "has changed the type of value")


def H5_accumulator_hooks_die_with_the_graph(tc):
    x = _x(tc)
    seen = []
    x.view_as(x).grad_fn.next_functions[0][0].register_hook(lambda *_: seen.append(1))
    gc.collect()
    (x * 2).sum().backward()
    return seen


def H6_under_create_graph(tc):
    x = _x(tc)
    seen = []
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad.requires_grad))
    quietly(lambda: (x**3).sum().backward(create_graph=True))
    x.grad = None
    return seen


def H6_clears_the_gradient(tc):
    x = _x(tc)
    kept = []

    def take(leaf):
        kept.append(leaf.grad)
        leaf.grad = None

    x.register_post_accumulate_grad_hook(take)
    (x * 2).sum().backward()
    (x * 3).sum().backward()
    return kept, x.grad


def H9_same_tensor_twice(tc):
    x = _x(tc)
    seen = []
    tc.autograd.graph.register_multi_grad_hook([x, x], lambda grads: seen.append(list(grads)))
    (x * 2).sum().backward()
    return seen


def H9_two_passes_in_threads(tc):
    x, y = _x(tc), _x(tc)
    seen = []
    tc.autograd.graph.register_multi_grad_hook([x, y], lambda grads: seen.append(len(grads)))
    threads = [threading.Thread(target=lambda: (x * y).sum().backward()) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seen, x.grad


def H15_in_create_graph_and_again(tc):
    x = _x(tc)
    y = x * x
    y.retain_grad()
    quietly(lambda: (y * y).sum().backward(create_graph=True))
    first = y.grad
    quietly(lambda: (y * y).sum().backward(create_graph=True))
    second = y.grad
    y.grad = x.grad = None
    return first, second, first is second


def H15_deleted_gradient(tc):
    x = _x(tc)
    y = x * 2
    y.retain_grad()
    z = y.sum()
    z.backward(retain_graph=True)
    y.grad = None
    z.backward()
    return y.grad


def H16_callback_sees_no_current_pass(tc):
    x = _x(tc)
    engine = tc.autograd.Variable._execution_engine
    seen = []
    x.register_hook(lambda grad: engine.queue_callback(lambda: seen.append(tc._C._current_autograd_node())))
    x.sum().backward()
    return seen


def H16_not_after_an_error(tc):
    x = _x(tc)
    engine = tc.autograd.Variable._execution_engine
    seen = []

    def fail(grad):
        engine.queue_callback(lambda: seen.append(1))
        raise ValueError("mine")

    x.register_hook(fail)
    return raised(lambda: x.sum().backward(), "mine"), seen


def M6_hooks_and_functions_under_no_grad(tc):
    x = _x(tc)
    y = x * x
    seen = []
    y.grad_fn.register_hook(lambda *_: seen.append(tc.is_grad_enabled()))
    with tc.no_grad():
        y.sum().backward() if False else tc.autograd.backward(y, tc.ones(2), create_graph=False)
    return seen, x.grad


def M8_custom_function_inside(tc):
    x = _x(tc)
    Made = _make(tc)
    with tc.inference_mode():
        y = Made.apply(x)
    return y.is_inference(), y.requires_grad, y.grad_fn


def M8_backward_of_outer_graph_inside(tc):
    x = _x(tc)
    Made = _make(tc, backward=lambda ctx, grad: grad * 2)
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
    x = _x(tc)
    with tc.inference_mode():
        c = tc.ones(2)
    out = x + c - c
    return out.requires_grad, raised(lambda: tc.where(c > 0, x, c).sum().backward()), x.grad


def M10_two_modes(tc):
    x = _x(tc)
    y = x * 2
    with tc.inference_mode():
        with tc.inference_mode(False):
            view = y[:1]
        view_inside = y[1:]
    view.mul_(3)
    y.sum().backward()
    return x.grad, raised(lambda: view_inside.mul_(2))


def F4_context_survives_the_tensor(tc):
    x = _x(tc)
    kept = []

    def forward(ctx, x):
        ctx.save_for_backward(x)
        kept.append(ctx)
        return x * 2

    y = _make(tc, forward=forward).apply(x)
    del y
    gc.collect()
    return kept[0].saved_tensors, kept[0].next_functions


def F6_none_and_tensor(tc):
    Made = _make(tc, forward=lambda ctx, x: (None, x * 2), backward=lambda ctx, nothing, grad: grad * 2)
    x = _x(tc)
    nothing, y = Made.apply(x)
    y.sum().backward()
    return nothing, y.output_nr, x.grad


def F6_output_that_already_has_history(tc):
    other = _x(tc)
    outside = other * 3
    Made = _make(tc, forward=lambda ctx, x: outside, backward=lambda ctx, grad: grad * 7)
    x = _x(tc)
    y = Made.apply(x)
    y.sum().backward()
    return y.grad_fn.name(), x.grad, other.grad


def F7_hooks_stay_apart(tc):
    x = _x(tc)
    seen = []
    x.register_hook(lambda grad: seen.append(("x", grad)))
    y = _make(tc, forward=lambda ctx, x: x, backward=lambda ctx, grad: grad * 10).apply(x)
    y.register_hook(lambda grad: seen.append(("y", grad)))
    y.sum().backward()
    return seen


def F8_view_under_no_grad(tc):
    x = _x(tc)
    with tc.no_grad():
        y = _make(tc, forward=lambda ctx, x: x[0:1]).apply(x)
    return y._is_view(), y.requires_grad, y


def F9_intermediate(tc):
    def forward(ctx, x):
        hidden = x * 2
        ctx.save_for_backward(hidden)
        return hidden * hidden

    def backward(ctx, grad):
        (hidden,) = ctx.saved_tensors
        return grad * 2 * hidden * 2

    x = _x(tc)
    (g,) = tc.autograd.grad(_make(tc, forward=forward, backward=backward).apply(x).sum(), x, create_graph=True)
    return g, g.requires_grad


def F9_saved_through_an_attribute(tc):
    def forward(ctx, x):
        ctx.kept = x
        return x * x

    def backward(ctx, grad):
        return grad * 2 * ctx.kept

    x = _x(tc)
    y = _make(tc, forward=forward, backward=backward).apply(x).sum()
    y.backward(retain_graph=True)
    y.backward()
    return x.grad


def F11_write_without_mark(tc):
    x = _x(tc)

    def forward(ctx, x):
        x.mul_(2)
        return x

    y = x * 1
    z = _make(tc, forward=forward, backward=lambda ctx, grad: grad * 2).apply(y)
    return z is y, z, z.grad_fn.name(), y.grad_fn.name()


def F11_hooks_around(tc):
    x = _x(tc)
    y = x * 1
    seen = []
    y.register_hook(lambda grad: seen.append(("old", grad)))

    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    z = _make(tc, forward=forward, backward=lambda ctx, grad: grad * 2).apply(y)
    z.register_hook(lambda grad: seen.append(("new", grad)))
    z.sum().backward()
    return seen


def F12_non_differentiable_input_returned(tc):
    def forward(ctx, x):
        ctx.mark_non_differentiable(x)
        return x

    y = _make(tc, forward=forward).apply(_x(tc))
    return y.requires_grad, y.grad_fn


def F13_gradient_arrives_only_at_the_second_output(tc):
    seen = []
    Made = _make(
        tc, forward=lambda ctx, x: (x * 2, x * 3), backward=lambda ctx, a, b: seen.append((a, b)) or a * 2 + b * 3
    )
    x = _x(tc)
    Made.apply(x)[1].sum().backward()
    return seen, x.grad


def F15_gradient_is_an_input(tc):
    x, y = _x(tc), _x(tc)
    Made = _make(tc, forward=lambda ctx, x, y: x + y, backward=lambda ctx, grad: (grad, grad))
    Made.apply(x, y).sum().backward()
    x.grad.add_(100)
    return y.grad


def F15_grad_inside_backward(tc):
    def backward(ctx, grad):
        with tc.enable_grad():
            z = ctx.x.detach().requires_grad_()
            (g,) = tc.autograd.grad((z**3).sum(), z)
        return grad * g

    def forward(ctx, x):
        ctx.x = x
        return x**3

    x = _x(tc)
    _make(tc, forward=forward, backward=backward).apply(x).sum().backward()
    return x.grad


def F16_as_part_of_a_bigger_graph(tc):
    once = tc.autograd.function.once_differentiable
    Made = _make(tc, backward=once(lambda ctx, grad: grad * 2))
    x = _x(tc)
    y = Made.apply(x * x) * x
    (g,) = tc.autograd.grad(y.sum(), x, create_graph=True)
    return g, g.requires_grad, raised(lambda: tc.autograd.grad(g.sum(), x), "trying to differentiate twice")


def F17_output_is_recorded_only_afterwards(tc):
    seen = []

    class Made(tc.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            seen.append((output.requires_grad, inputs[0].requires_grad, ctx.needs_input_grad))
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, grad):
            seen.append(ctx.saved_tensors[0].requires_grad)
            return grad * 2

    x = _x(tc)
    Made.apply(x).sum().backward()
    return seen, x.grad


def F19_node_identity(tc):
    kept = []

    def forward(ctx, x):
        kept.append(ctx)
        return x * 2, x * 3

    a, b = _make(tc, forward=forward).apply(_x(tc))
    return a.grad_fn is kept[0], b.grad_fn is a.grad_fn, (a + b).grad_fn.next_functions[1][0] is kept[0]


def F21_exception_in_setup_and_in_hook(tc):
    class Made(tc.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            raise LookupError("mine")

        @staticmethod
        def backward(ctx, grad):
            return grad

    return raised(lambda: Made.apply(_x(tc)), "mine"), tc.is_grad_enabled()


def F21_stop_iteration_and_keyboard(tc):
    def fail(error):
        def backward(ctx, grad):
            raise error

        return raised(lambda: _make(tc, backward=backward).apply(_x(tc)).sum().backward())

    return fail(StopIteration()), fail(AssertionError("x")), fail(MemoryError())


def A2_gradient_held_by_the_user(tc):
    x = _x(tc)
    (x * 2).sum().backward()
    held = x.grad
    x.grad = None
    (x * 3).sum().backward()
    return held, x.grad


def A3_after_assignment(tc):
    x = tc.ones(2, 3, requires_grad=True)
    x.grad = tc.zeros(3, 2).t()
    quietly(lambda: x.sum().backward())  # the layout contract is broken, which warns once
    return x.grad.stride(), x.grad


def X7_graph_dies_with_the_last_output(tc):
    class Token:
        pass

    x = _x(tc)
    y = x * 2
    y.grad_fn.metadata["token"] = token = Token()
    token = weakref.ref(token)
    z = y.exp()
    del y
    alive = token() is not None
    del z
    return alive, token() is None


def L10_detached_hooks(tc):
    x = _x(tc)
    y = x * 2
    y.register_hook(lambda grad: grad * 100)
    d = y.detach().requires_grad_()
    (d * 3).sum().backward()
    return d.grad, d._backward_hooks, x.grad


def L13_data_swap_between_passes(tc):
    x = _x(tc)
    y = (x * 3).sum()
    x.data = tc.tensor([10.0, 20.0])
    y.backward()
    (x * x).sum().backward()
    return x.grad


def G5_of_in_place_operations(tc):
    a = _x(tc) * 1
    old = a.grad_fn
    a.add_(1).mul_(2)
    return (
        a.grad_fn.name(),
        a.grad_fn.next_functions[0][0].name(),
        a.grad_fn.next_functions[0][0].next_functions[0][0] is old,
    )


def G1_of_copies(tc):
    a, b = tc.zeros(2), _x(tc)
    c = a.copy_(b)
    return better(
        (c is a, a.grad_fn.name()),
        torch=(True, "tc::autograd::CopyBackwards"),
        wengert=(True, "CopyBackwards"),
        why="copy_ is a row of the table like any other",
    )


test_program = differential(globals())
