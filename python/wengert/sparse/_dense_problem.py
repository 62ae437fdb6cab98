"""Sparse tensors as functions of dense ones, for gradcheck."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.autograd._custom_function.function import Function

from ._convert import to_dense, to_sparse
from ._tensor import in_layout, is_sparse, pattern_of, sparse, values_of


def leaf_and_inverse(tensor: Any, masked: bool) -> tuple[Any, Callable[[Any], Any]]:
    """Return a dense leaf, and the function that makes the sparse tensor of it.

    With `masked` the leaf has the values at the places of the tensor, else all its elements.
    """
    pattern, layout = pattern_of(tensor), tensor.layout
    start = tensor.detach()
    if masked:
        leaf = values_of(start).clone().requires_grad_()
        return leaf, lambda values: in_layout(pattern, values, layout)
    leaf = to_dense(start).requires_grad_()
    return leaf, lambda dense: FromDense.apply(dense, len(pattern.shape), layout)


class FromDense(Function):
    """The elements that are not zero, with a gradient for all places."""

    @staticmethod
    def forward(dense: Any, sparse_dim: int, layout: Any) -> Any:
        made = to_sparse(dense.detach(), sparse_dim, layout=layout)
        return sparse(made._pattern, made._stored)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.sparse_dim, ctx.layout = inputs[1:]

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return (to_dense(grad) if is_sparse(grad) else grad), None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *_: Any) -> Any:
        return FromDense.apply(tangent, ctx.sparse_dim, ctx.layout)
