"""Section 1 of the semantics: the graph and its nodes."""

import gc
import weakref

from tests.differential.fixtures import two_leaves
from tests.differential.observation import better, differential, raised


def G1_same_object(tc):
    a, b = two_leaves(tc)
    c = a * b
    return a.grad_fn, c.grad_fn is c.grad_fn, hash(c.grad_fn) == hash(c.grad_fn), (c + 1).grad_fn == (c + 1).grad_fn


def G1_identity_through_next_functions(tc):
    a, b = two_leaves(tc)
    c = a * b
    d = c.exp()
    return d.grad_fn.next_functions[0][0] is c.grad_fn, {c.grad_fn: 1}[d.grad_fn.next_functions[0][0]]


def G1_attributes_survive(tc):
    a, b = two_leaves(tc)
    d = (a * b).exp()
    try:
        d.grad_fn.next_functions[0][0].mark = 5
        gc.collect()
        mark = d.grad_fn.next_functions[0][0].mark
    except AttributeError:
        mark = "not allowed"
    return better(mark, torch="not allowed", wengert=5, why="a node takes attributes, which live as long as it does")


def G1_assignment(tc):
    a, b = two_leaves(tc)
    c = a * b
    return raised(lambda: setattr(c, "grad_fn", None)), raised(lambda: setattr(a, "grad_fn", c.grad_fn))


def G1_view_of_changed_base(tc):
    a, _ = two_leaves(tc)
    base = a * 2
    view = base[0:1]
    before = view.grad_fn
    base.mul_(3)
    after = view.grad_fn
    return before.name(), after is before, after.name(), view.grad_fn is after


def G1_stale_no_grad_view(tc):
    a, _ = two_leaves(tc)
    base = a * 2
    with tc.no_grad():
        view = base[0:1]
    base.mul_(3)
    return raised(lambda: view.grad_fn, "A view was created in no_grad mode")


def G1_stale_multi_output_view(tc):
    a, _ = two_leaves(tc)
    base = a * 2
    first, _ = base.unbind()
    base.mul_(3)
    return raised(lambda: first.grad_fn, "is a view and its base or another view of its base has been modified inplace")


def G1_dies_with_the_tensor(tc):
    a, b = two_leaves(tc)
    c = a * b

    class Token:
        pass

    c.grad_fn.metadata["token"] = token = Token()
    token = weakref.ref(token)
    alive = token() is not None
    del c
    return alive, token() is None


def G2_output_nr(tc):
    a, _ = two_leaves(tc)
    x, y = a.unbind()
    values, indices = a.sort()
    return a.output_nr, x.output_nr, y.output_nr, values.output_nr, indices.output_nr, (a * 2).output_nr


def G2_assignment(tc):
    return raised(lambda: setattr(tc.ones(1), "output_nr", 1))


def G3_is_leaf(tc):
    a, _ = two_leaves(tc)
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
    a, b = two_leaves(tc)
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
    a, _ = two_leaves(tc)
    return better(
        [a.sum(0).grad_fn.name(), a.mean(0).grad_fn.name(), tc.zeros(2).copy_(a).grad_fn.name()],
        torch=["SumBackward1", "MeanBackward1", "tc::autograd::CopyBackwards"],
        wengert=["SumBackward1", "MeanBackward1", "CopyBackwards"],
        why="names of nodes have no namespace where it says nothing",
    )


def G4_special_names(tc):
    a, _ = two_leaves(tc)
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
    a, b = two_leaves(tc)
    return (a * b).grad_fn.next_functions, (a * b.detach()).grad_fn.next_functions


def G5_next_functions_of_mul_by_number(tc):
    a, _ = two_leaves(tc)
    return (a * 2).grad_fn.next_functions, (2 * a).grad_fn.next_functions


def G5_next_functions_of_more_operations(tc):
    a, b = two_leaves(tc)
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
    a, _ = two_leaves(tc)
    accumulate = (("node", "tc::autograd::AccumulateGrad"), 0)
    return better(
        [(1 - a).grad_fn.next_functions, (2 / a).grad_fn.next_functions],
        torch=[(accumulate,), ((("node", "ReciprocalBackward0"), 0), (None, 0))],
        wengert=[((None, 0), accumulate)] * 2,
        why="one node of the operation itself, with its arguments in order",
    )


def G5_input_numbers(tc):
    a, _ = two_leaves(tc)
    x, y = a.unbind()
    return (x * y).grad_fn.next_functions, (y * y).grad_fn.next_functions


def G5_assignment(tc):
    node = (two_leaves(tc)[0] * 2).grad_fn
    return raised(lambda: setattr(node, "next_functions", ())), type(node.next_functions).__name__


def G6_metadata(tc):
    a, b = two_leaves(tc)
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
    a, _ = two_leaves(tc)
    (m,) = (a.reshape(1, 2) * 2).grad_fn._input_metadata
    two = a.sort()[0].grad_fn._input_metadata
    return tuple(m.shape), m.dtype, m.device, m.is_nested_tensor, m.is_cpp_nested_tensor, len(two), tuple(two[0].shape)


def G7_of_accumulate_grad(tc):
    a = tc.ones(2, 3, dtype=tc.float64, requires_grad=True)
    node = a.view_as(a).grad_fn.next_functions[0][0]
    return len(node._input_metadata), tuple(node._input_metadata[0].shape), node._input_metadata[0].dtype


def G8_sequence_nr(tc):
    a, _ = two_leaves(tc)
    first = a * 2
    second = a * 3
    accumulate = first.grad_fn.next_functions[0][0]
    return second.grad_fn._sequence_nr() - first.grad_fn._sequence_nr(), accumulate._sequence_nr() == 2**64 - 1


def G8_set_sequence_nr(tc):
    a, _ = two_leaves(tc)
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
    a, _ = two_leaves(tc)
    c = a * 2
    return c.grad_fn.requires_grad, c.grad_fn.next_functions[0][0].requires_grad


def G10_variable(tc):
    a, _ = two_leaves(tc)
    c = a * 2
    return c.grad_fn.next_functions[0][0].variable is a, raised(lambda: c.grad_fn.variable)


test_program = differential(globals())
