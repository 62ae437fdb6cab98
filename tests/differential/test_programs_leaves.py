"""Section 2 of the semantics: leaves, requires_grad, grad."""

from tests.differential.fixtures import a_leaf
from tests.differential.observation import better, differential, raised, warned

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
        return tc.ones(1, requires_grad=True).requires_grad, tc.zeros_like(a_leaf(tc)).requires_grad


def L2_setter(tc):
    x = tc.ones(2)
    x.requires_grad = True
    first = x.requires_grad
    x.requires_grad = False
    integers = tc.ones(2, dtype=tc.int64)
    integers.requires_grad = False
    return first, x.requires_grad, integers.requires_grad


def L2_misuse(tc):
    y = a_leaf(tc) * 2
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
    y = a_leaf(tc) * 2
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
    y = a_leaf(tc) * 2
    with tc.inference_mode():
        inference = tc.ones(1)
    return (
        raised(lambda: y.requires_grad_(False), ".detach()"),
        raised(lambda: tc.ones(1, dtype=tc.int64).requires_grad_(), "only Tensors of floating point dtype"),
        raised(lambda: tc.ones(1, dtype=tc.bool).requires_grad_(), "only Tensors of floating point dtype"),
        raised(lambda: inference.requires_grad_()),
    )


def L4_integral_outputs(tc):
    x = a_leaf(tc)
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
    x, c = a_leaf(tc), tc.ones(2)
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
    y = a_leaf(tc) * 2
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
    x, target, weight = a_leaf(tc), tc.tensor([0.0, 1.0]), tc.ones(2, requires_grad=True)

    def forward():
        functional.binary_cross_entropy(x.sigmoid(), target, weight=weight).backward()

    return better(
        raised(forward),
        torch=("RuntimeError", ""),
        wengert=None,
        why="every argument of every row has a derivative",
    )


def L7_grad_of_leaf(tc):
    x = a_leaf(tc)
    before = x.grad
    (x * x).sum().backward()
    return before, x.grad, x.grad is x.grad, x.grad.requires_grad


def L7_grad_of_non_leaf(tc):
    x = a_leaf(tc)
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
    x = a_leaf(tc)
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
    x = a_leaf(tc)

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
    x = a_leaf(tc)
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
    y = a_leaf(tc) * 2
    x = tc.ones(2, requires_grad=True)
    x.grad_dtype = tc.float64
    return (
        raised(lambda: setattr(y, "grad_dtype", tc.float64)),
        raised(lambda: setattr(x, "grad", tc.ones(2))),
    )


test_program = differential(globals())
