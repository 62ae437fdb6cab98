"""Functions that several test modules share."""

import wengert as wg
from wengert.autograd import Function


def function_of(tc, base=None, **methods):
    """Return a Function of package `tc` with these static methods; forward copies, backward passes on by default."""
    methods = {"forward": lambda ctx, x: x.clone(), "backward": lambda ctx, g: g, **methods}
    members = {name: staticmethod(value) if callable(value) else value for name, value in methods.items()}
    base = base or tc.autograd.Function
    return type(base)("Made", (base,), members)


def function(**methods):
    """Return such a class of Wengert."""
    return function_of(wg, **methods)


def leaf(*values):
    """Return a leaf with the given values."""
    return wg.tensor(values, requires_grad=True)


def works():
    """Check that a backward pass still gives gradients, whatever happened before."""
    x = wg.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2, 4]


def square_function(tc):
    """Return the Function of package `tc` that squares, with both derivatives."""

    class Square(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return 2 * x * gradient

        @staticmethod
        def jvp(ctx, tangent):
            (x,) = ctx.saved_tensors
            return 2 * x * tangent

    return Square


def noting_function(tc):
    """Return the Function of package `tc` that passes its input on and appends its name to a list in backward."""

    class Noting(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x, name, notes):
            ctx.name, ctx.notes = name, notes
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            ctx.notes.append(ctx.name)
            return gradient, None, None

    return Noting


Square, Noting = square_function(wg), noting_function(wg)


class Nested(Function):
    """Starts a pass inside its backward, as many levels deep as asked for."""

    @staticmethod
    def forward(ctx, x, levels, note):
        ctx.levels, ctx.note = levels, note
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        ctx.note(ctx.levels)
        if ctx.levels:
            with wg.enable_grad():
                leaf = wg.ones(2, requires_grad=True)
                Nested.apply(leaf, ctx.levels - 1, ctx.note).sum().backward()
            gradient = gradient * leaf.grad
        return gradient, None, None


class OopsError(Exception):
    pass


class Fails(Function):
    """Raises in backward."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        raise OopsError("as it was")
