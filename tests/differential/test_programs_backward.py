"""Section 3 of the semantics: backward()."""

from collections import UserDict

from tests.differential.fixtures import a_leaf, two_leaves
from tests.differential.observation import better, differential, quietly, raised, warned


def B1_tensor_backward(tc):
    x = a_leaf(tc)
    returned = (x * x).sum().backward()
    first = x.grad.clone()
    (x * x).backward(tc.tensor([1.0, 10.0]))
    return returned, first, x.grad


def B1_keywords(tc):
    x, y = two_leaves(tc)
    z = x * y
    z.backward(gradient=tc.ones(2), retain_graph=True, create_graph=False, inputs=[x])
    z.backward(tc.ones(2), True, False, [x])
    return x.grad, y.grad


def B1_misuse(tc):
    return raised(
        lambda: tc.ones(1).backward(), "element 0 of tensors does not require grad and does not have a grad_fn"
    )


def B2_roots_are_summed(tc):
    x, y = two_leaves(tc)
    a = x * 2
    b = a * y
    tc.autograd.backward([a, b, a], [tc.ones(2), tc.ones(2), tc.full((2,), 10.0)])
    return x.grad, y.grad


def B2_accumulates(tc):
    x = a_leaf(tc)
    for _ in range(3):
        tc.autograd.backward((x * x).sum())
    return x.grad


def B2_leaf_as_root(tc):
    x = a_leaf(tc)
    tc.autograd.backward([x, x * 2], [tc.ones(2), tc.ones(2)])
    return x.grad


def B2_other_containers(tc):
    x = a_leaf(tc)
    tc.autograd.backward(((x * 2).sum(), (x * 3).sum()), (None, None))
    tc.autograd.backward(iter([(x * 2).sum()]))
    return x.grad


def B2_length_mismatch(tc):
    x = a_leaf(tc)
    return (
        raised(lambda: tc.autograd.backward([x, x], [tc.ones(2)]), "got 2 tensors and 1 gradients"),
        raised(lambda: tc.autograd.backward([x, x, x], [tc.ones(2)] * 2), "got 3 tensors and 2 gradients"),
    )


def B2_more_gradients_than_tensors(tc):
    x = a_leaf(tc)
    return better(
        raised(lambda: tc.autograd.backward([x], [tc.ones(2)] * 2), "got 1 tensors and 2 gradients"),
        torch=None,
        wengert=("RuntimeError", "got 1 tensors and 2 gradients"),
        why="a gradient that belongs to no tensor is a mistake",
    )


def B2_root_without_grad(tc):
    x = a_leaf(tc)
    fragment = "does not require grad and does not have a grad_fn"
    return (
        raised(lambda: tc.autograd.backward([x.sum(), tc.ones(())]), "element 1 of tensors " + fragment),
        raised(lambda: tc.autograd.backward(tc.ones(2), tc.ones(2)), "element 0 of tensors " + fragment),
        raised(lambda: tc.autograd.grad(tc.ones(()), x), fragment),
    )


def B2_grad_variables(tc):
    x = a_leaf(tc)
    shown = warned(lambda: tc.autograd.backward(x * 2, grad_variables=tc.ones(2)), "deprecated")
    both = raised(lambda: tc.autograd.backward(x * 2, tc.ones(2), grad_variables=tc.ones(2)), "both")
    return shown, x.grad, both[0]


def B3_one_element_of_any_shape(tc):
    x = a_leaf(tc)
    (x[0] * 3).backward()
    (x[1:] * 5).backward()
    (x[1:].reshape(1, 1, 1) * 7).backward()
    return x.grad


def B3_misuse(tc):
    x = a_leaf(tc)
    z = tc.ones((), dtype=tc.complex64, requires_grad=True)
    scalar = "grad can be implicitly created only for scalar outputs"
    return (
        raised((x * 2).backward, scalar),
        raised(lambda: tc.autograd.grad(x * 2, x), scalar),
        raised((x[:0] * 2).backward, scalar),
        raised((z * 2).backward, "grad can be implicitly created only for real scalar outputs but got"),
    )


def B4_shape(tc):
    x = a_leaf(tc)
    shape = "Mismatch in shape: grad_output[0] has a shape of"
    return (
        raised(lambda: (x * 2).backward(tc.ones(3)), shape),
        raised(lambda: (x * 2).backward(tc.ones(())), shape),
        raised(lambda: (x * 2).backward(tc.ones(1, 2)), "and output[0] has a shape of"),
    )


def B4_dtype(tc):
    x = a_leaf(tc)
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
    x = a_leaf(tc)
    fragment = "gradients can be either Tensors or None"
    return (
        raised(lambda: (x * 2).backward([1.0]), fragment),
        raised(lambda: tc.autograd.backward([x * 2], [1.0]), fragment),
        raised(lambda: tc.autograd.backward([x * 2], ["a"]), fragment),
    )


def B5_second_pass(tc):
    x = a_leaf(tc)
    y = x.exp()
    z = (y * y).sum()
    z.backward()
    return raised(z.backward, "Trying to backward through the graph a second time"), raised(
        z.backward, "Specify retain_graph=True"
    )


def B5_retain_graph(tc):
    x = a_leaf(tc)
    z = x.exp().sum()
    z.backward(retain_graph=True)
    z.backward()
    return x.grad, raised(z.backward, "Trying to backward through the graph a second time")


def B5_nodes_without_saved_tensors(tc):
    x = a_leaf(tc)
    z = (x + 1).sum()
    z.backward()
    z.backward()
    w = (x * x).sum()
    w.backward()
    return x.grad, raised(w.backward)


def B5_product_with_a_number(tc):
    w = (a_leaf(tc) * 2).sum()
    w.backward()
    return better(
        raised(w.backward),
        torch=("RuntimeError", ""),
        wengert=None,
        why="a number is no saved tensor, so nothing was freed",
    )


def B5_freed_node_by_node(tc):
    x = a_leaf(tc)
    a = x.exp()
    b = a.exp()
    tc.autograd.grad(b.sum(), a)
    (g,) = tc.autograd.grad(a.sum(), x)
    return g, raised(lambda: tc.autograd.grad(b.sum(), a), "second time")


def B5_default_is_create_graph(tc):
    x = a_leaf(tc)
    z = (x**3).sum()
    tc.autograd.grad(z, x, create_graph=True)
    tc.autograd.grad(z, x, create_graph=True, retain_graph=False)
    return raised(lambda: tc.autograd.grad(z, x), "second time")


def B6_create_graph(tc):
    x = a_leaf(tc)
    (g,) = tc.autograd.grad((x**3).sum(), x, create_graph=True)
    (h,) = tc.autograd.grad(g.sum(), x, create_graph=True)
    (third,) = tc.autograd.grad(h.sum(), x)
    return g, g.requires_grad, h, third, third.requires_grad


def B6_backward_records_grad(tc):
    x = a_leaf(tc)
    quietly(lambda: (x**3).sum().backward(create_graph=True))
    recorded = x.grad.requires_grad, x.grad.grad_fn is not None
    old = x.grad
    quietly(lambda: (x**3).sum().backward(create_graph=True))
    new = x.grad
    x.grad = None
    return recorded, old is new, old, new


def B6_without_create_graph(tc):
    x = a_leaf(tc)
    (g,) = tc.autograd.grad((x**3).sum(), x)
    return g.requires_grad, g.grad_fn, g.is_leaf


def B7_inputs(tc):
    x, y = two_leaves(tc)
    (x * y).sum().backward(inputs=[x])
    first = x.grad, y.grad
    (x * y).sum().backward(inputs=y)
    (x * y).sum().backward(inputs={"x": x, "y": y})
    (x * y).sum().backward(inputs=(x, x))
    return first, x.grad, y.grad


def B7_non_leaf(tc):
    x = a_leaf(tc)
    y = x * 2
    z = (y * y).sum()
    z.backward(inputs=[y], retain_graph=True)
    first = y.grad.clone(), y.retains_grad, x.grad
    z.backward()
    return first, y.grad, x.grad


def B7_non_leaf_and_leaf(tc):
    x = a_leaf(tc)
    y = x * 2
    (y * y).sum().backward(inputs=[x, y])
    return x.grad, y.grad, y.retains_grad


def B7_gradient_edges(tc):
    x = a_leaf(tc)
    y = x * 2
    edge = tc.autograd.graph.get_gradient_edge(x)
    (y * y).sum().backward(inputs=[edge])
    return x.grad


def B7_unreachable(tc):
    x, y = two_leaves(tc)
    x.sum().backward(inputs=[y])
    return x.grad, y.grad


def B7_misuse(tc):
    x, y = two_leaves(tc)
    z = (x * y).sum()
    return (
        raised(lambda: z.backward(inputs=[]), "cannot be empty"),
        raised(lambda: z.backward(inputs=()), "cannot be empty"),
        raised(lambda: z.backward(inputs={}), "cannot be empty"),
        raised(lambda: z.backward(inputs=[tc.ones(1)]), "can't retain_grad"),
        raised(lambda: z.backward(inputs=[3])),
        raised(lambda: z.backward(inputs=UserDict(x=x))),
    )


def B2_several_passes_inside_each_other(tc):
    x, y = two_leaves(tc)

    def inner(grad):
        with tc.enable_grad():
            (y * y).sum().backward()
        return grad * y.grad

    z = x * 2
    z.register_hook(inner)
    z.sum().backward()
    return x.grad, y.grad


def B6_double_backward_through_hooks(tc):
    x = a_leaf(tc)
    y = x * x
    y.register_hook(lambda grad: grad * x)
    (g,) = tc.autograd.grad(y.sum(), x, create_graph=True)
    return g, tc.autograd.grad(g.sum(), x)


test_program = differential(globals())
