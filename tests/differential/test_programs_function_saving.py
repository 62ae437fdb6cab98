"""Section 8 of the semantics: what custom Functions save."""

import weakref

from tests.differential.fixtures import a_function, a_leaf, square_function
from tests.differential.observation import better, differential, quietly, raised, warned


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

    x, y = a_leaf(tc), a_leaf(tc)
    a_function(tc, forward=forward, backward=backward).apply(x, y).sum().backward()
    return seen, seen[0][0] is x


def F9_nothing_saved(tc):
    seen = []
    Made = a_function(tc, backward=lambda ctx, grad: seen.append(ctx.saved_tensors) or grad)
    y = Made.apply(a_leaf(tc))
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

    x = a_leaf(tc)
    (g,) = tc.autograd.grad(a_function(tc, forward=forward, backward=backward).apply(x).sum(), x, create_graph=True)
    return g, tc.autograd.grad(g.sum(), x)


def F9_version_check(tc):
    x = a_leaf(tc)
    y = x * 1
    z = square_function(tc).apply(y)
    y.add_(1)
    return raised(lambda: z.sum().backward(), "modified by an inplace operation")


def F9_hooks(tc):
    x = a_leaf(tc)
    seen = []

    def pack(t):
        seen.append(t.detach().clone())
        return t * 2

    with tc.autograd.graph.saved_tensors_hooks(pack, lambda t: t * 10):
        y = square_function(tc).apply(x)
    y.sum().backward()
    return seen, x.grad


def F9_saved_variables(tc):
    y = square_function(tc).apply(a_leaf(tc))
    return warned(lambda: y.grad_fn.saved_variables, "deprecated"), quietly(lambda: y.grad_fn.saved_variables)


def F9_misuse(tc):
    x = a_leaf(tc)

    def saving(*values):
        def forward(ctx, x):
            ctx.save_for_backward(*values)
            return x * 2

        return lambda: a_function(tc, forward=forward).apply(x)

    y = square_function(tc).apply(x)
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
        raised(lambda: a_function(tc, forward=forward).apply(tc.ones(2))),
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

    Made = a_function(tc, forward=forward, jvp=jvp)

    def run():
        with forward_ad.dual_level():
            x = forward_ad.make_dual(tc.tensor([2.0]), tc.tensor([1.0]))
            return tuple(forward_ad.unpack_dual(Made.apply(x, tc.tensor([5.0]))))

    return quietly(run), seen


def F10_misuse(tc):
    def forward(ctx, x):
        ctx.save_for_forward(3)
        return x

    return raised(lambda: a_function(tc, forward=forward).apply(a_leaf(tc)))


def F20_saved_tensors_outside(tc):
    x = a_leaf(tc)
    y = square_function(tc).apply(x)
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
    x = a_leaf(tc)
    y = square_function(tc).apply(x)
    y.grad_fn._raw_saved_tensors[0].register_hooks(lambda t: t.detach() * 10, lambda t: t)
    y.sum().backward()
    return x.grad


def F22_clear_saved_tensors_on_access(tc):
    seen = []

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        seen.append(raised(lambda: ctx.saved_tensors))
        return 2 * x * grad

    x = a_leaf(tc)
    Made = a_function(tc, forward=forward, backward=backward, clear_saved_tensors_on_access=True)
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

    Made = a_function(tc, forward=forward, backward=backward, clear_saved_tensors_on_access=True)
    Made.apply(a_leaf(tc)).sum().backward()
    return seen[1:]


test_program = differential(globals())
