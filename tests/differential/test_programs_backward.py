"""Section 3 of the semantics: backward() and grad()."""

from collections import OrderedDict, UserDict

from tests.differential.observation import better, differential, quietly, raised, warned


def _x(tc):
    return tc.tensor([1.0, 2.0], requires_grad=True)


def _xy(tc):
    return _x(tc), tc.tensor([3.0, 4.0], requires_grad=True)


def B1_tensor_backward(tc):
    x = _x(tc)
    returned = (x * x).sum().backward()
    first = x.grad.clone()
    (x * x).backward(tc.tensor([1.0, 10.0]))
    return returned, first, x.grad


def B1_keywords(tc):
    x, y = _xy(tc)
    z = x * y
    z.backward(gradient=tc.ones(2), retain_graph=True, create_graph=False, inputs=[x])
    z.backward(tc.ones(2), True, False, [x])
    return x.grad, y.grad


def B1_misuse(tc):
    return raised(
        lambda: tc.ones(1).backward(), "element 0 of tensors does not require grad and does not have a grad_fn"
    )


def B2_roots_are_summed(tc):
    x, y = _xy(tc)
    a = x * 2
    b = a * y
    tc.autograd.backward([a, b, a], [tc.ones(2), tc.ones(2), tc.full((2,), 10.0)])
    return x.grad, y.grad


def B2_accumulates(tc):
    x = _x(tc)
    for _ in range(3):
        tc.autograd.backward((x * x).sum())
    return x.grad


def B2_leaf_as_root(tc):
    x = _x(tc)
    tc.autograd.backward([x, x * 2], [tc.ones(2), tc.ones(2)])
    return x.grad


def B2_other_containers(tc):
    x = _x(tc)
    tc.autograd.backward(((x * 2).sum(), (x * 3).sum()), (None, None))
    tc.autograd.backward(iter([(x * 2).sum()]))
    return x.grad


def B2_length_mismatch(tc):
    x = _x(tc)
    return (
        raised(lambda: tc.autograd.backward([x, x], [tc.ones(2)]), "got 2 tensors and 1 gradients"),
        raised(lambda: tc.autograd.backward([x, x, x], [tc.ones(2)] * 2), "got 3 tensors and 2 gradients"),
    )


def B2_more_gradients_than_tensors(tc):
    x = _x(tc)
    return better(
        raised(lambda: tc.autograd.backward([x], [tc.ones(2)] * 2), "got 1 tensors and 2 gradients"),
        torch=None,
        wengert=("RuntimeError", "got 1 tensors and 2 gradients"),
        why="a gradient that belongs to no tensor is a mistake",
    )


def B2_root_without_grad(tc):
    x = _x(tc)
    fragment = "does not require grad and does not have a grad_fn"
    return (
        raised(lambda: tc.autograd.backward([x.sum(), tc.ones(())]), "element 1 of tensors " + fragment),
        raised(lambda: tc.autograd.backward(tc.ones(2), tc.ones(2)), "element 0 of tensors " + fragment),
        raised(lambda: tc.autograd.grad(tc.ones(()), x), fragment),
    )


def B2_grad_variables(tc):
    x = _x(tc)
    shown = warned(lambda: tc.autograd.backward(x * 2, grad_variables=tc.ones(2)), "deprecated")
    both = raised(lambda: tc.autograd.backward(x * 2, tc.ones(2), grad_variables=tc.ones(2)), "both")
    return shown, x.grad, both[0]


def B3_one_element_of_any_shape(tc):
    x = _x(tc)
    (x[0] * 3).backward()
    (x[1:] * 5).backward()
    (x[1:].reshape(1, 1, 1) * 7).backward()
    return x.grad


def B3_misuse(tc):
    x = _x(tc)
    z = tc.ones((), dtype=tc.complex64, requires_grad=True)
    scalar = "grad can be implicitly created only for scalar outputs"
    return (
        raised((x * 2).backward, scalar),
        raised(lambda: tc.autograd.grad(x * 2, x), scalar),
        raised((x[:0] * 2).backward, scalar),
        raised((z * 2).backward, "grad can be implicitly created only for real scalar outputs but got"),
    )


def B4_shape(tc):
    x = _x(tc)
    shape = "Mismatch in shape: grad_output[0] has a shape of"
    return (
        raised(lambda: (x * 2).backward(tc.ones(3)), shape),
        raised(lambda: (x * 2).backward(tc.ones(())), shape),
        raised(lambda: (x * 2).backward(tc.ones(1, 2)), "and output[0] has a shape of"),
    )


def B4_dtype(tc):
    x = _x(tc)
    z = tc.ones(2, dtype=tc.complex64, requires_grad=True)
    dtype = "required to have the same dtype"
    (x * 1).backward(tc.ones(2, dtype=tc.float64))
    first = x.grad
    (x * 1).backward(tc.tensor([1, 2]))
    (x * 1).backward(tc.tensor([True, False]))
    return (
        first.dtype,
        x.grad,
        raised(lambda: (x * 2).backward(tc.ones(2, dtype=tc.complex64)), dtype),
        raised(lambda: (z * 2).backward(tc.ones(2)), dtype),
    )


def B4_type(tc):
    x = _x(tc)
    fragment = "gradients can be either Tensors or None"
    return (
        raised(lambda: (x * 2).backward([1.0]), fragment),
        raised(lambda: tc.autograd.backward([x * 2], [1.0]), fragment),
        raised(lambda: tc.autograd.backward([x * 2], ["a"]), fragment),
    )


def B5_second_pass(tc):
    x = _x(tc)
    y = x.exp()
    z = (y * y).sum()
    z.backward()
    return raised(z.backward, "Trying to backward through the graph a second time"), raised(
        z.backward, "Specify retain_graph=True"
    )


def B5_retain_graph(tc):
    x = _x(tc)
    z = x.exp().sum()
    z.backward(retain_graph=True)
    z.backward()
    return x.grad, raised(z.backward, "Trying to backward through the graph a second time")


def B5_nodes_without_saved_tensors(tc):
    x = _x(tc)
    z = (x + 1).sum()
    z.backward()
    z.backward()
    w = (x * x).sum()
    w.backward()
    return x.grad, raised(w.backward)


def B5_product_with_a_number(tc):
    w = (_x(tc) * 2).sum()
    w.backward()
    return better(
        raised(w.backward),
        torch=("RuntimeError", ""),
        wengert=None,
        why="a number is no saved tensor, so nothing was freed",
    )


def B5_freed_node_by_node(tc):
    x = _x(tc)
    a = x.exp()
    b = a.exp()
    tc.autograd.grad(b.sum(), a)
    (g,) = tc.autograd.grad(a.sum(), x)
    return g, raised(lambda: tc.autograd.grad(b.sum(), a), "second time")


def B5_default_is_create_graph(tc):
    x = _x(tc)
    z = (x**3).sum()
    tc.autograd.grad(z, x, create_graph=True)
    tc.autograd.grad(z, x, create_graph=True, retain_graph=False)
    return raised(lambda: tc.autograd.grad(z, x), "second time")


def B6_create_graph(tc):
    x = _x(tc)
    (g,) = tc.autograd.grad((x**3).sum(), x, create_graph=True)
    (h,) = tc.autograd.grad(g.sum(), x, create_graph=True)
    (third,) = tc.autograd.grad(h.sum(), x)
    return g, g.requires_grad, h, third, third.requires_grad


def B6_backward_records_grad(tc):
    x = _x(tc)
    quietly(lambda: (x**3).sum().backward(create_graph=True))
    recorded = x.grad.requires_grad, x.grad.grad_fn is not None
    old = x.grad
    quietly(lambda: (x**3).sum().backward(create_graph=True))
    new = x.grad
    x.grad = None
    return recorded, old is new, old, new


def B6_without_create_graph(tc):
    x = _x(tc)
    (g,) = tc.autograd.grad((x**3).sum(), x)
    return g.requires_grad, g.grad_fn, g.is_leaf


def B7_inputs(tc):
    x, y = _xy(tc)
    (x * y).sum().backward(inputs=[x])
    first = x.grad, y.grad
    (x * y).sum().backward(inputs=y)
    (x * y).sum().backward(inputs={"x": x, "y": y})
    (x * y).sum().backward(inputs=(x, x))
    return first, x.grad, y.grad


def B7_non_leaf(tc):
    x = _x(tc)
    y = x * 2
    z = (y * y).sum()
    z.backward(inputs=[y], retain_graph=True)
    first = y.grad.clone(), y.retains_grad, x.grad
    z.backward()
    return first, y.grad, x.grad


def B7_non_leaf_and_leaf(tc):
    x = _x(tc)
    y = x * 2
    (y * y).sum().backward(inputs=[x, y])
    return x.grad, y.grad, y.retains_grad


def B7_gradient_edges(tc):
    x = _x(tc)
    y = x * 2
    edge = tc.autograd.graph.get_gradient_edge(x)
    (y * y).sum().backward(inputs=[edge])
    return x.grad


def B7_unreachable(tc):
    x, y = _xy(tc)
    x.sum().backward(inputs=[y])
    return x.grad, y.grad


def B7_misuse(tc):
    x, y = _xy(tc)
    z = (x * y).sum()
    return (
        raised(lambda: z.backward(inputs=[]), "cannot be empty"),
        raised(lambda: z.backward(inputs=()), "cannot be empty"),
        raised(lambda: z.backward(inputs={}), "cannot be empty"),
        raised(lambda: z.backward(inputs=[tc.ones(1)]), "can't retain_grad"),
        raised(lambda: z.backward(inputs=[3])),
        raised(lambda: z.backward(inputs=UserDict(x=x))),
    )


def B8_grad(tc):
    x, y = _xy(tc)
    z = x * x * y
    result = tc.autograd.grad(z, [y, x], tc.ones(2))
    single = tc.autograd.grad((x * x).sum(), x)
    return result, type(result).__name__, single, x.grad, y.grad


def B8_containers(tc):
    x, y = _xy(tc)
    z = (x * y).sum()
    asked = {"a": x, "b": y}
    by_name = tc.autograd.grad(z, asked, retain_graph=True)
    return by_name, type(by_name).__name__, tc.autograd.grad(z, (x, x, y))


def B8_subclass_of_dict(tc):
    x, y = _xy(tc)

    def names():
        return list(tc.autograd.grad((x * y).sum(), OrderedDict(b=y, a=x)))

    return better(raised(names), torch=("TypeError", ""), wengert=None, why="a subclass of dict is a dict")


def B8_several_outputs(tc):
    x = _x(tc)
    return tc.autograd.grad([(x * 2).sum(), x * 3], x, [None, tc.tensor([1.0, 10.0])])


def B8_leaf_nodes_do_not_run(tc):
    x = _x(tc)
    seen = []
    y = x * 2
    y.grad_fn.next_functions[0][0].register_prehook(lambda *_: seen.append("pre"))
    y.grad_fn.next_functions[0][0].register_hook(lambda *_: seen.append("post"))
    tc.autograd.grad(y.sum(), x)
    return seen, x.grad


def B8_output_is_input(tc):
    x = _x(tc)
    y = x * 2
    return tc.autograd.grad(y, y, tc.tensor([5.0, 6.0])), tc.autograd.grad(x, x, tc.tensor([5.0, 6.0]))


def B8_output_and_input_of_it(tc):
    x = _x(tc)
    y = x * 2
    return tc.autograd.grad([y, x], [x, y], [tc.ones(2), tc.full((2,), 10.0)])


def B8_misuse(tc):
    x = _x(tc)
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
    x = _x(tc)
    return warned(lambda: tc.autograd.grad(x.sum(), x, only_inputs=False), "only_inputs argument is deprecated")


def B9_allow_unused(tc):
    x, y = _xy(tc)
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
    class Nothing(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return None

    x = _x(tc)
    z = Nothing.apply(x).sum()
    return tc.autograd.grad(z, x, allow_unused=True), raised(
        lambda: tc.autograd.grad(Nothing.apply(x).sum(), x), "appears to not have been used in the graph"
    )


def B10_materialize_grads(tc):
    x, y = _xy(tc)
    z = (x * 2).sum()
    plain = tc.autograd.grad(z, [x, y], materialize_grads=True, retain_graph=True)
    recorded = tc.autograd.grad(z, [x, y], materialize_grads=True, create_graph=True)
    return plain, [g.requires_grad for g in plain], [g.requires_grad for g in recorded]


def B10_misuse(tc):
    x, y = _xy(tc)
    edge = tc.autograd.graph.get_gradient_edge(y * 2)
    return (
        raised(lambda: tc.autograd.grad(x.sum(), y, allow_unused=False, materialize_grads=True)),
        raised(lambda: tc.autograd.grad(x.sum(), edge, materialize_grads=True)),
        tc.autograd.grad(x.sum(), y, allow_unused=True, materialize_grads=True),
    )


def B11_is_grads_batched(tc):
    x, y = _xy(tc)
    z = x * x * y
    return tc.autograd.grad(z, [x, y], tc.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), is_grads_batched=True)


def B11_misuse(tc):
    x = _x(tc)
    return raised(
        lambda: tc.autograd.grad(x * 2, x, tc.ones(3, 3), is_grads_batched=True),
        "If `is_grads_batched=True`, we interpret the first",
    )


def B11_unused(tc):
    x, y = _xy(tc)
    return tc.autograd.grad(x * 2, [x, y], tc.eye(2), is_grads_batched=True, allow_unused=True)


def B12_pruning(tc):
    class Bomb(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            raise ValueError("must not run")

    x, y = _xy(tc)
    z = (x * 2 + Bomb.apply(y)).sum()
    (g,) = tc.autograd.grad(z, x, retain_graph=True)
    z.backward(inputs=[x], retain_graph=True)
    return g, x.grad, raised(z.backward, "must not run")


def B12_only_the_path_runs(tc):
    x, y = _xy(tc)
    a, b = x * 2, y * 3
    seen = []
    a.grad_fn.register_hook(lambda *_: seen.append("a"))
    b.grad_fn.register_hook(lambda *_: seen.append("b"))
    c = (a * b).sum()
    tc.autograd.grad(c, x, retain_graph=True)
    tc.autograd.grad(c, b, retain_graph=True)
    return seen


def B13_undefined_gradients(tc):
    class Nothing(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return None

    x = _x(tc)
    seen = []
    y = x * 3
    y.register_hook(lambda grad: seen.append(grad))
    x.register_hook(lambda grad: seen.append(grad))
    Nothing.apply(y).sum().backward()
    return seen, x.grad


def B13_mixed_with_defined(tc):
    class Nothing(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return None

    x = _x(tc)
    y = x * 3
    (Nothing.apply(y) + y).sum().backward()
    return x.grad


def _returning(tc, make):
    class Returning(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return make(grad)

    return Returning


def B14_fitted(tc):
    results = []
    for make in (
        lambda grad: tc.ones(3, 2),
        lambda grad: tc.ones(1, 2),
        lambda grad: tc.ones(2, dtype=tc.float64),
        lambda grad: tc.ones(2, dtype=tc.int64),
        lambda grad: tc.ones(2, 1).expand(2, 2),
    ):
        x = _x(tc)
        _returning(tc, make).apply(x).sum().backward()
        results.append(x.grad)
    return results


def B14_misuse(tc):
    x = _x(tc)

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
    x = _x(tc)
    y = x * 2
    edge = tc.autograd.graph.get_gradient_edge(y)
    scalar = tc.autograd.graph.get_gradient_edge((x * 3).sum())
    del y
    tc.autograd.backward(edge, tc.ones(2))
    first = x.grad.clone()
    tc.autograd.backward([scalar])
    return first, x.grad, tc.autograd.grad(tc.autograd.graph.get_gradient_edge(x * 5), x, tc.ones(2))


def B16_misuse(tc):
    x = _x(tc)
    edge = tc.autograd.graph.get_gradient_edge(x * 2)
    return (
        raised(lambda: tc.autograd.backward(edge), "grad can be implicitly created only for scalar outputs"),
        raised(lambda: tc.autograd.backward(edge, tc.ones(3)), "Mismatch in shape"),
    )


def B2_several_passes_inside_each_other(tc):
    x, y = _xy(tc)

    def inner(grad):
        with tc.enable_grad():
            (y * y).sum().backward()
        return grad * y.grad

    z = x * 2
    z.register_hook(inner)
    z.sum().backward()
    return x.grad, y.grad


def B6_double_backward_through_hooks(tc):
    x = _x(tc)
    y = x * x
    y.register_hook(lambda grad: grad * x)
    (g,) = tc.autograd.grad(y.sum(), x, create_graph=True)
    return g, tc.autograd.grad(g.sum(), x)


def B8_no_alias_between_results(tc):
    x, y = _xy(tc)
    a, b = tc.autograd.grad((x + y).sum(), [x, y])
    return better(
        a.data_ptr() == b.data_ptr(),
        torch=True,
        wengert=False,
        why="the two gradients of a sum never share memory",
    )


test_program = differential(globals())
