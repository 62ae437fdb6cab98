"""Section 1 of the semantics: the graph and its nodes."""

import gc
import weakref

from tests.differential.observation import better, differential, quietly, raised


def _ab(tc):
    return tc.tensor([1.0, 2.0], requires_grad=True), tc.tensor([3.0, 4.0], requires_grad=True)


def G1_same_object(tc):
    a, b = _ab(tc)
    c = a * b
    return a.grad_fn, c.grad_fn is c.grad_fn, hash(c.grad_fn) == hash(c.grad_fn), (c + 1).grad_fn == (c + 1).grad_fn


def G1_identity_through_next_functions(tc):
    a, b = _ab(tc)
    c = a * b
    d = c.exp()
    return d.grad_fn.next_functions[0][0] is c.grad_fn, {c.grad_fn: 1}[d.grad_fn.next_functions[0][0]]


def G1_attributes_survive(tc):
    a, b = _ab(tc)
    d = (a * b).exp()
    try:
        d.grad_fn.next_functions[0][0].mark = 5
        gc.collect()
        mark = d.grad_fn.next_functions[0][0].mark
    except AttributeError:
        mark = "not allowed"
    return better(mark, torch="not allowed", wengert=5, why="a node takes attributes, which live as long as it does")


def G1_assignment(tc):
    a, b = _ab(tc)
    c = a * b
    return raised(lambda: setattr(c, "grad_fn", None)), raised(lambda: setattr(a, "grad_fn", c.grad_fn))


def G1_view_of_changed_base(tc):
    a, _ = _ab(tc)
    base = a * 2
    view = base[0:1]
    before = view.grad_fn
    base.mul_(3)
    after = view.grad_fn
    return before.name(), after is before, after.name(), view.grad_fn is after


def G1_stale_no_grad_view(tc):
    a, _ = _ab(tc)
    base = a * 2
    with tc.no_grad():
        view = base[0:1]
    base.mul_(3)
    return raised(lambda: view.grad_fn, "A view was created in no_grad mode")


def G1_stale_multi_output_view(tc):
    a, _ = _ab(tc)
    base = a * 2
    first, _ = base.unbind()
    base.mul_(3)
    return raised(lambda: first.grad_fn, "is a view and its base or another view of its base has been modified inplace")


def G1_dies_with_the_tensor(tc):
    a, b = _ab(tc)
    c = a * b

    class Token:
        pass

    c.grad_fn.metadata["token"] = token = Token()
    token = weakref.ref(token)
    alive = token() is not None
    del c
    return alive, token() is None


def G2_output_nr(tc):
    a, _ = _ab(tc)
    x, y = a.unbind()
    values, indices = a.sort()
    return a.output_nr, x.output_nr, y.output_nr, values.output_nr, indices.output_nr, (a * 2).output_nr


def G2_assignment(tc):
    return raised(lambda: setattr(tc.ones(1), "output_nr", 1))


def G3_is_leaf(tc):
    a, _ = _ab(tc)
    with tc.no_grad():
        unrecorded = a * 2
    return (
        a.is_leaf,
        (a * 2).is_leaf,
        tc.ones(1).is_leaf,
        (tc.ones(1) * 2).is_leaf,
        unrecorded.is_leaf,
        a.detach().is_leaf,
        a.argmax().is_leaf,
        a[0].is_leaf,
    )


def G3_assignment(tc):
    return raised(lambda: setattr(tc.ones(1), "is_leaf", False))


def G4_names(tc):
    a, b = _ab(tc)
    m = a.reshape(1, 2)
    outputs = [
        a + b,
        a - b,
        a * b,
        a / b,
        -a,
        a**2,
        a**b,
        2**a,
        a.exp(),
        a.log(),
        a.sqrt(),
        a.sin(),
        a.tanh(),
        a.sigmoid(),
        a.relu(),
        a.abs(),
        a.sum(),
        a.mean(),
        a.prod(),
        a.max(),
        a.max(0)[0],
        a.clamp(0, 1),
        a[0],
        a[0:1],
        a[tc.tensor([0, 1])],
        a.clone(),
        a.view(2, 1),
        m,
        m.t(),
        m.transpose(0, 1),
        m.permute(1, 0),
        a.expand(2, 2),
        a.unsqueeze(0),
        m.squeeze(0),
        m @ m.t(),
        m.mm(m.t()),
        a.dot(b),
        tc.cat([a, b]),
        tc.stack([a, b]),
        tc.where(a > 1, a, b),
        a.unbind()[0],
        a.split(1)[0],
        a.chunk(2)[0],
        a.gather(0, tc.tensor([0])),
        a.cumsum(0),
        a.norm(),
        a.std(),
        a.var(),
        a.softmax(0),
        a.log_softmax(0),
        a.logsumexp(0),
        a.double(),
        a.to(tc.float64),
        a.masked_fill(a > 1, 0.0),
        a.flip(0),
        a.repeat(2),
        a.roll(1),
        tc.maximum(a, b),
        tc.outer(a, b),
    ]
    return [output.grad_fn.name() for output in outputs]


def G4_names_along_dimensions(tc):
    a, _ = _ab(tc)
    return better(
        [a.sum(0).grad_fn.name(), a.mean(0).grad_fn.name(), tc.zeros(2).copy_(a).grad_fn.name()],
        torch=["SumBackward1", "MeanBackward1", "tc::autograd::CopyBackwards"],
        wengert=["SumBackward1", "MeanBackward1", "CopyBackwards"],
        why="names of nodes have no namespace where it says nothing",
    )


def G4_special_names(tc):
    a, _ = _ab(tc)
    base = a * 2
    base[0:1].mul_(3)
    accumulate = a.view_as(a).grad_fn.next_functions[0][0]
    return (
        accumulate.name(),
        type(accumulate).__name__,
        base.grad_fn.name(),
        type(base.grad_fn).__name__,
        type((a * 2).grad_fn).__name__,
    )


def G5_next_functions_of_two_tensors(tc):
    a, b = _ab(tc)
    return (a * b).grad_fn.next_functions, (a * b.detach()).grad_fn.next_functions


def G5_next_functions_of_mul_by_number(tc):
    a, _ = _ab(tc)
    return (a * 2).grad_fn.next_functions, (2 * a).grad_fn.next_functions


def G5_next_functions_of_more_operations(tc):
    a, b = _ab(tc)
    return [
        output.grad_fn.next_functions
        for output in (
            a + 1,
            a - 1,
            1 + a,
            a / 2,
            a**2,
            a**b,
            2**a,
            a.sum(),
            a.max(0)[0],
            tc.cat([a, b.detach(), b]),
            tc.where(a > 1, a, 0.0),
            tc.where(a > 1, b.detach(), a),
            a.clone(),
            a.reshape(1, 2) @ b,
            tc.maximum(a, b),
            tc.addcmul(a, a, b),
        )
    ]


def G5_number_first(tc):
    a, _ = _ab(tc)
    accumulate = (("node", "tc::autograd::AccumulateGrad"), 0)
    return better(
        [(1 - a).grad_fn.next_functions, (2 / a).grad_fn.next_functions],
        torch=[(accumulate,), ((("node", "ReciprocalBackward0"), 0), (None, 0))],
        wengert=[((None, 0), accumulate)] * 2,
        why="one node of the operation itself, with its arguments in order",
    )


def G5_input_numbers(tc):
    a, _ = _ab(tc)
    x, y = a.unbind()
    return (x * y).grad_fn.next_functions, (y * y).grad_fn.next_functions


def G5_assignment(tc):
    node = (_ab(tc)[0] * 2).grad_fn
    return raised(lambda: setattr(node, "next_functions", ())), type(node.next_functions).__name__


def G6_metadata(tc):
    a, b = _ab(tc)
    c = a * b
    c.grad_fn.metadata["key"] = "value"
    d = c.exp()
    del c
    return (
        d.grad_fn.next_functions[0][0].metadata,
        d.grad_fn.metadata,
        raised(lambda: setattr(d.grad_fn, "metadata", {})),
    )


def G7_input_metadata(tc):
    a, _ = _ab(tc)
    (m,) = (a.reshape(1, 2) * 2).grad_fn._input_metadata
    two = a.sort()[0].grad_fn._input_metadata
    return tuple(m.shape), m.dtype, m.device, m.is_nested_tensor, m.is_cpp_nested_tensor, len(two), tuple(two[0].shape)


def G7_of_accumulate_grad(tc):
    a = tc.ones(2, 3, dtype=tc.float64, requires_grad=True)
    node = a.view_as(a).grad_fn.next_functions[0][0]
    return len(node._input_metadata), tuple(node._input_metadata[0].shape), node._input_metadata[0].dtype


def G8_sequence_nr(tc):
    a, _ = _ab(tc)
    first = a * 2
    second = a * 3
    accumulate = first.grad_fn.next_functions[0][0]
    return second.grad_fn._sequence_nr() - first.grad_fn._sequence_nr(), accumulate._sequence_nr() == 2**64 - 1


def G8_set_sequence_nr(tc):
    a, _ = _ab(tc)
    order = []
    first, second = a * 2, a * 3
    first.grad_fn.register_hook(lambda *_: order.append("first"))
    second.grad_fn.register_hook(lambda *_: order.append("second"))
    first.grad_fn._set_sequence_nr(second.grad_fn._sequence_nr() + 100)
    (first + second).sum().backward()
    return (
        order,
        raised(lambda: first.grad_fn._set_sequence_nr("x")),
        raised(lambda: first.grad_fn._set_sequence_nr(1.5)),
    )


def G9_requires_grad(tc):
    a, _ = _ab(tc)
    c = a * 2
    return c.grad_fn.requires_grad, c.grad_fn.next_functions[0][0].requires_grad


def G10_variable(tc):
    a, _ = _ab(tc)
    c = a * 2
    return c.grad_fn.next_functions[0][0].variable is a, raised(lambda: c.grad_fn.variable)


def G11_call(tc):
    a, b = _ab(tc)
    c = a * b
    one = tc.ones(2)
    return c.grad_fn(one), (a * 2).grad_fn(one), a.exp().grad_fn(one), c.grad_fn(None)


def G11_call_is_tracked(tc):
    a, b = _ab(tc)
    node = (a * b).grad_fn
    with tc.no_grad():
        untracked = node(tc.ones(2))[0].requires_grad
    return node(tc.ones(2))[0].requires_grad, untracked


def G11_call_accumulate_grad(tc):
    a, _ = _ab(tc)
    node = a.view_as(a).grad_fn.next_functions[0][0]
    result = node(tc.tensor([5.0, 6.0]))
    return result, a.grad, node(None), a.grad


def G11_misuse(tc):
    a, b = _ab(tc)
    node = (a * b).grad_fn
    return (
        raised(lambda: node(), "expected 1 arguments, got 0 instead"),
        raised(lambda: node(tc.ones(2), tc.ones(2)), "expected 1 arguments, got 2 instead"),
        raised(lambda: node(3)),
    )


def G12_node_abc(tc):
    a, b = _ab(tc)
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
    a, _ = _ab(tc)
    out = tc._C._functions.DelayedError("my message", 1)(a)
    return out, out.requires_grad, raised(lambda: out.sum().backward(), "my message")


def G13_undefined_grad(tc):
    a, _ = _ab(tc)
    out = tc._C._functions.UndefinedGrad()(a)
    (out * 2).sum().backward()
    return out, a.grad


def G14_gradient_edge(tc):
    a, _ = _ab(tc)
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
    a, _ = _ab(tc)
    y = a.exp().clone()
    edge = tc.autograd.graph.get_gradient_edge(y)
    z = y * 3
    y.mul_(10)
    return tc.autograd.grad((z + y).sum(), [edge], retain_graph=True), tc.autograd.grad((z + y).sum(), [y])


def G15_of_leaf_and_of_custom_function(tc):
    a, _ = _ab(tc)

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
    a, _ = _ab(tc)
    with tc.no_grad():
        edge = tc.autograd.graph.get_gradient_edge(a)
    return edge.node.variable is a


def G16_graph_task_id(tc):
    a, _ = _ab(tc)
    ids = []
    a.register_hook(lambda grad: ids.append(tc._C._current_graph_task_id()))
    a.sum().backward()
    tc.autograd.grad(a.sum(), a)
    return tc._C._current_graph_task_id(), ids[1] > ids[0] >= 0


def G16_nested(tc):
    a, _ = _ab(tc)
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
    a, _ = _ab(tc)
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
    a, _ = _ab(tc)
    seen = []
    a.register_hook(lambda grad: seen.append(raised(tc._C._current_graph_task_execution_order)[0]))
    a.sum().backward()
    return raised(tc._C._current_graph_task_execution_order, "should only be called during"), seen


def G18_will_engine_execute_node(tc):
    a, b = _ab(tc)
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
    a, _ = _ab(tc)
    y = a * 2
    z = (y * y).sum()
    seen = []
    z.register_hook(lambda grad: seen.append(tc._C._will_engine_execute_node(y.grad_fn)))
    tc.autograd.grad(z, y)
    return seen


def G18_misuse(tc):
    a, _ = _ab(tc)
    y = a * 2
    seen = []
    leaf = y.grad_fn.next_functions[0][0]
    y.register_hook(lambda grad: seen.append(raised(lambda: tc._C._will_engine_execute_node(3), "expects an grad_fn")))
    y.sum().backward()
    return seen, raised(lambda: tc._C._will_engine_execute_node(leaf))


def G18_leaf_in_grad(tc):
    a, _ = _ab(tc)
    y = a * 2
    leaf = y.grad_fn.next_functions[0][0]
    seen = []
    y.register_hook(lambda grad: seen.append(raised(lambda: tc._C._will_engine_execute_node(leaf))))
    tc.autograd.grad(y.sum(), a)
    return seen


def G19_current_node(tc):
    a, _ = _ab(tc)
    y = a.exp()
    seen = []
    y.grad_fn.register_hook(lambda *_: seen.append(tc._C._current_autograd_node() is y.grad_fn))
    y.grad_fn.register_prehook(lambda *_: seen.append(tc._C._current_autograd_node() is y.grad_fn))
    y.sum().backward()
    return seen, tc._C._current_autograd_node()


def G19_in_tensor_and_leaf_hooks(tc):
    a, _ = _ab(tc)
    y = a.exp()
    seen = []
    y.register_hook(lambda *_: seen.append(tc._C._current_autograd_node().name()))
    a.register_hook(lambda *_: seen.append(tc._C._current_autograd_node().name()))
    a.register_post_accumulate_grad_hook(lambda *_: seen.append(tc._C._current_autograd_node().name()))
    y.sum().backward()
    return seen


def G19_restored_after_errors(tc):
    a, _ = _ab(tc)
    y = a.exp()

    def fail(grad):
        raise ValueError("mine")

    y.register_hook(fail)
    return raised(lambda: y.sum().backward(), "mine"), tc._C._current_autograd_node()


def G20_keep_graph(tc):
    a, _ = _ab(tc)
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
    a, b = _ab(tc)
    return repr(a), repr(a * b), repr(a.detach()), str(a), repr((a * b)[0]), repr(a.sum())


def G21_invalid(tc):
    a, _ = _ab(tc)
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
