"""Section 1 of the semantics: what is asked of a graph."""

from tests.differential.fixtures import two_leaves
from tests.differential.observation import differential, quietly, raised


def G11_call(tc):
    a, b = two_leaves(tc)
    c = a * b
    one = tc.ones(2)
    return c.grad_fn(one), (a * 2).grad_fn(one), a.exp().grad_fn(one), c.grad_fn(None)


def G11_call_is_tracked(tc):
    a, b = two_leaves(tc)
    node = (a * b).grad_fn
    with tc.no_grad():
        untracked = node(tc.ones(2))[0].requires_grad
    return node(tc.ones(2))[0].requires_grad, untracked


def G11_call_accumulate_grad(tc):
    a, _ = two_leaves(tc)
    node = a.view_as(a).grad_fn.next_functions[0][0]
    result = node(tc.tensor([5.0, 6.0]))
    return result, a.grad, node(None), a.grad


def G11_misuse(tc):
    a, b = two_leaves(tc)
    node = (a * b).grad_fn
    return (
        raised(lambda: node(), "expected 1 arguments, got 0 instead"),
        raised(lambda: node(tc.ones(2), tc.ones(2)), "expected 1 arguments, got 2 instead"),
        raised(lambda: node(3)),
    )


def G12_node_abc(tc):
    a, b = two_leaves(tc)
    node = (a * b).grad_fn
    Node = tc.autograd.graph.Node
    return (
        isinstance(node, Node),
        issubclass(type(node), Node),
        Node in type(node).mro(),
        isinstance(3, Node),
        issubclass(int, Node),
        raised(Node),
        isinstance(node.next_functions[0][0], Node),
        type(node) is getattr(tc._C._functions, "MulBackward0"),  # noqa: B009
    )


def G12_custom_function_nodes(tc):
    class Double(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    node = Double.apply(tc.ones(1, requires_grad=True)).grad_fn
    Node = tc.autograd.graph.Node
    return (
        isinstance(node, Node),
        issubclass(type(node), Node),
        Node in type(node).mro(),
        node.name(),
        issubclass(Double, Node),
    )


def G13_delayed_error(tc):
    a, _ = two_leaves(tc)
    out = tc._C._functions.DelayedError("my message", 1)(a)
    return out, out.requires_grad, raised(lambda: out.sum().backward(), "my message")


def G13_undefined_grad(tc):
    a, _ = two_leaves(tc)
    out = tc._C._functions.UndefinedGrad()(a)
    (out * 2).sum().backward()
    return out, a.grad


def G14_gradient_edge(tc):
    a, _ = two_leaves(tc)
    y = a * 2
    edge = tc.autograd.graph.get_gradient_edge(y)
    other = tc.autograd.graph.GradientEdge(y.grad_fn, 0)
    (g,) = tc.autograd.grad((y * y).sum(), [edge], retain_graph=True)
    return (
        edge._fields,
        edge.output_nr,
        edge.node is y.grad_fn,
        g,
        tc.autograd.grad(other, a, tc.ones(2)),
        other.ownership_token,
    )


def G14_survives_in_place(tc):
    a, _ = two_leaves(tc)
    y = a.exp().clone()
    edge = tc.autograd.graph.get_gradient_edge(y)
    z = y * 3
    y.mul_(10)
    return tc.autograd.grad((z + y).sum(), [edge], retain_graph=True), tc.autograd.grad((z + y).sum(), [y])


def G15_of_leaf_and_of_custom_function(tc):
    a, _ = two_leaves(tc)

    class Double(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    leaf = tc.autograd.graph.get_gradient_edge(a)
    custom = tc.autograd.graph.get_gradient_edge(Double.apply(a))
    return (
        leaf.node.name(),
        leaf.output_nr,
        custom.node.name(),
        custom.ownership_token is None,
        tc.autograd.grad(custom, a, tc.ones(2)),
        raised(lambda: tc.autograd.graph.get_gradient_edge(tc.ones(1)), "does not require gradients"),
    )


def G15_leaf_edge_in_no_grad(tc):
    a, _ = two_leaves(tc)
    with tc.no_grad():
        edge = tc.autograd.graph.get_gradient_edge(a)
    return edge.node.variable is a


def G16_graph_task_id(tc):
    a, _ = two_leaves(tc)
    ids = []
    a.register_hook(lambda grad: ids.append(tc._C._current_graph_task_id()))
    a.sum().backward()
    tc.autograd.grad(a.sum(), a)
    return tc._C._current_graph_task_id(), ids[1] > ids[0] >= 0


def G16_nested(tc):
    a, _ = two_leaves(tc)
    ids = []

    def inner(grad):
        ids.append(tc._C._current_graph_task_id())
        with tc.enable_grad():
            b = tc.ones(1, requires_grad=True)
            b.register_hook(lambda grad: ids.append(tc._C._current_graph_task_id()))
            b.sum().backward()
        ids.append(tc._C._current_graph_task_id())

    a.register_hook(inner)
    a.sum().backward()
    return ids[0] == ids[2], ids[1] > ids[0]


def G17_execution_order(tc):
    a, _ = two_leaves(tc)
    predicted, ran = [], []
    y = a.sin()
    z = (y.exp() + y.cos()).sum()
    z.register_hook(lambda grad: predicted.extend(tc._C._current_graph_task_execution_order()))
    stack, seen = [z.grad_fn], set()
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            node.register_prehook(lambda grads: ran.append(tc._C._current_autograd_node().name()))
            stack += [child for child, _ in node.next_functions if child is not None]
    with tc.autograd.set_multithreading_enabled(False):
        z.backward()
    return [node.name() for node in predicted] == ran, [node.name() for node in predicted]


def G17_misuse(tc):
    a, _ = two_leaves(tc)
    seen = []
    a.register_hook(lambda grad: seen.append(raised(tc._C._current_graph_task_execution_order)[0]))
    a.sum().backward()
    return raised(tc._C._current_graph_task_execution_order, "should only be called during"), seen


def G18_will_engine_execute_node(tc):
    a, b = two_leaves(tc)
    y, other = a * 2, b * 3
    z = (y * y).sum()
    seen = []
    z.register_hook(
        lambda grad: seen.append(
            [
                tc._C._will_engine_execute_node(y.grad_fn),
                tc._C._will_engine_execute_node(other.grad_fn),
                tc._C._will_engine_execute_node(y.grad_fn.next_functions[0][0]),
            ]
        )
    )
    z.backward(retain_graph=True)
    z.backward(inputs=[a], retain_graph=True)
    z.backward(inputs=[y], retain_graph=True)
    return seen


def G18_captures_count(tc):
    a, _ = two_leaves(tc)
    y = a * 2
    z = (y * y).sum()
    seen = []
    z.register_hook(lambda grad: seen.append(tc._C._will_engine_execute_node(y.grad_fn)))
    tc.autograd.grad(z, y)
    return seen


def G18_misuse(tc):
    a, _ = two_leaves(tc)
    y = a * 2
    seen = []
    leaf = y.grad_fn.next_functions[0][0]
    y.register_hook(lambda grad: seen.append(raised(lambda: tc._C._will_engine_execute_node(3), "expects an grad_fn")))
    y.sum().backward()
    return seen, raised(lambda: tc._C._will_engine_execute_node(leaf))


def G18_leaf_in_grad(tc):
    a, _ = two_leaves(tc)
    y = a * 2
    leaf = y.grad_fn.next_functions[0][0]
    seen = []
    y.register_hook(lambda grad: seen.append(raised(lambda: tc._C._will_engine_execute_node(leaf))))
    tc.autograd.grad(y.sum(), a)
    return seen


def G19_current_node(tc):
    a, _ = two_leaves(tc)
    y = a.exp()
    seen = []
    y.grad_fn.register_hook(lambda *_: seen.append(tc._C._current_autograd_node() is y.grad_fn))
    y.grad_fn.register_prehook(lambda *_: seen.append(tc._C._current_autograd_node() is y.grad_fn))
    y.sum().backward()
    return seen, tc._C._current_autograd_node()


def G19_in_tensor_and_leaf_hooks(tc):
    a, _ = two_leaves(tc)
    y = a.exp()
    seen = []
    y.register_hook(lambda *_: seen.append(tc._C._current_autograd_node().name()))
    a.register_hook(lambda *_: seen.append(tc._C._current_autograd_node().name()))
    a.register_post_accumulate_grad_hook(lambda *_: seen.append(tc._C._current_autograd_node().name()))
    y.sum().backward()
    return seen


def G19_restored_after_errors(tc):
    a, _ = two_leaves(tc)
    y = a.exp()

    def fail(grad):
        raise ValueError("mine")

    y.register_hook(fail)
    return raised(lambda: y.sum().backward(), "mine"), tc._C._current_autograd_node()


def G20_keep_graph(tc):
    a, _ = two_leaves(tc)
    y = a.exp()
    seen = []
    y.register_hook(lambda grad: seen.append(tc._C._autograd._get_current_graph_task_keep_graph()))
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    z = a.exp()
    z.register_hook(lambda grad: seen.append(tc._C._autograd._get_current_graph_task_keep_graph()))
    tc.autograd.grad(z.sum(), a, create_graph=True)
    return seen


def G21_repr(tc):
    a, b = two_leaves(tc)
    return repr(a), repr(a * b), repr(a.detach()), str(a), repr((a * b)[0]), repr(a.sum())


def G21_invalid(tc):
    a, _ = two_leaves(tc)
    base = a * 2
    with tc.no_grad():
        view = base[0:1]
    base.mul_(3)
    return repr(view)


def G21_custom_function_and_dtype(tc):
    class Same(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return grad

    a = tc.ones(2, dtype=tc.float64, requires_grad=True)
    return repr(a), repr(Same.apply(a)), repr(a.sum())


def G21_dual(tc):
    def run():
        with tc.autograd.forward_ad.dual_level():
            dual = tc.autograd.forward_ad.make_dual(tc.tensor([1.0]), tc.tensor([2.0]))
            inside = repr(dual)
        return inside, repr(dual)

    return quietly(run)


test_program = differential(globals())
