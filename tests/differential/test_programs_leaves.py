"""Section 2 of the semantics: leaves, requires_grad, detach, data."""

import gc
import weakref

from tests.differential.observation import better, differential, quietly, raised, warned


def _x(tc):
    return tc.tensor([1.0, 2.0], requires_grad=True)


FLOATING = ("float32", "float64", "complex64", "complex128")
OTHER = ("int8", "int16", "int32", "int64", "uint8", "bool")
ONLY_FLOATING = "Only Tensors of floating point and complex dtype can require gradients"


def L1_floating_and_complex(tc):
    return [tc.ones(2, dtype=getattr(tc, name), requires_grad=True).requires_grad for name in FLOATING]


def L1_integral(tc):
    return [
        raised(lambda name=name: tc.ones(2, dtype=getattr(tc, name), requires_grad=True), ONLY_FLOATING)
        for name in OTHER
    ]


def L1_other_factories(tc):
    made = [
        tc.tensor([1.0], requires_grad=True),
        tc.zeros(2, requires_grad=True),
        tc.full((2,), 3.0, requires_grad=True),
        tc.empty(2, requires_grad=True),
        tc.rand(2, requires_grad=True),
        tc.randn(2, requires_grad=True),
        tc.arange(3.0, requires_grad=True),
        tc.linspace(0, 1, 3, requires_grad=True),
        tc.eye(2, requires_grad=True),
        tc.ones_like(tc.ones(2), requires_grad=True),
        tc.zeros_like(tc.ones(2), requires_grad=True),
        tc.ones(2).new_zeros(2, requires_grad=True),
    ]
    return [t.requires_grad and t.is_leaf for t in made], raised(
        lambda: tc.tensor([1], requires_grad=True), ONLY_FLOATING
    )


def L1_unaffected_by_no_grad(tc):
    with tc.no_grad():
        return tc.ones(1, requires_grad=True).requires_grad, tc.zeros_like(_x(tc)).requires_grad


def L2_setter(tc):
    x = tc.ones(2)
    x.requires_grad = True
    first = x.requires_grad
    x.requires_grad = False
    integers = tc.ones(2, dtype=tc.int64)
    integers.requires_grad = False
    return first, x.requires_grad, integers.requires_grad


def L2_misuse(tc):
    y = _x(tc) * 2
    integers = tc.ones(2, dtype=tc.int64)
    leaf_only = "you can only change requires_grad flags of leaf variables"
    return (
        raised(lambda: setattr(y, "requires_grad", True), leaf_only),
        raised(lambda: setattr(y, "requires_grad", False), leaf_only),
        raised(lambda: setattr(tc.ones(1), "requires_grad", 1), "requires_grad must be a bool"),
        raised(lambda: setattr(tc.ones(1), "requires_grad", "True"), "requires_grad must be a bool"),
        raised(lambda: setattr(tc.ones(1), "requires_grad", None), "requires_grad must be a bool"),
        raised(lambda: delattr(tc.ones(1), "requires_grad")),
        raised(lambda: setattr(integers, "requires_grad", True), "only Tensors of floating point"),
    )


def L3_requires_grad_(tc):
    x = tc.ones(2)
    y = _x(tc) * 2
    return (
        x.requires_grad_() is x,
        x.requires_grad,
        x.requires_grad_(False).requires_grad,
        x.requires_grad_(requires_grad=True).requires_grad,
        y.requires_grad_() is y,
        y.requires_grad_(True).grad_fn is not None,
        tc.ones(1, dtype=tc.int64).requires_grad_(False).requires_grad,
    )


def L3_misuse(tc):
    y = _x(tc) * 2
    with tc.inference_mode():
        inference = tc.ones(1)
    return (
        raised(lambda: y.requires_grad_(False), ".detach()"),
        raised(lambda: tc.ones(1, dtype=tc.int64).requires_grad_(), "only Tensors of floating point dtype"),
        raised(lambda: tc.ones(1, dtype=tc.bool).requires_grad_(), "only Tensors of floating point dtype"),
        raised(lambda: inference.requires_grad_()),
    )


def L4_integral_outputs(tc):
    x = _x(tc)
    outputs = [
        x.argmax(),
        x.argmin(),
        x.argsort(),
        x > 1,
        x == x,
        x.sort()[1],
        x.max(0)[1],
        x.topk(1)[1],
        x.nonzero(),
        x.isnan(),
        x.long(),
        x.bool(),
        tc.searchsorted(x.detach(), x),
        x.sign(),
        x.floor(),
        x.round(),
        x.ceil(),
    ]
    return [(t.requires_grad, str(t.dtype).split(".")[1]) for t in outputs]


def L4_modes_and_operands(tc):
    x, c = _x(tc), tc.ones(2)
    with tc.no_grad():
        off = (x * c).requires_grad
    return (
        off,
        (x * c).requires_grad,
        (c * c).requires_grad,
        (c * x.detach()).requires_grad,
        (x.double() + c).requires_grad,
    )


def L4_factories_from_recorded_tensors(tc):
    y = _x(tc) * 2
    return [
        tc.zeros_like(y).requires_grad,
        tc.ones_like(y).requires_grad,
        tc.empty_like(y).requires_grad,
        y.new_ones(2).requires_grad,
        tc.rand_like(y).requires_grad,
        y.new_tensor([1.0]).requires_grad,
    ]


def L5_not_differentiable_argument(tc):
    functional = tc.nn.functional
    x, target, weight = _x(tc), tc.tensor([0.0, 1.0]), tc.ones(2, requires_grad=True)

    def forward():
        functional.binary_cross_entropy(x.sigmoid(), target, weight=weight).backward()

    return better(
        raised(forward),
        torch=("RuntimeError", ""),
        wengert=None,
        why="every argument of every row has a derivative",
    )


def L7_grad_of_leaf(tc):
    x = _x(tc)
    before = x.grad
    (x * x).sum().backward()
    return before, x.grad, x.grad is x.grad, x.grad.requires_grad


def L7_grad_of_non_leaf(tc):
    x = _x(tc)
    y = x * 2
    z = x * 3
    z.retain_grad()
    return (
        warned(lambda: y.grad, "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"),
        warned(lambda: z.grad),
        warned(lambda: x.grad),
        warned(lambda: (x.detach() * 2).grad),
    )


def L8_set_and_delete(tc):
    x = _x(tc)
    g = tc.ones(2)
    x.grad = g
    same = x.grad is g
    x.grad = None
    none = x.grad
    x.grad = g
    del x.grad
    return same, none, x.grad


def L8_on_any_tensor(tc):
    c = tc.ones(2)
    c.grad = tc.zeros(2)
    return c.grad, c.requires_grad


def L8_misuse(tc):
    x = _x(tc)

    def assign(value):
        return lambda: setattr(x, "grad", value)

    return (
        raised(assign(3), "expected to be a Tensor or None"),
        raised(assign([1.0, 2.0]), "expected to be a Tensor or None"),
        raised(assign(tc.ones(3))),
        raised(assign(tc.ones(1, 2))),
        raised(assign(tc.ones(2, dtype=tc.float64))),
        raised(assign(tc.ones(2, device="meta")))
        if hasattr(tc.ones(2), "is_meta") and tc.__name__ == "torch"
        else ("RuntimeError", ""),
        raised(assign(x)),
    )


def L8_accumulates_into_the_assigned(tc):
    x = _x(tc)
    g = tc.ones(2)
    x.grad = g
    (x * 3).sum().backward()
    return x.grad is g, g


def L9_grad_dtype(tc):
    x = tc.ones(2, requires_grad=True)
    default = x.grad_dtype
    x.grad_dtype = tc.float64
    (x * 2).sum().backward()
    return default, x.grad_dtype, x.grad


def L9_grad_dtype_none(tc):
    x = tc.ones(2, requires_grad=True)
    x.grad_dtype = None
    x.grad = tc.ones(2, dtype=tc.float64)
    return x.grad_dtype, x.grad


def L9_misuse(tc):
    y = _x(tc) * 2
    x = tc.ones(2, requires_grad=True)
    x.grad_dtype = tc.float64
    return (
        raised(lambda: setattr(y, "grad_dtype", tc.float64)),
        raised(lambda: setattr(x, "grad", tc.ones(2))),
    )


def L10_detach(tc):
    x = _x(tc)
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
    x = _x(tc)
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
    x = _x(tc)
    y = x * 2
    node = y.grad_fn
    z = y * 3
    same = y.detach_() is y
    z.sum().backward()
    return same, y.is_leaf, y.grad_fn, y.requires_grad, node.name(), x.grad


def L11_on_views(tc):
    x = _x(tc)
    view = (x * 2)[0:1]
    return raised(lambda: view.detach_(), "Can't detach views in-place"), raised(
        lambda: tc.ones(2)[0:1].detach_(), "Can't detach views in-place"
    )


def L11_on_leaf(tc):
    x = _x(tc)
    x.detach_()
    return x.requires_grad, x.is_leaf


def L12_data(tc):
    x = _x(tc)
    d = x.data
    d.mul_(10)
    return x, x._version, d._version, d.requires_grad, d.is_leaf, d.grad_fn, d is x.data


def L13_set_data(tc):
    x = _x(tc)
    version = x._version
    before = id(x)
    x.data = tc.tensor([5.0, 6.0, 7.0])
    return x, id(x) == before, x.requires_grad, x._version == version, tuple(x.shape), x.grad_fn


def L13_of_a_non_leaf(tc):
    x = _x(tc)
    y = x * 2
    y.data = tc.zeros(2)
    y.sum().backward()
    return y, y.grad_fn.name(), x.grad


def L13_misuse(tc):
    x = _x(tc)
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
    x = _x(tc)
    y = x * 2
    edge = tc.autograd.graph.get_gradient_edge(x)
    with tc.no_grad():
        x.set_(tc.tensor([7.0, 8.0]))
    new = tc.autograd.grad((x * x).sum(), x)
    (through_edge,) = tc.autograd.grad(y.sum(), edge, retain_graph=True)
    return x, new, through_edge, tc.autograd.grad(y.sum(), x, allow_unused=True)


def L14_in_grad_mode(tc):
    x = _x(tc)
    return raised(
        lambda: x.set_(tc.ones(2)), "a leaf Variable that requires grad is being used in an in-place operation."
    )


def L15_numpy(tc):
    import numpy

    x = _x(tc)
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
        raised(lambda: _x(tc).resize_(1), "cannot resize variables that require grad"),
    )


def L18_underscored(tc):
    x = _x(tc)
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
    x = _x(tc)
    return warned(lambda: x.volatile, "volatile")[0][0]


def L18_misuse(tc):
    x = _x(tc)
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
    a, b = tc.ones(2), _x(tc)
    a += b
    a *= 2
    a.sum().backward()
    return a.is_leaf, a.requires_grad, a.grad_fn.name(), b.grad


def L21_copy_and_setitem(tc):
    a, b, c = tc.zeros(2), tc.zeros(2), _x(tc)
    a.copy_(c)
    b[0] = c[1]
    (a + b).sum().backward()
    return a.grad_fn.next_functions, b.grad_fn.name(), c.grad


test_program = differential(globals())
