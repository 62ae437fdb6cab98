"""Rows of several sections at work together: custom Functions, accumulation and what follows."""

import gc
import weakref

from tests.differential.fixtures import a_function, a_leaf
from tests.differential.observation import differential, quietly, raised


def F4_context_survives_the_tensor(tc):
    x = a_leaf(tc)
    kept = []

    def forward(ctx, x):
        ctx.save_for_backward(x)
        kept.append(ctx)
        return x * 2

    y = a_function(tc, forward=forward).apply(x)
    del y
    gc.collect()
    return kept[0].saved_tensors, kept[0].next_functions


def F6_none_and_tensor(tc):
    Made = a_function(tc, forward=lambda ctx, x: (None, x * 2), backward=lambda ctx, nothing, grad: grad * 2)
    x = a_leaf(tc)
    nothing, y = Made.apply(x)
    y.sum().backward()
    return nothing, y.output_nr, x.grad


def F6_output_that_already_has_history(tc):
    other = a_leaf(tc)
    outside = other * 3
    Made = a_function(tc, forward=lambda ctx, x: outside, backward=lambda ctx, grad: grad * 7)
    x = a_leaf(tc)
    y = Made.apply(x)
    y.sum().backward()
    return y.grad_fn.name(), x.grad, other.grad


def F7_hooks_stay_apart(tc):
    x = a_leaf(tc)
    seen = []
    x.register_hook(lambda grad: seen.append(("x", grad)))
    y = a_function(tc, forward=lambda ctx, x: x, backward=lambda ctx, grad: grad * 10).apply(x)
    y.register_hook(lambda grad: seen.append(("y", grad)))
    y.sum().backward()
    return seen


def F8_view_under_no_grad(tc):
    x = a_leaf(tc)
    with tc.no_grad():
        y = a_function(tc, forward=lambda ctx, x: x[0:1]).apply(x)
    return y._is_view(), y.requires_grad, y


def F9_intermediate(tc):
    def forward(ctx, x):
        hidden = x * 2
        ctx.save_for_backward(hidden)
        return hidden * hidden

    def backward(ctx, grad):
        (hidden,) = ctx.saved_tensors
        return grad * 2 * hidden * 2

    x = a_leaf(tc)
    (g,) = tc.autograd.grad(a_function(tc, forward=forward, backward=backward).apply(x).sum(), x, create_graph=True)
    return g, g.requires_grad


def F9_saved_through_an_attribute(tc):
    def forward(ctx, x):
        ctx.kept = x
        return x * x

    def backward(ctx, grad):
        return grad * 2 * ctx.kept

    x = a_leaf(tc)
    y = a_function(tc, forward=forward, backward=backward).apply(x).sum()
    y.backward(retain_graph=True)
    y.backward()
    return x.grad


def F11_write_without_mark(tc):
    x = a_leaf(tc)

    def forward(ctx, x):
        x.mul_(2)
        return x

    y = x * 1
    z = a_function(tc, forward=forward, backward=lambda ctx, grad: grad * 2).apply(y)
    return z is y, z, z.grad_fn.name(), y.grad_fn.name()


def F11_hooks_around(tc):
    x = a_leaf(tc)
    y = x * 1
    seen = []
    y.register_hook(lambda grad: seen.append(("old", grad)))

    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    z = a_function(tc, forward=forward, backward=lambda ctx, grad: grad * 2).apply(y)
    z.register_hook(lambda grad: seen.append(("new", grad)))
    z.sum().backward()
    return seen


def F12_non_differentiable_input_returned(tc):
    def forward(ctx, x):
        ctx.mark_non_differentiable(x)
        return x

    y = a_function(tc, forward=forward).apply(a_leaf(tc))
    return y.requires_grad, y.grad_fn


def F13_gradient_arrives_only_at_the_second_output(tc):
    seen = []
    Made = a_function(
        tc, forward=lambda ctx, x: (x * 2, x * 3), backward=lambda ctx, a, b: seen.append((a, b)) or a * 2 + b * 3
    )
    x = a_leaf(tc)
    Made.apply(x)[1].sum().backward()
    return seen, x.grad


def F15_gradient_is_an_input(tc):
    x, y = a_leaf(tc), a_leaf(tc)
    Made = a_function(tc, forward=lambda ctx, x, y: x + y, backward=lambda ctx, grad: (grad, grad))
    Made.apply(x, y).sum().backward()
    x.grad.add_(100)
    return y.grad


def F15_grad_inside_backward(tc):
    def backward(ctx, grad):
        with tc.enable_grad():
            z = ctx.x.detach().requires_grad_()
            (g,) = tc.autograd.grad((z**3).sum(), z)
        return grad * g

    def forward(ctx, x):
        ctx.x = x
        return x**3

    x = a_leaf(tc)
    a_function(tc, forward=forward, backward=backward).apply(x).sum().backward()
    return x.grad


def F16_as_part_of_a_bigger_graph(tc):
    once = tc.autograd.function.once_differentiable
    Made = a_function(tc, backward=once(lambda ctx, grad: grad * 2))
    x = a_leaf(tc)
    y = Made.apply(x * x) * x
    (g,) = tc.autograd.grad(y.sum(), x, create_graph=True)
    return g, g.requires_grad, raised(lambda: tc.autograd.grad(g.sum(), x), "trying to differentiate twice")


def F17_output_is_recorded_only_afterwards(tc):
    seen = []

    class Made(tc.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            seen.append((output.requires_grad, inputs[0].requires_grad, ctx.needs_input_grad))
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, grad):
            seen.append(ctx.saved_tensors[0].requires_grad)
            return grad * 2

    x = a_leaf(tc)
    Made.apply(x).sum().backward()
    return seen, x.grad


def F19_node_identity(tc):
    kept = []

    def forward(ctx, x):
        kept.append(ctx)
        return x * 2, x * 3

    a, b = a_function(tc, forward=forward).apply(a_leaf(tc))
    return a.grad_fn is kept[0], b.grad_fn is a.grad_fn, (a + b).grad_fn.next_functions[1][0] is kept[0]


def F21_exception_in_setup_and_in_hook(tc):
    class Made(tc.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            raise LookupError("mine")

        @staticmethod
        def backward(ctx, grad):
            return grad

    return raised(lambda: Made.apply(a_leaf(tc)), "mine"), tc.is_grad_enabled()


def F21_stop_iteration_and_keyboard(tc):
    def fail(error):
        def backward(ctx, grad):
            raise error

        return raised(lambda: a_function(tc, backward=backward).apply(a_leaf(tc)).sum().backward())

    return fail(StopIteration()), fail(AssertionError("x")), fail(MemoryError())


def A2_gradient_held_by_the_user(tc):
    x = a_leaf(tc)
    (x * 2).sum().backward()
    held = x.grad
    x.grad = None
    (x * 3).sum().backward()
    return held, x.grad


def A3_after_assignment(tc):
    x = tc.ones(2, 3, requires_grad=True)
    x.grad = tc.zeros(3, 2).t()
    quietly(lambda: x.sum().backward())  # the layout contract is broken, which warns once
    return x.grad.stride(), x.grad


def X7_graph_dies_with_the_last_output(tc):
    class Token:
        pass

    x = a_leaf(tc)
    y = x * 2
    y.grad_fn.metadata["token"] = token = Token()
    token = weakref.ref(token)
    z = y.exp()
    del y
    alive = token() is not None
    del z
    return alive, token() is None


test_program = differential(globals())
