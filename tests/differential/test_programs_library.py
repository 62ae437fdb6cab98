"""Operations that programs register: `torch.library` and `wengert.library`."""

import itertools
from importlib import import_module

import numpy as np

from tests.differential.observation import better, differential, quietly, raised

_numbers = itertools.count()


def _library(tc):
    return import_module(f"{tc.__name__}.library")


def _name(tc):
    """Return a name that no other program has."""
    return f"differential_{tc.__name__}::op{next(_numbers)}"


def _values(tc):
    return tc.tensor([1.0, 2.0, 3.0])


def _sine(tc, **keywords):
    """Return an operation that NumPy computes, with all of its rules."""
    library = _library(tc)
    name = _name(tc)

    def kernel(x, scale=1.0):
        return tc.from_numpy(np.sin(x.numpy() * scale))

    kernel.__annotations__ = {"x": tc.Tensor, "scale": float, "return": tc.Tensor}
    sine = library.custom_op(name, mutates_args=(), **keywords)(kernel)

    def setup_context(ctx, inputs, output):
        x, ctx.scale = inputs
        ctx.save_for_backward(x)

    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x * ctx.scale).cos() * ctx.scale, None

    sine.register_autograd(backward, setup_context=setup_context)
    sine.register_fake(lambda x, scale=1.0: tc.empty_like(x))
    return sine


def library_calls(tc):
    sine = _sine(tc)
    op = getattr(getattr(tc.ops, sine._namespace), sine._name)
    x = _values(tc)
    return sine(x), sine(x, 2.0), sine(x, scale=2.0), op(x), op.default(x, scale=0.5)


def library_what_it_is_called(tc):
    sine = _sine(tc)
    op = getattr(getattr(tc.ops, sine._namespace), sine._name).default
    names = op.namespace, op.name(), op.overloadpacket.__name__.rpartition(".")[2], repr(sine)
    return [str(name).replace(sine._namespace, "ns").replace(sine._name, "op") for name in names]


def library_wrong_arguments(tc):
    sine = _sine(tc)
    x = _values(tc)
    return (
        raised(lambda: sine(3), "Expected a value of type 'Tensor' for argument 'x' but instead found type 'int'."),
        raised(lambda: sine(x, "a"), "Expected a value of type 'float' for argument 'scale'"),
        raised(lambda: sine(x, other=1), "Unknown keyword argument 'other'"),
        raised(lambda: sine(), "missing value for argument 'x'"),
    )


def library_derivatives(tc):
    sine = _sine(tc)
    x = _values(tc).requires_grad_()
    y = sine(x, 2.0)
    y.sum().backward()
    return y.requires_grad, x.grad, tc.autograd.gradcheck(lambda t: sine(t), (x.detach().double().requires_grad_(),))


def library_second_derivatives(tc):
    sine = _sine(tc)
    x = _values(tc).requires_grad_()
    (g,) = tc.autograd.grad(sine(x).sum(), x, create_graph=True)
    return tc.autograd.grad(g.sum(), x)


def library_without_a_derivative(tc):
    library = _library(tc)

    def kernel(x):
        return x * 2

    kernel.__annotations__ = {"x": tc.Tensor, "return": tc.Tensor}
    double = library.custom_op(_name(tc), mutates_args=())(kernel)
    x = _values(tc).requires_grad_()
    y = double(x)
    return y.requires_grad, raised(lambda: y.sum().backward(), "but no autograd formula was registered")


def library_lists_of_tensors(tc):
    library = _library(tc)

    def kernel(xs, factor):
        return [x * factor for x in xs]

    kernel.__annotations__ = {"xs": list[tc.Tensor], "factor": float, "return": list[tc.Tensor]}
    scaled = library.custom_op(_name(tc), mutates_args=())(kernel)
    seen = []

    def setup_context(ctx, inputs, output):
        ctx.factor = inputs[1]
        seen.append((len(inputs[0]), len(output)))

    def backward(ctx, grads):
        return [g * ctx.factor for g in grads], None

    scaled.register_autograd(backward, setup_context=setup_context)
    x, y = _values(tc).requires_grad_(), _values(tc).requires_grad_()
    a, b = scaled([x, y], 3.0)
    (a.sum() + 2 * b.sum()).backward()
    return seen, a, b, x.grad, y.grad


def library_keyword_only_arguments(tc):
    library = _library(tc)

    def kernel(x, *, factor):
        return x * factor

    kernel.__annotations__ = {"x": tc.Tensor, "factor": float, "return": tc.Tensor}
    scaled = library.custom_op(_name(tc), mutates_args=())(kernel)
    seen = []

    def setup_context(ctx, inputs, keyword_only_inputs, output):
        seen.append((len(inputs), keyword_only_inputs))
        ctx.factor = keyword_only_inputs["factor"]

    scaled.register_autograd(lambda ctx, g: g * ctx.factor, setup_context=setup_context)
    x = _values(tc).requires_grad_()
    scaled(x, factor=4.0).sum().backward()
    return seen, x.grad


def library_writes(tc):
    library = _library(tc)

    def kernel(x, y):
        x.add_(y)

    kernel.__annotations__ = {"x": tc.Tensor, "y": tc.Tensor, "return": None}
    add = library.custom_op(_name(tc), mutates_args={"x"})(kernel)
    x = _values(tc)
    before = x._version
    result = add(x, x.clone())
    return result, x, x._version > before


def library_writes_have_no_derivative(tc):
    library = _library(tc)

    def kernel(x):
        x.add_(1)

    kernel.__annotations__ = {"x": tc.Tensor, "return": None}
    add = library.custom_op(_name(tc), mutates_args={"x"})(kernel)
    return raised(
        lambda: add.register_autograd(lambda ctx: None), "Cannot register autograd formula for non-functional"
    )


def library_a_write_to_what_requires_grad(tc):
    library = _library(tc)

    def kernel(x):
        x.add_(1)

    kernel.__annotations__ = {"x": tc.Tensor, "return": None}
    add = library.custom_op(_name(tc), mutates_args={"x"})(kernel)
    x = _values(tc).requires_grad_()
    return better(
        raised(lambda: add(x), "requires grad"),
        torch=None,
        wengert=("RuntimeError", "requires grad"),
        why="PyTorch writes, and gradients do not know of it",
    )


def library_results_are_apart_from_arguments(tc):
    library = _library(tc)

    def same(x):
        return x

    def part(x):
        return x[:1]

    same.__annotations__ = part.__annotations__ = {"x": tc.Tensor, "return": tc.Tensor}
    operations = [library.custom_op(_name(tc), mutates_args=())(f) for f in (same, part)]
    return [raised(lambda op=op: op(_values(tc)), "may not alias any inputs") for op in operations]


def library_vmap_without_a_rule(tc):
    sine = _sine(tc)
    x = tc.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    return quietly(lambda: tc.vmap(sine)(x))


def library_vmap_with_a_rule(tc):
    sine = _sine(tc)
    seen = []

    def rule(info, in_dims, x, scale=1.0):
        seen.append((info.batch_size, in_dims[0]))
        return sine(x, scale), in_dims[0]

    sine.register_vmap(rule)
    x = tc.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    return tc.vmap(sine, in_dims=1)(x), seen


def library_gradients_of_samples(tc):
    sine = _sine(tc)
    sine.register_vmap(lambda info, in_dims, x, scale=1.0: (sine(x, scale), in_dims[0]))
    x = tc.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    gradient = tc.func.grad(lambda t: sine(t).sum())
    try:
        shown = tc.vmap(gradient)(x)
    except RuntimeError as error:
        shown = "must override the setup_context staticmethod" in str(error)
    return better(shown, torch=True, wengert=x.cos(), why="a registered derivative is as good as a Function's")


def library_meta(tc):
    sine = _sine(tc)
    y = sine(tc.ones(2, 3, device="meta"))
    return tuple(y.shape), y.dtype, y.device


def library_meta_without_a_rule(tc):
    library = _library(tc)

    def kernel(x):
        return x * 2

    kernel.__annotations__ = {"x": tc.Tensor, "return": tc.Tensor}
    double = library.custom_op(_name(tc), mutates_args=())(kernel)
    return raised(lambda: double(tc.ones(2, device="meta")), "There was no fake impl registered for")


def library_kernels_of_devices(tc):
    library = _library(tc)

    def anywhere(x):
        return x * 1

    def here(x):
        return x * 2

    anywhere.__annotations__ = {"x": tc.Tensor, "return": tc.Tensor}
    op = library.custom_op(_name(tc), mutates_args=())(anywhere)
    first = op(_values(tc))
    op.register_kernel("cpu")(here)
    second = op(_values(tc))
    with op.set_kernel_enabled("cpu", False):
        third = op(_values(tc))
    return first, second, third


def library_modes_see_it(tc):
    dispatch = import_module(f"{tc.__name__}.utils._python_dispatch")
    sine = _sine(tc)
    log = []

    class Mode(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log.append((func.name().partition("::")[2] == sine._name, len(args), kwargs))
            return func(*args, **(kwargs or {}))

    x = _values(tc).requires_grad_()
    with Mode():
        y = sine(x, 2.0)
    y.sum().backward()
    return log[:1], y, x.grad


def library_classes_compute_it(tc):
    from tests.wrapper_classes import inner_class

    sine = _sine(tc)
    Inner = inner_class(tc)
    x = Inner(_values(tc)).requires_grad_()
    y = sine(x)
    y.sum().backward()
    return type(y).__name__, y.elem, type(x.grad).__name__, x.grad.elem


def library_classes_by_their_own_rule(tc):
    from tests.wrapper_classes import inner_class

    sine = _sine(tc)
    Inner = inner_class(tc)
    sine.register_torch_dispatch(Inner, lambda cls, func, types, args, kwargs: Inner(args[0].elem * 100))
    return sine(Inner(_values(tc))).elem


def library_functions_are_overridden(tc):
    sine = _sine(tc)
    seen = []

    class Mine(tc.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(getattr(func, "__name__", str(func)).partition(".")[0] == sine._name)
            return super().__torch_function__(func, types, args, kwargs or {})

    y = sine._opoverload(_values(tc).as_subclass(Mine))
    return any(seen), type(y).__name__


def library_schemas(tc):
    library = _library(tc)

    def f(x, y, zs, n, d, k, *, q="a", b=True, o=None): ...

    f.__annotations__ = {
        "x": tc.Tensor,
        "y": tc.Tensor | None,
        "zs": list[tc.Tensor],
        "n": int,
        "d": tc.dtype,
        "k": list[int],
        "q": str,
        "b": bool,
        "o": float | None,
        "return": tuple[tc.Tensor, int],
    }
    return (
        library.infer_schema(f, mutates_args=("x",), op_name="ns::f"),
        library.infer_schema(f, mutates_args="unknown"),
        raised(lambda: library.infer_schema(f, mutates_args=("nope",)), "were not found in the custom op's signature"),
        raised(lambda: library.infer_schema(lambda x: x, mutates_args=()), "must have a type annotation"),
    )


def library_by_schema(tc):
    library = _library(tc)
    op = library.custom_op(
        _name(tc), lambda x, dims=(0,), keep=False: x.sum(dims, keepdim=keep), mutates_args=(),
        schema="(Tensor x, int[] dims=[0], *, bool keep=False) -> Tensor",
    )  # fmt: skip
    x = tc.ones(2, 3)
    return op(x), op(x, [0, 1]), tuple(op(x, [1], keep=True).shape)


def library_libraries(tc):
    library = _library(tc)
    lib = library.Library(f"differential_lib_{tc.__name__}_{next(_numbers)}", "DEF")
    name = lib.define("both(Tensor x, float a=2.0, *, int[] k=[1, 2]) -> (Tensor, Tensor)")
    namespace = getattr(tc.ops, lib.ns)
    missing = raised(lambda: namespace.both(_values(tc)))[0]
    lib.impl("both", lambda x, a=2.0, k=(1, 2): (x * a, x + k[0]), "CPU")
    again = raised(
        lambda: lib.define("both(Tensor x) -> Tensor"), "with the same name and overload name multiple times"
    )
    return name, missing, namespace.both(_values(tc)), namespace.both(_values(tc), 3.0, k=[7]), again


def library_compositions(tc):
    library = _library(tc)
    lib = library.Library(f"differential_lib_{tc.__name__}_{next(_numbers)}", "DEF")
    lib.define("cube(Tensor x) -> Tensor")
    lib.impl("cube", lambda x: x * x * x, "CompositeImplicitAutograd")
    x = _values(tc).requires_grad_()
    y = getattr(tc.ops, lib.ns).cube(x)
    y.sum().backward()
    return y, x.grad


def library_by_name(tc):
    library = _library(tc)
    name = _name(tc)
    library.define(name, "(Tensor x) -> Tensor")
    library.impl(name, "cpu")(lambda x: x * 3)
    library.register_fake(name)(lambda x: tc.empty_like(x))
    library.register_autograd(name, lambda ctx, g: g * 3)
    namespace, _, short = name.partition("::")
    op = getattr(getattr(tc.ops, namespace), short)
    x = _values(tc).requires_grad_()
    op(x).sum().backward()
    return op(_values(tc)), tuple(op(tc.ones(2, device="meta")).shape), x.grad


def library_autograd_kernels(tc):
    library = _library(tc)
    lib = library.Library(f"differential_lib_{tc.__name__}_{next(_numbers)}", "DEF")
    lib.define("double(Tensor x) -> Tensor")
    namespace = getattr(tc.ops, lib.ns)

    class Double(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with tc._C._AutoDispatchBelowAutograd():
                return namespace.double(x)

        @staticmethod
        def backward(ctx, grad):
            return grad * 20

    lib.impl("double", lambda x: x * 2, "CPU")
    lib.impl("double", lambda x: Double.apply(x), "Autograd")
    x = _values(tc).requires_grad_()
    y = namespace.double(x)
    y.sum().backward()
    return y, x.grad


def library_refused(tc):
    library = _library(tc)
    return (
        raised(lambda: library.Library("prim", "DEF"), "is a reserved namespace"),
        raised(lambda: library.Library("mine", "NOTHING"), "Unsupported kind"),
        raised(lambda: library.Library("mine", "FRAGMENT").define("name"), "only the operator name was given"),
    )


def library_checks(tc):
    sine = _sine(tc)
    library = _library(tc)
    return quietly(
        lambda: (
            library.opcheck(sine, (_values(tc),)),
            library.opcheck(sine, (_values(tc).requires_grad_(), 2.0), test_utils="test_schema"),
        )
    )


def library_checks_that_fail(tc):
    library = _library(tc)

    def kernel(x):
        return x * 2

    kernel.__annotations__ = {"x": tc.Tensor, "return": tc.Tensor}
    wrong = library.custom_op(_name(tc), mutates_args=())(kernel)
    wrong.register_fake(lambda x: tc.empty(1))

    def secretly(x):
        x.add_(1)
        return x * 2

    secretly.__annotations__ = kernel.__annotations__
    writes = library.custom_op(_name(tc), mutates_args=())(secretly)
    return quietly(
        lambda: (
            raised(
                lambda: library.opcheck(wrong, (_values(tc),), test_utils="test_faketensor"), "test_faketensor failed"
            ),
            raised(lambda: library.opcheck(writes, (_values(tc),), test_utils="test_schema"), "test_schema failed"),
        )
    )


def library_under_autocast(tc):
    library = _library(tc)
    seen = []

    def kernel(x, others, scale):
        seen.append((str(x.dtype), [str(o.dtype) for o in others], tc.is_autocast_enabled("cpu")))
        return x * scale

    kernel.__annotations__ = {"x": tc.Tensor, "others": list[tc.Tensor], "scale": float, "return": tc.Tensor}
    op = library.custom_op(_name(tc), mutates_args=())(kernel)
    op.register_autograd(lambda ctx, grad: (grad * 2, [None] * 2, None))
    op.register_autocast("cpu", tc.float16)
    op.register_autocast("cpu", tc.bfloat16)  # the first one holds
    x = _values(tc).requires_grad_()
    with tc.autocast("cpu"):
        y = op(x, [tc.ones(1, dtype=tc.float64), tc.ones(2, dtype=tc.int64)], 2.0)
        wide = op(x.double(), [tc.ones(1), tc.ones(1)], 2.0)
        with tc.autocast("cpu", enabled=False):
            off = op(x, [x, x], 2.0)
    outside = op(x, [x, x], 2.0)
    y.float().sum().backward()
    shown = [str(value) for value in seen]
    return (
        [text.replace("torch", "tc").replace("wengert", "tc") for text in shown],
        [str(t.dtype).rpartition(".")[2] for t in (y, wide, off, outside, x.grad)],
        x.grad,
    )


def library_autocast_by_name(tc):
    library, name = _library(tc), _name(tc)
    library.define(name, "(Tensor x, float s=2.0) -> Tensor")
    library.impl(name, "cpu", lambda x, s=2.0: x * s)
    library.register_autocast(name, "cpu", tc.bfloat16)
    namespace, _, short = name.partition("::")
    op = getattr(getattr(tc.ops, namespace), short)
    with tc.autocast("cpu"):
        found = op(_values(tc))
    return str(found.dtype).rpartition(".")[2], raised(lambda: library.register_autocast("none", "cpu", tc.float16))


def library_sizes_that_depend_on_elements(tc):
    library = _library(tc)

    def kernel(x):
        return x[x > 1.5] * 2

    kernel.__annotations__ = {"x": tc.Tensor, "return": tc.Tensor}
    op = library.custom_op(_name(tc), mutates_args=())(kernel)
    op.register_fake(lambda x: x.new_empty([library.get_ctx().new_dynamic_size()]))
    checked = library.opcheck(op, (_values(tc),), test_utils="test_faketensor")
    wrong = library.custom_op(_name(tc), mutates_args=())(kernel)
    wrong.register_fake(lambda x: x.new_empty([library.get_ctx().new_dynamic_size(), 2]))
    negative = library.custom_op(_name(tc), mutates_args=())(kernel)
    negative.register_fake(lambda x: x.new_empty([library.get_ctx().new_dynamic_size(min=-1)]))
    return quietly(
        lambda: (
            checked,
            library.get_ctx(),
            raised(lambda: op(_values(tc).to("meta")), "You're trying to run this operator with meta Tensors"),
            raised(lambda: library.opcheck(wrong, (_values(tc),), test_utils="test_faketensor"), "test_faketensor"),
            raised(lambda: library.opcheck(negative, (_values(tc),), test_utils="test_faketensor"), "min=-1"),
        )
    )


test_program = differential(globals())
