"""What the programs of several modules start from."""

from tests.functions import function_of as a_function
from tests.functions import square_function

__all__ = ["a_function", "a_leaf", "gradients_of_two_orders", "square_function", "two_leaves"]


def a_leaf(tc, size=2):
    """Return a leaf with the elements 1, 2, ... that requires grad."""
    return tc.tensor([1.0, 2.0, 3.0, 4.0][:size], requires_grad=True)


def two_leaves(tc):
    """Return [1, 2] and [3, 4]."""
    return tc.tensor([1.0, 2.0], requires_grad=True), tc.tensor([3.0, 4.0], requires_grad=True)


def gradients_of_two_orders(tc, build, *leaves):
    """Return the gradients of `build(*leaves)`, and those of the sum of their squares."""
    first = tc.autograd.grad(build(*leaves).sum(), leaves, create_graph=True)
    second = tc.autograd.grad(sum((g * g).sum() for g in first), leaves)
    return *first, *second
