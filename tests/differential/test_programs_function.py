"""Section 8 of the semantics: custom Functions, their inputs and outputs."""

from tests.differential.fixtures import a_function, a_leaf, square_function
from tests.differential.observation import differential, quietly, raised, warned


def F1_first_and_second_derivative(tc):
    Square = square_function(tc)
    x = a_leaf(tc)
    (g,) = tc.autograd.grad(Square.apply(x).sum(), x, create_graph=True)
    return g, tc.autograd.grad(g.sum(), x)


def F1_vjp(tc):
    x = a_leaf(tc)

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

    x = a_leaf(tc)
    Scale.apply(x).sum().backward()
    return x.grad


def F1_missing_methods(tc):
    Function = tc.autograd.Function
    x = a_leaf(tc)

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
    Copy = a_function(tc)

    def run():
        with forward_ad.dual_level():
            Copy.apply(forward_ad.make_dual(tc.ones(1), tc.ones(1)))

    return raised(
        run, "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
    )


def F1_jvp(tc):
    forward_ad = tc.autograd.forward_ad
    Square = square_function(tc)

    def run():
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(tc.tensor([3.0]), tc.tensor([10.0]))
            return tuple(forward_ad.unpack_dual(Square.apply(dual)))

    return quietly(run)


def F1_keyword_arguments(tc):
    x = a_leaf(tc)
    return raised(lambda: square_function(tc).apply(x=x))


def F2_names(tc):
    Square = square_function(tc)
    Other = a_function(tc)
    y = Square.apply(a_leaf(tc))
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
    Square = square_function(tc)
    made = []
    shown = warned(lambda: made.append(Square()), "should not be instantiated")
    return (
        shown,
        isinstance(made[0], Square),
        raised(lambda: made[0](a_leaf(tc)), "Legacy autograd function with non-static forward method is deprecated"),
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

    y = a_function(tc, forward=forward, backward=backward).apply(a_leaf(tc))
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

    y = a_function(tc, forward=forward).apply(a_leaf(tc))
    return seen, y.requires_grad


def F4_nested_apply(tc):
    Square = square_function(tc)
    Outer = a_function(tc, forward=lambda ctx, x: Square.apply(x), backward=lambda ctx, grad: grad * 100)
    x = a_leaf(tc)
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

    x, y = a_leaf(tc), a_leaf(tc)
    Made = a_function(tc, forward=forward, backward=backward)
    out = Made.apply(2, x, [x], "text", y, {"x": 1})
    out.sum().backward()
    return seen[0][0], seen[0][2:], x.grad, y.grad, out.grad_fn.next_functions


def F5_only_in_a_list(tc):
    Made = a_function(tc, forward=lambda ctx, items: items[0] * 2)
    out = Made.apply([a_leaf(tc)])
    return out.requires_grad, out.grad_fn


def F6_outputs(tc):
    def forward(ctx, x):
        return x * 2, "text", None, x.long(), 5, x * 3

    Made = a_function(tc, forward=forward, backward=lambda ctx, *grads: grads[0] * 2 + grads[5] * 3)
    x = a_leaf(tc)
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

    Made = a_function(tc, forward=lambda ctx, x: (x * 1, "text", x.long(), x * 3), backward=backward)
    Made.apply(a_leaf(tc))[0].sum().backward()
    return seen


def F6_containers(tc):
    x = a_leaf(tc)
    as_list = a_function(tc, forward=lambda ctx, x: [x * 2]).apply(x)
    as_dict = a_function(tc, forward=lambda ctx, x: {"a": x * 2}).apply(x)
    as_number = a_function(tc, forward=lambda ctx, x: 5).apply(x)
    as_tuple = a_function(tc, forward=lambda ctx, x: (x * 2,)).apply(x)
    nothing = a_function(tc, forward=lambda ctx, x: None).apply(x)
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

    x = a_leaf(tc)
    a, b = a_function(tc, forward=forward, backward=backward).apply(x)
    a.sum().backward()
    return a is b, a.output_nr, seen, x.grad


def F6_integer_output_does_not_require_grad(tc):
    out = a_function(tc, forward=lambda ctx, x: x.long()).apply(a_leaf(tc))
    flag = a_function(tc, forward=lambda ctx, x: x > 1).apply(a_leaf(tc))
    return out.requires_grad, out.grad_fn, flag.requires_grad


def F7_returned_input(tc):
    x = a_leaf(tc)
    Same = a_function(tc, forward=lambda ctx, x: x, backward=lambda ctx, grad: grad * 10)
    y = Same.apply(x)
    hooked = []
    y.register_hook(lambda grad: hooked.append(grad))
    y.sum().backward()
    return y is x, y._is_view(), y.grad_fn.name(), y.data_ptr() == x.data_ptr(), x.grad, hooked, x.is_leaf


def F7_returned_input_of_two(tc):
    x, y = a_leaf(tc), a_leaf(tc)
    Same = a_function(tc, forward=lambda ctx, x, y: (x, y), backward=lambda ctx, a, b: (a * 10, b * 100))
    a, b = Same.apply(x, y)
    (a + b).sum().backward()
    return x.grad, y.grad, a._is_view(), b.output_nr


def F7_returned_input_without_grad(tc):
    c = tc.ones(2)
    y = a_function(tc, forward=lambda ctx, x: x).apply(c)
    return y is c, y.requires_grad, y.data_ptr() == c.data_ptr(), y._is_view()


def F7_in_place_misuse(tc):
    x = a_leaf(tc)
    y = a_function(tc, forward=lambda ctx, x: x).apply(x * 1)
    with_grad = raised(lambda: y.mul_(2), "This view was created inside a custom Function")
    return with_grad, raised(lambda: y.mul_(2), "because an input was returned as-is")


def F8_returned_view(tc):
    x = a_leaf(tc)
    y = a_function(tc, forward=lambda ctx, x: x[0:1], backward=lambda ctx, grad: tc.cat([grad, grad])).apply(x * 1)
    y.sum().backward()
    return (
        y._is_view(),
        y.grad_fn.name(),
        x.grad,
        raised(lambda: y.mul_(2), "This view was created inside a custom Function"),
    )


def F8_several_views(tc):
    x = a_leaf(tc)
    Two = a_function(tc, forward=lambda ctx, x: (x[0:1], x[1:2]), backward=lambda ctx, a, b: tc.cat([a, b]))
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
    x = a_leaf(tc)
    first = a_function(tc, forward=lambda ctx, x: (x * 2)[0:1], backward=lambda ctx, grad: tc.cat([grad * 2, grad * 0]))
    y = first.apply(x)
    refused = raised(lambda: y.mul_(3), "This view was created inside a custom Function")
    y.sum().backward()
    return refused, x.grad


test_program = differential(globals())
