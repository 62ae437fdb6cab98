"""Section 2 of the semantics: detach, data, and what else sees or changes a tensor."""

import gc
import weakref

from tests.differential.fixtures import a_leaf
from tests.differential.observation import differential, quietly, raised, warned

ONLY_FLOATING = "Only Tensors of floating point and complex dtype can require gradients"


def L10_detach(tc):
    x = a_leaf(tc)
    y = x * 2
    d = y.detach()
    d.add_(1)
    return (
        d.requires_grad,
        d.is_leaf,
        d.grad_fn,
        y,
        y._version,
        d._version,
        d._is_view(),
        d._base,
        d.data_ptr() == y.data_ptr(),
    )


def L10_shares_the_version_counter(tc):
    x = a_leaf(tc)
    y = x * 2
    z = y.exp() * y
    y.detach().add_(1)
    return raised(lambda: z.sum().backward(), "modified by an inplace operation")


def L10_base_is_not_kept(tc):
    x = tc.ones(2)
    d = x.detach()
    alive = weakref.ref(x)
    del x
    gc.collect()
    return d, alive() is None


def L10_drops_the_tangent(tc):
    forward_ad = tc.autograd.forward_ad

    def run():
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(tc.ones(1), tc.ones(1))
            return forward_ad.unpack_dual(dual.detach()).tangent, forward_ad.unpack_dual(dual).tangent

    return quietly(run)


def L11_detach_(tc):
    x = a_leaf(tc)
    y = x * 2
    node = y.grad_fn
    z = y * 3
    same = y.detach_() is y
    z.sum().backward()
    return same, y.is_leaf, y.grad_fn, y.requires_grad, node.name(), x.grad


def L11_on_views(tc):
    x = a_leaf(tc)
    view = (x * 2)[0:1]
    return raised(lambda: view.detach_(), "Can't detach views in-place"), raised(
        lambda: tc.ones(2)[0:1].detach_(), "Can't detach views in-place"
    )


def L11_on_leaf(tc):
    x = a_leaf(tc)
    x.detach_()
    return x.requires_grad, x.is_leaf


def L12_data(tc):
    x = a_leaf(tc)
    d = x.data
    d.mul_(10)
    return x, x._version, d._version, d.requires_grad, d.is_leaf, d.grad_fn, d is x.data


def L13_set_data(tc):
    x = a_leaf(tc)
    version = x._version
    before = id(x)
    x.data = tc.tensor([5.0, 6.0, 7.0])
    return x, id(x) == before, x.requires_grad, x._version == version, tuple(x.shape), x.grad_fn


def L13_of_a_non_leaf(tc):
    x = a_leaf(tc)
    y = x * 2
    y.data = tc.zeros(2)
    y.sum().backward()
    return y, y.grad_fn.name(), x.grad


def L13_misuse(tc):
    x = a_leaf(tc)
    return (
        raised(lambda: setattr(x, "data", 3)),
        raised(lambda: setattr(x, "data", None)),
        raised(lambda: setattr(x, "data", tc.ones(2, dtype=tc.int64))),
        raised(lambda: delattr(x, "data")),
    )


def L13_dtype_of_constants(tc):
    c = tc.ones(2)
    c.data = tc.ones(3, dtype=tc.int64)
    return c


def L14_set_(tc):
    x = a_leaf(tc)
    y = x * 2
    edge = tc.autograd.graph.get_gradient_edge(x)
    with tc.no_grad():
        x.set_(tc.tensor([7.0, 8.0]))
    new = tc.autograd.grad((x * x).sum(), x)
    (through_edge,) = tc.autograd.grad(y.sum(), edge, retain_graph=True)
    return x, new, through_edge, tc.autograd.grad(y.sum(), x, allow_unused=True)


def L14_in_grad_mode(tc):
    x = a_leaf(tc)
    return raised(
        lambda: x.set_(tc.ones(2)), "a leaf Variable that requires grad is being used in an in-place operation."
    )


def L15_numpy(tc):
    import numpy

    x = a_leaf(tc)
    with tc.no_grad():
        allowed = x.numpy().tolist()
    return (
        allowed,
        x.detach().numpy().tolist(),
        numpy.asarray(x.detach()).tolist(),
        raised(x.numpy, "Can't call numpy() on Tensor that requires grad"),
        raised(lambda: numpy.asarray(x), "Can't call numpy() on Tensor that requires grad"),
        x.numpy(force=True).tolist(),
    )


def L16_numbers(tc):
    x = tc.tensor([1.5], requires_grad=True)
    return x.item(), x.tolist(), int(x.detach()), float(x.detach()), bool(x), complex(x.detach()), (x * 2).item()


def L16_float_of_requires_grad(tc):
    x = tc.tensor([1.5], requires_grad=True)
    return quietly(lambda: (float(x), int(x)))  # the first float() of a process warns


def L16_misuse(tc):
    nan, inf = tc.tensor(float("nan")), tc.tensor(float("inf"))
    two = tc.ones(2)
    return (
        raised(lambda: int(nan)),
        raised(lambda: int(inf)),
        raised(lambda: float(two)),
        raised(lambda: two.item()),
        raised(lambda: bool(two)),
        raised(lambda: int(two)),
        raised(lambda: tc.tensor(0.5).__index__()),
    )


def L17_resize_(tc):
    t = tc.ones(2, 3)
    same = t.resize_(2, 3) is t
    unchanged = t._version
    t.resize_(3, 2)
    return (
        same,
        unchanged,
        t._version,
        tuple(t.shape),
        raised(lambda: a_leaf(tc).resize_(1), "cannot resize variables that require grad"),
    )


def L18_underscored(tc):
    x = a_leaf(tc)
    y = x * 2
    view = y[0:1][0]
    return (
        x._backward_hooks,
        y._grad_fn.name(),
        x._grad_fn,
        view._base is y,
        y._base,
        x._version,
        view._is_view(),
        x._is_view(),
        y[0:1]._base is y,
    )


def L18_volatile(tc):
    x = a_leaf(tc)
    return warned(lambda: x.volatile, "volatile")[0][0]


def L18_misuse(tc):
    x = a_leaf(tc)
    with tc.inference_mode():
        inference = tc.ones(1)
    return (
        raised(lambda: delattr(x, "_backward_hooks")),
        raised(lambda: delattr(x, "_grad_fn")),
        raised(lambda: inference._version, "Inference tensors do not track version counter"),
        raised(lambda: setattr(x, "_version", 3)),
        raised(lambda: setattr(x, "_base", x)),
    )


def L19_variable(tc):
    Variable = tc.autograd.Variable
    x = Variable(tc.ones(2), requires_grad=True)
    data = tc.ones(2)
    return (
        isinstance(x, Variable),
        isinstance(tc.ones(1), Variable),
        isinstance(3, Variable),
        type(x) is tc.Tensor,
        x.requires_grad,
        Variable(data).requires_grad,
        Variable(data).data_ptr() == data.data_ptr(),
        hasattr(Variable, "_execution_engine"),
        issubclass(tc.Tensor, Variable),
    )


def L19_misuse(tc):
    return (
        raised(lambda: tc.autograd.variable(3)),
        warned(lambda: tc.autograd.Variable(tc.ones(1), volatile=True), "volatile")[0][0],
        raised(lambda: tc.autograd.Variable([1.0])),
        raised(lambda: tc.autograd.Variable(tc.ones(1, dtype=tc.int64), requires_grad=True)),
    )


def L19_historic_example(tc):
    a = tc.autograd.Variable(tc.ones(2, 1), requires_grad=True)
    b = tc.autograd.Variable(tc.ones(2, 1), requires_grad=True)
    c = a.add(b)
    c.backward(tc.full((2, 1), 3.0))
    return a.grad, b.grad


def L20_parameter(tc):
    import copy
    import pickle

    with tc.no_grad():
        p = tc.nn.Parameter(tc.ones(2))
    frozen = tc.nn.Parameter(tc.ones(2), requires_grad=False)
    loaded = pickle.loads(pickle.dumps(p))
    copied = copy.deepcopy(p)
    return (
        p.requires_grad,
        p.is_leaf,
        isinstance(p, tc.Tensor),
        frozen.requires_grad,
        type(loaded) is type(p),
        loaded.requires_grad,
        type(copied) is type(p),
        repr(p),
        type(p * 2) is tc.Tensor,
        type(p.data) is tc.Tensor,
        raised(lambda: tc.nn.Parameter(tc.ones(2, dtype=tc.int64)), ONLY_FLOATING),
    )


def L21_in_place_makes_non_leaf(tc):
    a, b = tc.ones(2), a_leaf(tc)
    a += b
    a *= 2
    a.sum().backward()
    return a.is_leaf, a.requires_grad, a.grad_fn.name(), b.grad


def L21_copy_and_setitem(tc):
    a, b, c = tc.zeros(2), tc.zeros(2), a_leaf(tc)
    a.copy_(c)
    b[0] = c[1]
    (a + b).sum().backward()
    return a.grad_fn.next_functions, b.grad_fn.name(), c.grad


test_program = differential(globals())
