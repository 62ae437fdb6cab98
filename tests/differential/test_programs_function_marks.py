"""Section 8 of the semantics: what the context of a custom Function is told, and what backward returns."""

from tests.differential.fixtures import a_function, a_leaf
from tests.differential.observation import better, differential, raised, warned


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
    x = a_leaf(tc)
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
    x = a_leaf(tc)
    with tc.no_grad():
        z = _dirty(tc).apply(x)
    return better(
        (x, x.is_leaf, z is x),
        torch=(("tensor", "tc.float32", [2.0, 4.0]), True, False),
        wengert=(("tensor", "tc.float32", [2.0, 4.0]), True, True),
        why="a dirty input comes back as the same object",
    )


def F11_through_a_view(tc):
    x = a_leaf(tc)
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

    x = a_leaf(tc)
    a, b = a_function(tc, forward=forward, backward=lambda ctx, ga, gb: ga * 2 + gb * 10).apply(x * 1)
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

    x = a_leaf(tc)
    a_function(tc, forward=forward, backward=backward).apply(x * 1).sum().backward()
    return x.grad


def F11_misuse(tc):
    x = a_leaf(tc)
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
            lambda: a_function(tc, forward=not_returned).apply(x * 1),
            "Some elements marked as dirty during the forward method were not returned as output.",
        ),
        raised(
            lambda: a_function(tc, forward=two_outputs).apply((x * 1)[0:1]),
            "your Function modifies inplace an input that is a view",
        ),
        raised(lambda: a_function(tc, forward=number).apply(x * 1)),
    )


def F11_stranger(tc):
    def stranger(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    return warned(lambda: a_function(tc, forward=stranger).apply(a_leaf(tc) * 1), "Only input Tensors")


def F12_mark_non_differentiable(tc):
    def forward(ctx, x):
        a, b = x * 2, x * 3
        ctx.mark_non_differentiable(b)
        return a, b

    seen = []

    def backward(ctx, a, b):
        seen.append((a, b))
        return a * 2

    x = a_leaf(tc)
    a, b = a_function(tc, forward=forward, backward=backward).apply(x)
    a.sum().backward()
    return a.requires_grad, b.requires_grad, b.is_leaf, b.grad_fn, seen, x.grad


def F12_all(tc):
    def forward(ctx, x):
        a = x * 2
        ctx.mark_non_differentiable(a)
        return a

    out = a_function(tc, forward=forward).apply(a_leaf(tc))
    return out.requires_grad, out.grad_fn


def F12_misuse(tc):
    def forward(ctx, x):
        ctx.mark_non_differentiable(3)
        return x * 2

    return raised(lambda: a_function(tc, forward=forward).apply(a_leaf(tc)))


def F13_materialize(tc):
    results = []
    for value in (True, False):
        seen = []

        def forward(ctx, x, value=value):
            ctx.set_materialize_grads(value)
            return x * 2, x * 3

        Made = a_function(tc, forward=forward, backward=lambda ctx, a, b, seen=seen: seen.append((a, b)) or a)
        Made.apply(a_leaf(tc))[0].sum().backward()
        results.append(seen)
    return results


def F13_integral_outputs(tc):
    seen = []
    Made = a_function(tc, forward=lambda ctx, x: (x * 2, x.long()), backward=lambda ctx, a, b: seen.append((a, b)) or a)
    Made.apply(a_leaf(tc))[0].sum().backward()
    return seen


def F13_only_non_differentiable(tc):
    seen = []

    def forward(ctx, x):
        ctx._materialize_non_diff_grads = False
        a, b, c = x * 1, x * 2, x * 3
        ctx.mark_non_differentiable(b)
        return a, b, c

    Made = a_function(tc, forward=forward, backward=lambda ctx, *grads: seen.append(grads) or grads[0])
    Made.apply(a_leaf(tc))[0].sum().backward()
    return seen


def F14_needs_input_grad(tc):
    seen = []

    def forward(ctx, x, number, y, c):
        seen.append(ctx.needs_input_grad)
        return x * y

    def backward(ctx, grad):
        seen.append(ctx.needs_input_grad)
        return grad, None, grad, None

    x, y = a_leaf(tc), a_leaf(tc)
    Made = a_function(tc, forward=forward, backward=backward)
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
    x, y = a_leaf(tc), a_leaf(tc)
    a_function(tc, forward=lambda ctx, x, y: x + y, backward=lambda ctx, g: (g, None)).apply(x, y).sum().backward()
    a_function(tc, backward=lambda ctx, g: (g, None, None, None)).apply(x).sum().backward()
    a_function(tc, forward=lambda ctx, x, n: x * n, backward=lambda ctx, g: (g * 3, None)).apply(x, 3).sum().backward()
    a_function(tc, backward=lambda ctx, g: g.expand(3, 2)).apply(x).sum().backward()
    a_function(tc, backward=lambda ctx, g: g.double()).apply(x).sum().backward()
    return x.grad, y.grad


def F15_misuse(tc):
    x, y = a_leaf(tc), a_leaf(tc)

    def failing(result, fragment, forward=lambda ctx, x, y: x * 2, second=y):
        Made = a_function(tc, forward=forward, backward=lambda ctx, g: result(g))
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

    x = a_leaf(tc)
    Made = a_function(tc, backward=once(backward))
    Made.apply(x).sum().backward()
    (g,) = tc.autograd.grad((Made.apply(x) * x).sum(), x, create_graph=True)
    message = "trying to differentiate twice a function that was marked with @once_differentiable"
    return seen, x.grad, g, raised(lambda: g.sum().backward(), message)


def F16_without_requiring_grad_output(tc):
    once = tc.autograd.function.once_differentiable
    x = a_leaf(tc)
    Made = a_function(tc, backward=once(lambda ctx, grad: grad * 2))
    (g,) = tc.autograd.grad(Made.apply(x).sum(), x, create_graph=True)
    return g, g.requires_grad


def F16_several_results(tc):
    once = tc.autograd.function.once_differentiable
    x, y = a_leaf(tc), a_leaf(tc)
    Made = a_function(tc, forward=lambda ctx, x, n, y: x + y, backward=once(lambda ctx, grad: (grad, None, grad * 2)))
    out = Made.apply(x, 3, y) * x
    (g, h) = tc.autograd.grad(out.sum(), [x, y], create_graph=True)
    return g, h, h.requires_grad, raised(lambda: h.sum().backward(), "trying to differentiate twice")


test_program = differential(globals())
