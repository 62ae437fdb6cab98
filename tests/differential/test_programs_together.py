"""Rows of several sections at work together: graph, leaves, backward."""

import gc

from tests.differential.fixtures import a_function, a_leaf
from tests.differential.observation import better, differential, raised


def G11_calling_a_node_runs_no_hooks(tc):
    y = a_leaf(tc) * 2
    seen = []
    y.register_hook(lambda grad: seen.append("tensor"))
    y.grad_fn.register_prehook(lambda grads: seen.append("pre"))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append("post"))
    return y.grad_fn(tc.ones(2)), seen


def G11_calling_a_freed_node(tc):
    y = a_leaf(tc).exp()
    y.sum().backward()
    return raised(lambda: y.grad_fn(tc.ones(2)), "second time")


def G11_walking_the_graph_by_hand(tc):
    x = a_leaf(tc)
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
    x = a_leaf(tc)
    a, b = x.unbind()
    edges = [tc.autograd.graph.get_gradient_edge(t) for t in (a, b)]
    return [edge.output_nr for edge in edges], tc.autograd.grad(a * 2 + b * 3, edges)


def G14_edge_outlives_the_tensor(tc):
    x = a_leaf(tc)
    y = x.exp()
    edge = tc.autograd.graph.get_gradient_edge(y)
    del y
    gc.collect()
    return tc.autograd.grad(edge, x, tc.ones(2))


def G18_inside_custom_backward(tc):
    seen = []
    x, z = a_leaf(tc), a_leaf(tc)
    y = z * 3

    def backward(ctx, grad):
        seen.append(tc._C._will_engine_execute_node(y.grad_fn))
        return grad, grad

    out = a_function(tc, forward=lambda ctx, a, b: a + b, backward=backward).apply(x, y).sum()
    tc.autograd.grad(out, x, retain_graph=True)
    out.backward()
    return seen


def G19_is_the_context_in_backward(tc):
    seen = []
    Made = a_function(tc, backward=lambda ctx, grad: seen.append(tc._C._current_autograd_node() is ctx) or grad)
    Made.apply(a_leaf(tc)).sum().backward()
    return seen


def L14_set_with_pending_graph(tc):
    x = a_leaf(tc)
    y = (x * x).sum()
    with tc.no_grad():
        x.set_(tc.ones(2))
    return raised(y.backward, "modified by an inplace operation")


def L11_detach_in_the_middle(tc):
    x = a_leaf(tc)
    y = x * 2
    z = y * y
    y.detach_()
    w = y * x
    w.sum().backward()
    return x.grad, z.requires_grad, raised(lambda: z.sum().backward())


def L3_turned_off_after_use(tc):
    x = a_leaf(tc)
    y = x * x
    x.requires_grad_(False)
    y.sum().backward()
    return x.grad, x.requires_grad


def L8_grad_of_a_view(tc):
    x = tc.arange(4.0).reshape(2, 2).requires_grad_()
    x.t().sum().backward()
    x.grad[0, 0] = 100
    return x.grad, x.grad.stride()


def B5_error_leaves_the_rest_usable(tc):
    x, z = a_leaf(tc), a_leaf(tc)
    calls = []

    def backward(ctx, grad):
        calls.append(1)
        if len(calls) == 1:
            raise ValueError("once")
        return grad

    bad = a_function(tc, backward=backward).apply(z).exp()
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
    x = a_leaf(tc)
    y = (x[0] ** 2 * x[1]).sin() + x.prod()
    (g,) = tc.autograd.grad(y, x, create_graph=True)
    return tc.autograd.grad(g @ tc.tensor([1.0, -1.0]), x)


def B6_gradient_penalty(tc):
    x, w = a_leaf(tc), tc.tensor([3.0, -1.0], requires_grad=True)
    (g,) = tc.autograd.grad((x * w).exp().sum(), x, create_graph=True)
    ((g.norm() - 1) ** 2).backward()
    return w.grad, x.grad


def B8_grad_inside_no_grad(tc):
    x = a_leaf(tc)
    y = (x**3).sum()
    with tc.no_grad():
        (g,) = tc.autograd.grad(y, x, create_graph=True)
    return g.requires_grad, tc.autograd.grad(g.sum(), x)


def B8_with_respect_to_a_view(tc):
    x = a_leaf(tc)
    view = x[0:1]
    y = (view * 3).sum() + x.sum()
    return tc.autograd.grad(y, [view, x])


def B8_view_taken_after_use(tc):
    x = a_leaf(tc)
    y = x.sum()
    return tc.autograd.grad(y, [x[0:1]], allow_unused=True)


def B11_batched_second_order(tc):
    x = a_leaf(tc)
    (g,) = tc.autograd.grad((x**3).sum() * x[0], x, create_graph=True)
    return tc.autograd.grad(g, x, tc.eye(2), is_grads_batched=True)


def B13_undefined_to_a_multi_output_node(tc):
    x = a_leaf(tc)
    values, _ = x.sort(descending=True)
    a, b = values.unbind()
    (b * 3).backward()
    return x.grad, a.requires_grad


def B14_sum_of_broadcast_in_custom_function(tc):
    x = tc.ones(1, 3, requires_grad=True)
    y = a_function(tc, forward=lambda ctx, x: x.expand(2, 3).clone(), backward=lambda ctx, grad: grad).apply(x)
    y.sum().backward()
    return x.grad


def L10_detached_hooks(tc):
    x = a_leaf(tc)
    y = x * 2
    y.register_hook(lambda grad: grad * 100)
    d = y.detach().requires_grad_()
    (d * 3).sum().backward()
    return d.grad, d._backward_hooks, x.grad


def L13_data_swap_between_passes(tc):
    x = a_leaf(tc)
    y = (x * 3).sum()
    x.data = tc.tensor([10.0, 20.0])
    y.backward()
    (x * x).sum().backward()
    return x.grad


def G5_of_in_place_operations(tc):
    a = a_leaf(tc) * 1
    old = a.grad_fn
    a.add_(1).mul_(2)
    return (
        a.grad_fn.name(),
        a.grad_fn.next_functions[0][0].name(),
        a.grad_fn.next_functions[0][0].next_functions[0][0] is old,
    )


def G1_of_copies(tc):
    a, b = tc.zeros(2), a_leaf(tc)
    c = a.copy_(b)
    return better(
        (c is a, a.grad_fn.name()),
        torch=(True, "tc::autograd::CopyBackwards"),
        wengert=(True, "CopyBackwards"),
        why="copy_ is a row of the table like any other",
    )


test_program = differential(globals())
