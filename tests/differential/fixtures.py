"""What the programs of several modules start from."""


def a_leaf(tc, size=2):
    """Return a leaf with the elements 1, 2, ... that requires grad."""
    return tc.tensor([1.0, 2.0, 3.0, 4.0][:size], requires_grad=True)


def two_leaves(tc):
    """Return [1, 2] and [3, 4]."""
    return tc.tensor([1.0, 2.0], requires_grad=True), tc.tensor([3.0, 4.0], requires_grad=True)


def a_function(tc, base=None, **methods):
    """Return a Function with these static methods; forward copies, backward passes on by default."""
    methods = {"forward": lambda ctx, x: x.clone(), "backward": lambda ctx, grad: grad, **methods}
    members = {name: staticmethod(value) if callable(value) else value for name, value in methods.items()}
    return type(base or tc.autograd.Function)("Made", (base or tc.autograd.Function,), members)


def square_function(tc):
    """Return the Function that squares, with both derivatives."""

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
