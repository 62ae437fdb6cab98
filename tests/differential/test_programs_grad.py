"""Section 3 of the semantics: grad(), and what both refuse."""

from collections import OrderedDict, UserDict

from tests.differential.fixtures import a_function, a_leaf, two_leaves
from tests.differential.observation import better, differential, raised, warned


def _returning(tc, make):
    class Returning(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return make(grad)

    return Returning


def B8_grad(tc):
    x, y = two_leaves(tc)
    z = x * x * y
    result = tc.autograd.grad(z, [y, x], tc.ones(2))
    single = tc.autograd.grad((x * x).sum(), x)
    return result, type(result).__name__, single, x.grad, y.grad


def B8_containers(tc):
    x, y = two_leaves(tc)
    z = (x * y).sum()
    asked = {"a": x, "b": y}
    by_name = tc.autograd.grad(z, asked, retain_graph=True)
    return by_name, type(by_name).__name__, tc.autograd.grad(z, (x, x, y))


def B8_subclass_of_dict(tc):
    x, y = two_leaves(tc)

    def names():
        return list(tc.autograd.grad((x * y).sum(), OrderedDict(b=y, a=x)))

    return better(raised(names), torch=("TypeError", ""), wengert=None, why="a subclass of dict is a dict")


def B8_several_outputs(tc):
    x = a_leaf(tc)
    return tc.autograd.grad([(x * 2).sum(), x * 3], x, [None, tc.tensor([1.0, 10.0])])


def B8_leaf_nodes_do_not_run(tc):
    x = a_leaf(tc)
    seen = []
    y = x * 2
    y.grad_fn.next_functions[0][0].register_prehook(lambda *_: seen.append("pre"))
    y.grad_fn.next_functions[0][0].register_hook(lambda *_: seen.append("post"))
    tc.autograd.grad(y.sum(), x)
    return seen, x.grad


def B8_output_is_input(tc):
    x = a_leaf(tc)
    y = x * 2
    return tc.autograd.grad(y, y, tc.tensor([5.0, 6.0])), tc.autograd.grad(x, x, tc.tensor([5.0, 6.0]))


def B8_output_and_input_of_it(tc):
    x = a_leaf(tc)
    y = x * 2
    return tc.autograd.grad([y, x], [x, y], [tc.ones(2), tc.full((2,), 10.0)])


def B8_misuse(tc):
    x = a_leaf(tc)
    z = (x * 2).sum()
    return (
        raised(lambda: tc.autograd.grad(z, []), "cannot be empty"),
        raised(lambda: tc.autograd.grad(z, {}), "cannot be empty"),
        raised(lambda: tc.autograd.grad(z, tc.ones(1)), "One of the differentiated Tensors does not require grad"),
        raised(lambda: tc.autograd.grad(tc.ones(()), x)),
        raised(lambda: tc.autograd.grad(z, UserDict(x=x))),
        raised(lambda: tc.autograd.grad(z, [3])),
        raised(lambda: tc.autograd.grad(z, None)),
    )


def B8_only_inputs(tc):
    x = a_leaf(tc)
    return warned(lambda: tc.autograd.grad(x.sum(), x, only_inputs=False), "only_inputs argument is deprecated")


def B9_allow_unused(tc):
    x, y = two_leaves(tc)
    z = (x * 2).sum()
    return (
        tc.autograd.grad(z, [x, y], allow_unused=True, retain_graph=True),
        raised(
            lambda: tc.autograd.grad(z, [x, y], retain_graph=True),
            "appears to not have been used in the graph. Set allow_unused=True",
        ),
        raised(lambda: tc.autograd.grad(z, y, allow_unused=False, retain_graph=True)),
    )


def B9_in_the_graph_but_without_gradient(tc):
    Nothing = a_function(tc, forward=lambda ctx, x: x * 2, backward=lambda ctx, grad: None)
    x = a_leaf(tc)
    z = Nothing.apply(x).sum()
    return tc.autograd.grad(z, x, allow_unused=True), raised(
        lambda: tc.autograd.grad(Nothing.apply(x).sum(), x), "appears to not have been used in the graph"
    )


def B10_materialize_grads(tc):
    x, y = two_leaves(tc)
    z = (x * 2).sum()
    plain = tc.autograd.grad(z, [x, y], materialize_grads=True, retain_graph=True)
    recorded = tc.autograd.grad(z, [x, y], materialize_grads=True, create_graph=True)
    return plain, [g.requires_grad for g in plain], [g.requires_grad for g in recorded]


def B10_misuse(tc):
    x, y = two_leaves(tc)
    edge = tc.autograd.graph.get_gradient_edge(y * 2)
    return (
        raised(lambda: tc.autograd.grad(x.sum(), y, allow_unused=False, materialize_grads=True)),
        raised(lambda: tc.autograd.grad(x.sum(), edge, materialize_grads=True)),
        tc.autograd.grad(x.sum(), y, allow_unused=True, materialize_grads=True),
    )


def B11_is_grads_batched(tc):
    x, y = two_leaves(tc)
    z = x * x * y
    return tc.autograd.grad(z, [x, y], tc.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), is_grads_batched=True)


def B11_misuse(tc):
    x = a_leaf(tc)
    return raised(
        lambda: tc.autograd.grad(x * 2, x, tc.ones(3, 3), is_grads_batched=True),
        "If `is_grads_batched=True`, we interpret the first",
    )


def B11_unused(tc):
    x, y = two_leaves(tc)
    return tc.autograd.grad(x * 2, [x, y], tc.eye(2), is_grads_batched=True, allow_unused=True)


def B12_pruning(tc):
    class Bomb(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            raise ValueError("must not run")

    x, y = two_leaves(tc)
    z = (x * 2 + Bomb.apply(y)).sum()
    (g,) = tc.autograd.grad(z, x, retain_graph=True)
    z.backward(inputs=[x], retain_graph=True)
    return g, x.grad, raised(z.backward, "must not run")


def B12_only_the_path_runs(tc):
    x, y = two_leaves(tc)
    a, b = x * 2, y * 3
    seen = []
    a.grad_fn.register_hook(lambda *_: seen.append("a"))
    b.grad_fn.register_hook(lambda *_: seen.append("b"))
    c = (a * b).sum()
    tc.autograd.grad(c, x, retain_graph=True)
    tc.autograd.grad(c, b, retain_graph=True)
    return seen


def B13_undefined_gradients(tc):
    Nothing = a_function(tc, forward=lambda ctx, x: x * 2, backward=lambda ctx, grad: None)
    x = a_leaf(tc)
    seen = []
    y = x * 3
    y.register_hook(lambda grad: seen.append(grad))
    x.register_hook(lambda grad: seen.append(grad))
    Nothing.apply(y).sum().backward()
    return seen, x.grad


def B13_mixed_with_defined(tc):
    Nothing = a_function(tc, forward=lambda ctx, x: x * 2, backward=lambda ctx, grad: None)
    x = a_leaf(tc)
    y = x * 3
    (Nothing.apply(y) + y).sum().backward()
    return x.grad


def B14_fitted(tc):
    results = []
    for make in (
        lambda grad: tc.ones(3, 2),
        lambda grad: tc.ones(1, 2),
        lambda grad: tc.ones(2, dtype=tc.float64),
        lambda grad: tc.ones(2, dtype=tc.int64),
        lambda grad: tc.ones(2, 1).expand(2, 2),
    ):
        x = a_leaf(tc)
        _returning(tc, make).apply(x).sum().backward()
        results.append(x.grad)
    return results


def B14_misuse(tc):
    x = a_leaf(tc)

    def failing(make, fragment):
        return raised(lambda: _returning(tc, make).apply(x).sum().backward(), fragment)

    return (
        failing(
            lambda grad: tc.ones(3),
            "returned an invalid gradient at index 0 - got [3] but expected shape compatible with [2]",
        ),
        failing(lambda grad: tc.ones(()), "returned an invalid gradient at index 0"),
        failing(lambda grad: tc.ones(2, dtype=tc.complex64), ""),
    )


def B14_complex_input_takes_real_gradient(tc):
    z = tc.ones(2, dtype=tc.complex64, requires_grad=True)
    out = _returning(tc, lambda grad: tc.ones(2)).apply(z)
    out.real.sum().backward()
    return z.grad


def B15_zero_elements(tc):
    x = tc.ones(0, 3, requires_grad=True)
    (x * 2).sum().backward()
    y = tc.tensor(2.0, requires_grad=True)
    (y * y).backward()
    z = tc.ones(3, 0, requires_grad=True)
    z.backward(tc.ones(3, 0))
    return tuple(x.grad.shape), y.grad, tuple(z.grad.shape)


def B15_mixed_with_broadcast(tc):
    x = tc.ones(0, requires_grad=True)
    b = tc.ones(1, requires_grad=True)
    (x + b).sum().backward()
    return x.grad, b.grad


def B16_edges_as_roots(tc):
    x = a_leaf(tc)
    y = x * 2
    edge = tc.autograd.graph.get_gradient_edge(y)
    scalar = tc.autograd.graph.get_gradient_edge((x * 3).sum())
    del y
    tc.autograd.backward(edge, tc.ones(2))
    first = x.grad.clone()
    tc.autograd.backward([scalar])
    return first, x.grad, tc.autograd.grad(tc.autograd.graph.get_gradient_edge(x * 5), x, tc.ones(2))


def B16_misuse(tc):
    x = a_leaf(tc)
    edge = tc.autograd.graph.get_gradient_edge(x * 2)
    return (
        raised(lambda: tc.autograd.backward(edge), "grad can be implicitly created only for scalar outputs"),
        raised(lambda: tc.autograd.backward(edge, tc.ones(3)), "Mismatch in shape"),
    )


def B8_no_alias_between_results(tc):
    x, y = two_leaves(tc)
    a, b = tc.autograd.grad((x + y).sum(), [x, y])
    return better(
        a.data_ptr() == b.data_ptr(),
        torch=True,
        wengert=False,
        why="the two gradients of a sum never share memory",
    )


test_program = differential(globals())
