"""Section 8 of the semantics: custom Functions."""

import gc
import importlib
import traceback
import weakref

from tests.differential.observation import better, differential, quietly, raised, warned


def _x(tc):
    return tc.tensor([1.0, 2.0], requires_grad=True)


def _make(tc, base=None, **methods):
    """Return a Function with these static methods; forward copies, backward passes on by default."""
    methods = {"forward": lambda ctx, x: x.clone(), "backward": lambda ctx, grad: grad, **methods}
    members = {name: staticmethod(value) if callable(value) else value for name, value in methods.items()}
    return type(base or tc.autograd.Function)("Made", (base or tc.autograd.Function,), members)


def _square(tc):
    class Square(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * x * grad

        @staticmethod
        def jvp(ctx, tangent):
            (x,) = ctx.saved_tensors
            return 2 * x * tangent

    return Square


def F1_first_and_second_derivative(tc):
    Square = _square(tc)
    x = _x(tc)
    (g,) = tc.autograd.grad(Square.apply(x).sum(), x, create_graph=True)
    return g, tc.autograd.grad(g.sum(), x)


def F1_vjp(tc):
    x = _x(tc)

    class Double(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def vjp(ctx, grad):
            return grad * 2

    Double.apply(x).sum().backward()
    return x.grad


def F1_class_methods(tc):
    class Scale(tc.autograd.Function):
        factor = 3

        @classmethod
        def forward(cls, ctx, x):
            return x * cls.factor

        @classmethod
        def backward(cls, ctx, grad):
            return grad * cls.factor

    x = _x(tc)
    Scale.apply(x).sum().backward()
    return x.grad


def F1_missing_methods(tc):
    Function = tc.autograd.Function
    x = _x(tc)

    class NoForward(Function):
        pass

    class NoBackward(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    class Both(NoBackward):
        @staticmethod
        def backward(ctx, grad):
            return grad

        @staticmethod
        def vjp(ctx, grad):
            return grad

    return (
        raised(lambda: NoForward.apply(x), "You must implement the forward function for custom autograd.Function."),
        raised(lambda: NoBackward.apply(x).sum().backward(), "You must implement either the backward or vjp method"),
        raised(
            lambda: Both.apply(x).sum().backward(),
            "Implementing both 'backward' and 'vjp' for a custom Function is not allowed",
        ),
        raised(lambda: tc.autograd.Function.apply(x)),
    )


def F1_no_jvp(tc):
    forward_ad = tc.autograd.forward_ad
    Copy = _make(tc)

    def run():
        with forward_ad.dual_level():
            Copy.apply(forward_ad.make_dual(tc.ones(1), tc.ones(1)))

    return raised(
        run, "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
    )


def F1_jvp(tc):
    forward_ad = tc.autograd.forward_ad
    Square = _square(tc)

    def run():
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(tc.tensor([3.0]), tc.tensor([10.0]))
            return tuple(forward_ad.unpack_dual(Square.apply(dual)))

    return quietly(run)


def F1_keyword_arguments(tc):
    x = _x(tc)
    return raised(lambda: _square(tc).apply(x=x))


def F2_names(tc):
    Square = _square(tc)
    Other = _make(tc)
    y = Square.apply(_x(tc))
    return (
        y.grad_fn.name(),
        type(y.grad_fn).__name__,
        type(y.grad_fn) is Square._backward_cls,
        y.grad_fn._forward_cls is Square,
        Square._backward_cls._autograd_function_id != Other._backward_cls._autograd_function_id,
        isinstance(Square._backward_cls._autograd_function_id, int),
        issubclass(Square._backward_cls, tc.autograd.function.BackwardCFunction),
        type(Square).__name__,
    )


def F3_instances(tc):
    Square = _square(tc)
    made = []
    shown = warned(lambda: made.append(Square()), "should not be instantiated")
    return (
        shown,
        isinstance(made[0], Square),
        raised(lambda: made[0](_x(tc)), "Legacy autograd function with non-static forward method is deprecated"),
    )


def F4_context(tc):
    seen = []

    def forward(ctx, x):
        ctx.mark = "mine"
        seen.append(
            (
                tc.is_grad_enabled(),
                isinstance(ctx, tc.autograd.graph.Node),
                ctx.name(),
                (x * 2).requires_grad,
                x.requires_grad,
            )
        )
        seen.append(ctx)
        return x * 2

    def backward(ctx, grad):
        seen.append((ctx.mark, ctx is seen[1]))
        return grad * 2

    y = _make(tc, forward=forward, backward=backward).apply(_x(tc))
    y.sum().backward()
    return seen[0], seen[2], y.grad_fn is seen[1], y.grad_fn.mark


def F4_enable_grad_inside(tc):
    seen = []

    def forward(ctx, x):
        with tc.enable_grad():
            inner = x.detach().requires_grad_()
            y = (inner * inner).sum()
            seen.append(tc.autograd.grad(y, inner))
        return x * 2

    y = _make(tc, forward=forward).apply(_x(tc))
    return seen, y.requires_grad


def F4_nested_apply(tc):
    Square = _square(tc)
    Outer = _make(tc, forward=lambda ctx, x: Square.apply(x), backward=lambda ctx, grad: grad * 100)
    x = _x(tc)
    y = Outer.apply(x)
    y.sum().backward()
    return y, y.grad_fn.name(), x.grad


def F5_inputs(tc):
    seen = []

    def forward(ctx, number, x, items, text, y, mapping):
        seen.append((number, items, text, mapping, [t.requires_grad for t in items], ctx.needs_input_grad))
        return x * number + y

    def backward(ctx, grad):
        return None, grad * 2, None, None, grad, None

    x, y = _x(tc), _x(tc)
    Made = _make(tc, forward=forward, backward=backward)
    out = Made.apply(2, x, [x], "text", y, {"x": 1})
    out.sum().backward()
    return seen[0][0], seen[0][2:], x.grad, y.grad, out.grad_fn.next_functions


def F5_only_in_a_list(tc):
    Made = _make(tc, forward=lambda ctx, items: items[0] * 2)
    out = Made.apply([_x(tc)])
    return out.requires_grad, out.grad_fn


def F6_outputs(tc):
    def forward(ctx, x):
        return x * 2, "text", None, x.long(), 5, x * 3

    Made = _make(tc, forward=forward, backward=lambda ctx, *grads: grads[0] * 2 + grads[5] * 3)
    x = _x(tc)
    a, text, nothing, integers, number, b = Made.apply(x)
    (a + b * 10).sum().backward()
    return (
        text,
        nothing,
        number,
        integers,
        integers.requires_grad,
        a.output_nr,
        b.output_nr,
        a.grad_fn is b.grad_fn,
        x.grad,
    )


def F6_gradients_of_other_outputs(tc):
    seen = []

    def backward(ctx, *grads):
        seen.append(grads)
        return grads[0]

    Made = _make(tc, forward=lambda ctx, x: (x * 1, "text", x.long(), x * 3), backward=backward)
    Made.apply(_x(tc))[0].sum().backward()
    return seen


def F6_containers(tc):
    x = _x(tc)
    as_list = _make(tc, forward=lambda ctx, x: [x * 2]).apply(x)
    as_dict = _make(tc, forward=lambda ctx, x: {"a": x * 2}).apply(x)
    as_number = _make(tc, forward=lambda ctx, x: 5).apply(x)
    as_tuple = _make(tc, forward=lambda ctx, x: (x * 2,)).apply(x)
    nothing = _make(tc, forward=lambda ctx, x: None).apply(x)
    return (
        type(as_list).__name__,
        as_list[0].requires_grad,
        type(as_dict).__name__,
        as_dict["a"].requires_grad,
        as_number,
        type(as_tuple).__name__,
        as_tuple[0].requires_grad,
        nothing,
    )


def F6_duplicates(tc):
    def forward(ctx, x):
        y = x * 2
        return y, y

    seen = []

    def backward(ctx, a, b):
        seen.append((a, b))
        return a + b

    x = _x(tc)
    a, b = _make(tc, forward=forward, backward=backward).apply(x)
    a.sum().backward()
    return a is b, a.output_nr, seen, x.grad


def F6_integer_output_does_not_require_grad(tc):
    out = _make(tc, forward=lambda ctx, x: x.long()).apply(_x(tc))
    flag = _make(tc, forward=lambda ctx, x: x > 1).apply(_x(tc))
    return out.requires_grad, out.grad_fn, flag.requires_grad


def F7_returned_input(tc):
    x = _x(tc)
    Same = _make(tc, forward=lambda ctx, x: x, backward=lambda ctx, grad: grad * 10)
    y = Same.apply(x)
    hooked = []
    y.register_hook(lambda grad: hooked.append(grad))
    y.sum().backward()
    return y is x, y._is_view(), y.grad_fn.name(), y.data_ptr() == x.data_ptr(), x.grad, hooked, x.is_leaf


def F7_returned_input_of_two(tc):
    x, y = _x(tc), _x(tc)
    Same = _make(tc, forward=lambda ctx, x, y: (x, y), backward=lambda ctx, a, b: (a * 10, b * 100))
    a, b = Same.apply(x, y)
    (a + b).sum().backward()
    return x.grad, y.grad, a._is_view(), b.output_nr


def F7_returned_input_without_grad(tc):
    c = tc.ones(2)
    y = _make(tc, forward=lambda ctx, x: x).apply(c)
    return y is c, y.requires_grad, y.data_ptr() == c.data_ptr(), y._is_view()


def F7_in_place_misuse(tc):
    x = _x(tc)
    y = _make(tc, forward=lambda ctx, x: x).apply(x * 1)
    with_grad = raised(lambda: y.mul_(2), "This view was created inside a custom Function")
    return with_grad, raised(lambda: y.mul_(2), "because an input was returned as-is")


def F8_returned_view(tc):
    x = _x(tc)
    y = _make(tc, forward=lambda ctx, x: x[0:1], backward=lambda ctx, grad: tc.cat([grad, grad])).apply(x * 1)
    y.sum().backward()
    return (
        y._is_view(),
        y.grad_fn.name(),
        x.grad,
        raised(lambda: y.mul_(2), "This view was created inside a custom Function"),
    )


def F8_several_views(tc):
    x = _x(tc)
    Two = _make(tc, forward=lambda ctx, x: (x[0:1], x[1:2]), backward=lambda ctx, a, b: tc.cat([a, b]))
    a, b = Two.apply(x * 1)
    return (
        a._is_view(),
        raised(
            lambda: a.mul_(2),
            "This view is the output of a function that returns multiple views",
        ),
        b,
    )


def F8_view_of_a_temporary(tc):
    x = _x(tc)
    y = _make(tc, forward=lambda ctx, x: (x * 2)[0:1], backward=lambda ctx, grad: tc.cat([grad * 2, grad * 0])).apply(x)
    refused = raised(lambda: y.mul_(3), "This view was created inside a custom Function")
    y.sum().backward()
    return refused, x.grad


def F9_save_for_backward(tc):
    def forward(ctx, x, y):
        ctx.save_for_backward(x)
        ctx.save_for_backward(x, None, y, x * 2)
        return x * y

    seen = []

    def backward(ctx, grad):
        seen.append(ctx.saved_tensors)
        seen.append(type(ctx.saved_tensors).__name__)
        return grad, grad

    x, y = _x(tc), _x(tc)
    _make(tc, forward=forward, backward=backward).apply(x, y).sum().backward()
    return seen, seen[0][0] is x


def F9_nothing_saved(tc):
    seen = []
    Made = _make(tc, backward=lambda ctx, grad: seen.append(ctx.saved_tensors) or grad)
    y = Made.apply(_x(tc))
    y.sum().backward()
    return seen, raised(lambda: y.sum().backward(), "Trying to backward through the graph a second time")


def F9_saved_output(tc):
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return y * grad

    x = _x(tc)
    (g,) = tc.autograd.grad(_make(tc, forward=forward, backward=backward).apply(x).sum(), x, create_graph=True)
    return g, tc.autograd.grad(g.sum(), x)


def F9_version_check(tc):
    x = _x(tc)
    y = x * 1
    z = _square(tc).apply(y)
    y.add_(1)
    return raised(lambda: z.sum().backward(), "modified by an inplace operation")


def F9_hooks(tc):
    x = _x(tc)
    seen = []

    def pack(t):
        seen.append(t.detach().clone())
        return t * 2

    with tc.autograd.graph.saved_tensors_hooks(pack, lambda t: t * 10):
        y = _square(tc).apply(x)
    y.sum().backward()
    return seen, x.grad


def F9_saved_variables(tc):
    y = _square(tc).apply(_x(tc))
    return warned(lambda: y.grad_fn.saved_variables, "deprecated"), quietly(lambda: y.grad_fn.saved_variables)


def F9_misuse(tc):
    x = _x(tc)

    def saving(*values):
        def forward(ctx, x):
            ctx.save_for_backward(*values)
            return x * 2

        return lambda: _make(tc, forward=forward).apply(x)

    y = _square(tc).apply(x)
    y.sum().backward()
    return (
        raised(saving(3), "save_for_backward can only save variables, but argument 0 is of type int"),
        raised(saving(x, "a"), "save_for_backward can only save variables, but argument 1 is of type str"),
        raised(saving([x]), "but argument 0 is of type list"),
        raised(lambda: y.sum().backward(), "Trying to backward through the graph a second time"),
        raised(lambda: y.grad_fn.saved_tensors, "Trying to backward through the graph a second time"),
    )


def F9_misuse_without_recording(tc):
    def forward(ctx, x):
        ctx.save_for_backward(3)
        return x * 2

    return better(
        raised(lambda: _make(tc, forward=forward).apply(tc.ones(2))),
        torch=None,
        wengert=("TypeError", ""),
        why="the mistake shows in every mode",
    )


def F10_save_for_forward(tc):
    forward_ad = tc.autograd.forward_ad

    def forward(ctx, x, y):
        ctx.save_for_forward(x, None, y)
        return x * y

    seen = []

    def jvp(ctx, tx, ty):
        x, nothing, y = ctx.saved_tensors
        seen.append(nothing)
        return tx * y + x * ty

    Made = _make(tc, forward=forward, jvp=jvp)

    def run():
        with forward_ad.dual_level():
            x = forward_ad.make_dual(tc.tensor([2.0]), tc.tensor([1.0]))
            return tuple(forward_ad.unpack_dual(Made.apply(x, tc.tensor([5.0]))))

    return quietly(run), seen


def F10_misuse(tc):
    def forward(ctx, x):
        ctx.save_for_forward(3)
        return x

    return raised(lambda: _make(tc, forward=forward).apply(_x(tc)))


def _dirty(tc):
    class Dirty(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    return Dirty


def F11_mark_dirty(tc):
    x = _x(tc)
    y = x * 1
    old, version = y.grad_fn, y._version
    z = _dirty(tc).apply(y)
    z.sum().backward()
    return z is y, y._version - version, y.grad_fn.name(), y.grad_fn.next_functions[0][0] is old, x.grad, z


def F11_on_constants(tc):
    c = tc.ones(2)
    z = _dirty(tc).apply(c)
    return z is c, c, c.requires_grad, c._version


def F11_in_no_grad(tc):
    x = _x(tc)
    with tc.no_grad():
        z = _dirty(tc).apply(x)
    return better(
        (x, x.is_leaf, z is x),
        torch=(("tensor", "tc.float32", [2.0, 4.0]), True, False),
        wengert=(("tensor", "tc.float32", [2.0, 4.0]), True, True),
        why="a dirty input comes back as the same object",
    )


def F11_through_a_view(tc):
    x = _x(tc)
    base = x * 1
    view = base[0:1]
    z = _dirty(tc).apply(view)
    (base * 10).sum().backward()
    return z is view, base.grad_fn.name(), view.grad_fn.name(), x.grad, base


def F11_two_outputs(tc):
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x, x * 5

    x = _x(tc)
    a, b = _make(tc, forward=forward, backward=lambda ctx, ga, gb: ga * 2 + gb * 10).apply(x * 1)
    (a + b).sum().backward()
    return x.grad, a.output_nr, b.output_nr


def F11_saved_dirty_input(tc):
    def forward(ctx, x):
        x.exp_()
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * y

    x = _x(tc)
    _make(tc, forward=forward, backward=backward).apply(x * 1).sum().backward()
    return x.grad


def F11_misuse(tc):
    x = _x(tc)
    Dirty = _dirty(tc)

    def not_returned(ctx, x):
        ctx.mark_dirty(x)
        return x * 2

    def two_outputs(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x, x.clone()

    def number(ctx, x):
        ctx.mark_dirty(3)
        return x

    return (
        raised(lambda: Dirty.apply(x), "a leaf Variable that requires grad has been used in an in-place operation."),
        raised(
            lambda: Dirty.apply(x[0:1]),
            "a view of a leaf Variable that requires grad is being used in an in-place operation.",
        ),
        raised(
            lambda: _make(tc, forward=not_returned).apply(x * 1),
            "Some elements marked as dirty during the forward method were not returned as output.",
        ),
        raised(
            lambda: _make(tc, forward=two_outputs).apply((x * 1)[0:1]),
            "your Function modifies inplace an input that is a view",
        ),
        raised(lambda: _make(tc, forward=number).apply(x * 1)),
    )


def F11_stranger(tc):
    def stranger(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    return warned(lambda: _make(tc, forward=stranger).apply(_x(tc) * 1), "Only input Tensors")


def F12_mark_non_differentiable(tc):
    def forward(ctx, x):
        a, b = x * 2, x * 3
        ctx.mark_non_differentiable(b)
        return a, b

    seen = []

    def backward(ctx, a, b):
        seen.append((a, b))
        return a * 2

    x = _x(tc)
    a, b = _make(tc, forward=forward, backward=backward).apply(x)
    a.sum().backward()
    return a.requires_grad, b.requires_grad, b.is_leaf, b.grad_fn, seen, x.grad


def F12_all(tc):
    def forward(ctx, x):
        a = x * 2
        ctx.mark_non_differentiable(a)
        return a

    out = _make(tc, forward=forward).apply(_x(tc))
    return out.requires_grad, out.grad_fn


def F12_misuse(tc):
    def forward(ctx, x):
        ctx.mark_non_differentiable(3)
        return x * 2

    return raised(lambda: _make(tc, forward=forward).apply(_x(tc)))


def F13_materialize(tc):
    results = []
    for value in (True, False):
        seen = []

        def forward(ctx, x, value=value):
            ctx.set_materialize_grads(value)
            return x * 2, x * 3

        Made = _make(tc, forward=forward, backward=lambda ctx, a, b, seen=seen: seen.append((a, b)) or a)
        Made.apply(_x(tc))[0].sum().backward()
        results.append(seen)
    return results


def F13_integral_outputs(tc):
    seen = []
    Made = _make(tc, forward=lambda ctx, x: (x * 2, x.long()), backward=lambda ctx, a, b: seen.append((a, b)) or a)
    Made.apply(_x(tc))[0].sum().backward()
    return seen


def F13_only_non_differentiable(tc):
    seen = []

    def forward(ctx, x):
        ctx._materialize_non_diff_grads = False
        a, b, c = x * 1, x * 2, x * 3
        ctx.mark_non_differentiable(b)
        return a, b, c

    Made = _make(tc, forward=forward, backward=lambda ctx, *grads: seen.append(grads) or grads[0])
    Made.apply(_x(tc))[0].sum().backward()
    return seen


def F14_needs_input_grad(tc):
    seen = []

    def forward(ctx, x, number, y, c):
        seen.append(ctx.needs_input_grad)
        return x * y

    def backward(ctx, grad):
        seen.append(ctx.needs_input_grad)
        return grad, None, grad, None

    x, y = _x(tc), _x(tc)
    Made = _make(tc, forward=forward, backward=backward)
    out = Made.apply(x, 3, y, tc.ones(2)).sum()
    out.backward(retain_graph=True)
    tc.autograd.grad(out, y, retain_graph=True)
    out.backward(inputs=[x])
    all_of_forward = (True, False, True, False)
    return better(
        seen,
        torch=[all_of_forward] * 4,
        wengert=[all_of_forward] * 2 + [(False, False, True, False), (True, False, False, False)],
        why="backward sees which gradients the running pass wants",
    )


def F15_results(tc):
    x, y = _x(tc), _x(tc)
    _make(tc, forward=lambda ctx, x, y: x + y, backward=lambda ctx, g: (g, None)).apply(x, y).sum().backward()
    _make(tc, backward=lambda ctx, g: (g, None, None, None)).apply(x).sum().backward()
    _make(tc, forward=lambda ctx, x, n: x * n, backward=lambda ctx, g: (g * 3, None)).apply(x, 3).sum().backward()
    _make(tc, backward=lambda ctx, g: g.expand(3, 2)).apply(x).sum().backward()
    _make(tc, backward=lambda ctx, g: g.double()).apply(x).sum().backward()
    return x.grad, y.grad


def F15_misuse(tc):
    x, y = _x(tc), _x(tc)

    def failing(result, fragment, forward=lambda ctx, x, y: x * 2, second=y):
        Made = _make(tc, forward=forward, backward=lambda ctx, g: result(g))
        return raised(lambda: Made.apply(x, second).sum().backward(), fragment)

    return (
        failing(lambda g: g, "returned an incorrect number of gradients (expected 2, got 1)"),
        failing(lambda g: (g, g, g), "returned an incorrect number of gradients (expected 2, got 3)"),
        failing(
            lambda g: (g, g),
            "returned a gradient different than None at position 2",
            second=3,
        ),
        failing(lambda g: (g, 1.0), "expected Variable or None (got float)"),
        failing(lambda g: (g, [g]), "expected Variable or None (got list)"),
        failing(lambda g: 1.0, ""),
    )


def F16_once_differentiable(tc):
    once = tc.autograd.function.once_differentiable
    seen = []

    def backward(ctx, grad):
        seen.append(tc.is_grad_enabled())
        return grad * 2

    x = _x(tc)
    Made = _make(tc, backward=once(backward))
    Made.apply(x).sum().backward()
    (g,) = tc.autograd.grad((Made.apply(x) * x).sum(), x, create_graph=True)
    message = "trying to differentiate twice a function that was marked with @once_differentiable"
    return seen, x.grad, g, raised(lambda: g.sum().backward(), message)


def F16_without_requiring_grad_output(tc):
    once = tc.autograd.function.once_differentiable
    x = _x(tc)
    Made = _make(tc, backward=once(lambda ctx, grad: grad * 2))
    (g,) = tc.autograd.grad(Made.apply(x).sum(), x, create_graph=True)
    return g, g.requires_grad


def F16_several_results(tc):
    once = tc.autograd.function.once_differentiable
    x, y = _x(tc), _x(tc)
    Made = _make(tc, forward=lambda ctx, x, n, y: x + y, backward=once(lambda ctx, grad: (grad, None, grad * 2)))
    out = Made.apply(x, 3, y) * x
    (g, h) = tc.autograd.grad(out.sum(), [x, y], create_graph=True)
    return g, h, h.requires_grad, raised(lambda: h.sum().backward(), "trying to differentiate twice")


def F17_setup_context(tc):
    seen = []

    class Power(tc.autograd.Function):
        @staticmethod
        def forward(x, n=3):
            return x**n

        @staticmethod
        def setup_context(ctx, inputs, output):
            seen.append((len(inputs), inputs[1:], output.detach(), output.requires_grad, tc.is_grad_enabled()))
            ctx.save_for_backward(inputs[0])
            ctx.n = inputs[1]

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * ctx.n * x ** (ctx.n - 1), None

    x = _x(tc)
    Power.apply(x).sum().backward()
    first = x.grad.clone()
    Power.apply(x, n=2).sum().backward()
    return seen, first, x.grad


def F17_keyword_order(tc):
    class Difference(tc.autograd.Function):
        @staticmethod
        def forward(a, b):
            return a - b

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, grad):
            return grad, -grad

    x, y = _x(tc), _x(tc)
    Difference.apply(b=x, a=y).sum().backward()
    return x.grad, y.grad, raised(lambda: Difference.apply(x)), raised(lambda: Difference.apply(x, y, c=1))


def F17_inherited(tc):
    class Base(tc.autograd.Function):
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.factor = 7

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.factor

    class Derived(Base):
        @staticmethod
        def forward(x):
            return x * 7

    x = _x(tc)
    Derived.apply(x).sum().backward()
    return x.grad


def _dual_program(tc, function, *, primal=(2.0, 3.0), tangent=(1.0, 10.0)):
    forward_ad = tc.autograd.forward_ad

    def run():
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(tc.tensor(primal), tc.tensor(tangent))
            return function(forward_ad, dual)

    return quietly(run)


def F18_arguments(tc):
    seen = []

    def jvp(ctx, *tangents):
        seen.append(tangents)
        return tangents[0] * 2

    Made = _make(tc, forward=lambda ctx, x, number, c: x * 2, jvp=jvp)
    result = _dual_program(tc, lambda fwd, dual: fwd.unpack_dual(Made.apply(dual, 3, tc.ones(2))).tangent)
    return result, seen


def F18_not_materialized(tc):
    seen = []

    def forward(ctx, x, c):
        ctx.set_materialize_grads(False)
        return x * 2

    def jvp(ctx, *tangents):
        seen.append(tangents)
        return tangents[0] * 2

    Made = _make(tc, forward=forward, jvp=jvp)
    return _dual_program(tc, lambda fwd, dual: fwd.unpack_dual(Made.apply(dual, tc.ones(2))).tangent), seen


def F18_several_outputs(tc):
    def forward(ctx, x):
        return x * 2, x.long(), x * 3

    Made = _make(tc, forward=forward, jvp=lambda ctx, t: (t * 2, None, t * 3))
    return _dual_program(tc, lambda fwd, dual: [fwd.unpack_dual(t).tangent for t in Made.apply(dual)])


def F18_dirty(tc):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    Good = _make(tc, forward=forward, jvp=lambda ctx, t: t.mul_(2))
    Bad = _make(tc, forward=forward, jvp=lambda ctx, t: t * 2)
    return (
        _dual_program(tc, lambda fwd, dual: tuple(fwd.unpack_dual(Good.apply(dual)))),
        _dual_program(tc, lambda fwd, dual: raised(lambda: Bad.apply(dual), "inplace")),
    )


def F18_returned_as_is(tc):
    def forward(ctx, x):
        return x

    Good = _make(tc, forward=forward, jvp=lambda ctx, t: t.view_as(t))
    Bad = _make(tc, forward=forward, jvp=lambda ctx, t: t * 1)
    return (
        _dual_program(tc, lambda fwd, dual: tuple(fwd.unpack_dual(Good.apply(dual)))),
        _dual_program(
            tc,
            lambda fwd, dual: raised(
                lambda: Bad.apply(dual), "A custom Function's forward is returning a view (or an input as-is)"
            ),
        ),
    )


def F18_view(tc):
    def forward(ctx, x):
        return x[0:1]

    Good = _make(tc, forward=forward, jvp=lambda ctx, t: t[0:1])
    Bad = _make(tc, forward=forward, jvp=lambda ctx, t: t[0:1].clone())
    return (
        _dual_program(tc, lambda fwd, dual: tuple(fwd.unpack_dual(Good.apply(dual)))),
        _dual_program(tc, lambda fwd, dual: raised(lambda: Bad.apply(dual), "jvp is not returning a view")),
    )


def F18_tangent_of_non_differentiable_output(tc):
    def forward(ctx, x):
        y = x * 2
        ctx.mark_non_differentiable(y)
        return x * 3, y

    Made = _make(tc, forward=forward, jvp=lambda ctx, t: (t, t))
    return _dual_program(
        tc, lambda fwd, dual: raised(lambda: Made.apply(dual), "You should return None at that position instead")
    )


def F18_misuse(tc):
    Wrong = _make(tc, jvp=lambda ctx, t: (t, t))
    Size = _make(tc, jvp=lambda ctx, t: t[0:1])
    Kind = _make(tc, jvp=lambda ctx, t: 3)
    return [
        _dual_program(tc, lambda fwd, dual, made=made: raised(lambda: made.apply(dual))) is not None
        for made in (Wrong, Size, Kind)
    ]


def F19_lifetime(tc):
    class Token:
        pass

    tokens = []

    def forward(ctx, x):
        ctx.token = Token()
        ctx.save_for_backward(x)
        tokens.append(weakref.ref(ctx.token))
        return x * 2

    y = _make(tc, forward=forward).apply(_x(tc))
    z = y.sum()
    del y
    gc.collect()
    alive = tokens[0]() is not None
    z.backward()
    after_backward = tokens[0]() is not None
    del z
    gc.collect()
    return alive, after_backward, tokens[0]() is not None


def F19_stashed_context(tc):
    kept = []

    def forward(ctx, x):
        ctx.note = 5
        kept.append(ctx)
        return x * 2

    _make(tc, forward=forward).apply(_x(tc))
    gc.collect()
    return kept[0].note, kept[0].name()


def F19_cycles_are_collected(tc):
    class Token:
        pass

    tokens = []

    def forward(ctx, x):
        y = x * 2
        ctx.token = Token()
        tokens.append(weakref.ref(ctx.token))
        return y

    y = _make(tc, forward=forward).apply(_x(tc))
    y.grad_fn.output = y
    del y
    gc.collect()
    return tokens[0]() is None


def F19_instance_alone(tc):
    made = quietly(lambda: _square(tc)())
    made.note = 3
    return made.note, type(made).__name__


def F20_saved_tensors_outside(tc):
    x = _x(tc)
    y = _square(tc).apply(x)
    before = y.grad_fn.saved_tensors
    raw = y.grad_fn._raw_saved_tensors
    y.sum().backward()
    message = "Trying to backward through the graph a second time"
    return (
        before,
        before[0] is x,
        len(raw),
        type(raw[0]).__name__,
        raised(lambda: y.grad_fn.saved_tensors, message),
        raised(lambda: y.grad_fn._raw_saved_tensors, message),
    )


def F20_raw_hooks(tc):
    x = _x(tc)
    y = _square(tc).apply(x)
    y.grad_fn._raw_saved_tensors[0].register_hooks(lambda t: t.detach() * 10, lambda t: t)
    y.sum().backward()
    return x.grad


def F21_exceptions(tc):
    class MineError(Exception):
        pass

    def backward(ctx, grad):
        raise MineError("here")

    y = _make(tc, backward=backward).apply(_x(tc)).sum()
    try:
        y.backward()
    except MineError as error:
        frames = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
        return str(error), "backward" in frames
    return None


def F21_exceptions_in_forward(tc):
    def forward(ctx, x):
        raise KeyError("mine")

    return raised(lambda: _make(tc, forward=forward).apply(_x(tc)), "mine"), tc.is_grad_enabled()


def F21_graph_stays_usable(tc):
    calls = []

    def backward(ctx, grad):
        calls.append(1)
        if len(calls) == 1:
            raise ValueError("once")
        return grad

    x = _x(tc)
    y = (_make(tc, backward=backward).apply(x) * 2).sum()
    first = raised(lambda: y.backward(retain_graph=True), "once")
    y.backward()
    return first, x.grad


def F22_clear_saved_tensors_on_access(tc):
    seen = []

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        seen.append(raised(lambda: ctx.saved_tensors))
        return 2 * x * grad

    x = _x(tc)
    Made = _make(tc, forward=forward, backward=backward, clear_saved_tensors_on_access=True)
    Made.apply(x).sum().backward()
    return seen, x.grad


def F22_frees_early(tc):
    seen = []

    def forward(ctx, x):
        y = x * 2
        seen.append(weakref.ref(y))
        ctx.save_for_backward(y)
        return x * 3

    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        del y
        seen.append(seen[0]() is None)
        return grad

    Made = _make(tc, forward=forward, backward=backward, clear_saved_tensors_on_access=True)
    Made.apply(_x(tc)).sum().backward()
    return seen[1:]


def F23_boxed_grads_call(tc):
    seen = []

    def backward(ctx, grads):
        seen.append((type(grads).__name__, list(grads)))
        a, b = grads
        grads.clear()
        return a * 2 + b * 3

    x = _x(tc)
    Made = _make(tc, forward=lambda ctx, x: (x * 2, x * 3), backward=backward, boxed_grads_call=True)
    a, b = Made.apply(x)
    (a + b * 10).sum().backward()
    return seen, x.grad


def F24_defaults(tc):
    Function = tc.autograd.Function
    return Function.generate_vmap_rule, raised(lambda: Function.vmap(None, None, None))


def F25_subclass_returned_as_is(tc):
    class Tagged(tc.Tensor):
        pass

    x = tc.ones(2).as_subclass(Tagged).requires_grad_()
    y = _make(tc, forward=lambda ctx, x: x).apply(x)
    z = _make(tc).apply(x)
    return type(x).__name__, type(y).__name__, type(z).__name__, y.requires_grad


def F26_legacy_names(tc):
    function = tc.autograd.function
    names = (
        "InplaceFunction",
        "NestedIOFunction",
        "FunctionCtx",
        "_ContextMethodMixin",
        "BackwardCFunction",
        "FunctionMeta",
        "once_differentiable",
        "Function",
    )
    return (
        [hasattr(function, name) for name in names],
        raised(lambda: function.InplaceFunction.apply(_x(tc))),
        issubclass(function.InplaceFunction, function.Function),
        issubclass(function.Function, function.FunctionCtx),
        function._ContextMethodMixin is function.FunctionCtx,
        hasattr(tc.autograd, "NestedIOFunction"),
    )


def F26_mark_shared_storage(tc):
    def forward(ctx, x):
        ctx.mark_shared_storage((x, x))
        return x * 2

    return warned(
        lambda: _make(tc, forward=forward).apply(_x(tc)), "Tensors with shared storages are automatically tracked"
    )


def F26_inplace_flag(tc):
    made = quietly(lambda: tc.autograd.function.InplaceFunction(True))
    return better(
        (made.inplace, raised(lambda: tc.autograd.NestedIOFunction.apply(_x(tc)))),
        torch=(True, ("AttributeError", "")),
        wengert=(True, ("NotImplementedError", "")),
        why="says which forward is missing",
    )


def F27_resize(tc):
    Resize = importlib.import_module(f"{tc.__name__}.autograd._functions").Resize
    x = _x(tc)
    y = Resize.apply(x, (2, 1))
    y.sum().backward()
    return (
        tuple(y.shape),
        x.grad,
        raised(lambda: Resize.apply(x, (3, 1)), "autograd's resize can only change the shape"),
    )


def F27_type(tc):
    Type = importlib.import_module(f"{tc.__name__}.autograd._functions").Type
    return Type.__name__, issubclass(Type, tc.autograd.Function)


def F28_no_tensors(tc):
    seen = []

    def forward(ctx, a, b):
        seen.append(ctx.needs_input_grad)
        return a + b

    return _make(tc, forward=forward).apply(2, 3), seen


def F28_tensors_without_grad(tc):
    out = _square(tc).apply(tc.ones(2))
    return out, out.requires_grad, out.grad_fn


def F28_in_no_grad(tc):
    with tc.no_grad():
        out = _square(tc).apply(_x(tc))
    return out.requires_grad, out.grad_fn


test_program = differential(globals())
