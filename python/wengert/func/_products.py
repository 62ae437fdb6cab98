"""Products with the Jacobian of outputs that were recorded: of tensors, and as flat NumPy vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import wengert

from ..autograd import grad
from ..autograd._batching import vmap
from ..autograd.forward_ad import dual_level, make_dual, unpack_dual

_FEW = 4  # vectors that cost less one by one than as a batch
_AT_ONCE = 1 << 20  # the most elements of a batch of vectors

Vector = Any  # a flat array, or rows of them


def pulled(
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    cotangents: Sequence[Any],
    create_graph: bool = False,
    is_grads_batched: bool = False,
) -> list[Any]:
    """Return the gradients of inputs, zeros where outputs do not depend on them; the graph may be used again."""
    pairs = [pair for pair in zip(outputs, cotangents, strict=True) if pair[0].requires_grad]
    gradients: Sequence[Any] = (None,) * len(inputs)
    if pairs and inputs:
        roots, given = zip(*pairs, strict=True)
        options = {"create_graph": create_graph, "is_grads_batched": is_grads_batched, "allow_unused": True}
        gradients = grad(roots, inputs, given, retain_graph=True, **options)
    batch = tuple(cotangents[0].shape[:1]) if is_grads_batched and cotangents else ()
    return [x.new_zeros((*batch, *x.shape)) if g is None else g for g, x in zip(gradients, inputs, strict=True)]


def pulled_vector(outputs: Sequence[Any], inputs: Sequence[Any], weights: Vector) -> Vector:
    """Return the product of weights, or of each row of them, with the Jacobian."""
    batched = weights.ndim > 1
    return joined(pulled(outputs, inputs, split(weights, outputs), is_grads_batched=batched), int(batched))


def pushed_vector(function: Callable[[list[Any]], Sequence[Any]], inputs: Sequence[Any], directions: Vector) -> Vector:
    """Return the product of the Jacobian of a function with a direction, or with each row of directions."""

    def push(*tangents: Any) -> tuple[Any, ...]:
        with dual_level():
            duals = [make_dual(value.detach(), tangent) for value, tangent in zip(inputs, tangents, strict=True)]
            pairs = [unpack_dual(output) for output in function(duals)]
            return tuple(wengert.zeros_like(p.primal) if p.tangent is None else p.tangent for p in pairs)

    tangents = tuple(split(directions, inputs))
    return joined(push(*tangents)) if directions.ndim == 1 else joined(vmap(push, tangents), 1)


def joined(tensors: Sequence[Any], batch_dims: int = 0) -> Vector:
    """Return copies of the elements of tensors one after the other, those of batches in rows."""
    arrays = [tensor.detach().numpy() for tensor in tensors]
    rows = [array.reshape(*array.shape[:batch_dims], -1) for array in arrays]
    return np.concatenate(rows, -1) if rows else np.zeros(0)


def split(vector: Vector, like: Sequence[Any]) -> list[Any]:
    """Cut a vector, or rows of them, into tensors of the given shapes and dtypes, which do not share its memory."""
    pieces, first, batch = [], 0, vector.shape[:-1]
    for tensor in like:
        last = first + tensor.numel()
        pieces.append(wengert.tensor(vector[..., first:last].reshape((*batch, *tensor.shape)), dtype=tensor.dtype))
        first = last
    return pieces


def by_rows(product: Callable[[Vector], Vector], groups: Any, count: int, size: int) -> Iterator[Vector]:
    """Yield products with indicators of groups 0, 1, ..., as many at once as are not too large.

    `product` takes one vector or rows of vectors, `groups` has the group of each element, and `size` is the length of
    the longest vector, given or returned.
    """
    step = 1 if count <= _FEW else max(_AT_ONCE // max(size, 1), 1)
    for first in range(0, count, step):
        if step == 1:
            yield product(groups == first)
        else:
            yield from product(np.equal.outer(np.arange(first, min(first + step, count)), groups))


def matrix(product: Callable[[Vector], Vector], count: int) -> Vector:
    """Return the matrix whose rows are products with rows of the identity."""
    rows = list(by_rows(product, np.arange(count), count, count))
    return np.stack(rows) if rows else np.zeros((0, 0))
