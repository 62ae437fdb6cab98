"""Values and derivatives of one function at the last point asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert

from ..autograd import enable_grad, grad
from ..autograd._batching import vmap
from ..autograd.forward_ad import dual_level, make_dual, unpack_dual
from ._flat import Function, Layout, Vector, cut, outputs_of, to_vector

_AT_ONCE = 128  # rows of a matrix


class Evaluated:
    """A function of a vector; what belongs to one point is computed once."""

    def __init__(self, function: Function, layout: Layout, arguments: tuple[Any, ...], caller: str) -> None:
        self._function = function
        self.layout = layout
        self._arguments = arguments
        self._caller = caller
        self._point: Vector | None = None
        self._weighted: tuple[Vector, list[Any]] | None = None

    def call(self, leaves: list[Any]) -> list[Any]:
        """Return the outputs at a list of leaves."""
        return outputs_of(self._function(self.layout.rebuild(leaves), *self._arguments), self._caller)

    def _move(self, point: Vector) -> None:
        """Evaluate at a point, unless it is the one of the call before."""
        if self._point is not None and np.array_equal(point, self._point):
            return
        self._point = None
        with enable_grad():
            self.leaves = [leaf.requires_grad_() for leaf in self.layout.leaves(point)]
            self.outputs = self.call(self.leaves)
        self._weighted = None
        self._point = np.array(point)

    def values(self, point: Vector) -> Vector:
        """Return all elements of the outputs."""
        self._move(point)
        return to_vector(self.outputs)

    def vjp(self, point: Vector, weights: Vector) -> Vector:
        """Return the product of weights, or of each row of them, with the Jacobian."""
        self._move(point)
        return to_vector(self._pull(weights, create_graph=False), weights.ndim - 1)

    def _pull(self, weights: Vector, create_graph: bool) -> Any:
        return _products(self.outputs, self.leaves, cut(weights, self.outputs), create_graph, weights.ndim > 1)

    def hvp(self, point: Vector, weights: Vector, direction: Vector) -> Vector:
        """Return the product of the Hessian of the weighted sum of the outputs with a direction, or each of many."""
        self._move(point)
        if self._weighted is None or not np.array_equal(self._weighted[0], weights):
            with enable_grad():
                self._weighted = np.array(weights), self._pull(weights, create_graph=True)
        cotangents = self.layout.leaves(direction)
        products = _products(self._weighted[1], self.leaves, cotangents, False, direction.ndim > 1)
        return to_vector(products, direction.ndim - 1)

    def jvp(self, point: Vector, directions: Vector) -> Vector:
        """Return the product of the Jacobian with each row of directions."""

        def push(*tangents: Any) -> tuple[Any, ...]:
            with dual_level():
                duals = [make_dual(p, t) for p, t in zip(self.layout.leaves(point), tangents, strict=True)]
                pairs = [unpack_dual(output) for output in self.call(duals)]
                return tuple(wengert.zeros_like(p.primal) if p.tangent is None else p.tangent for p in pairs)

        return to_vector(vmap(push, tuple(self.layout.leaves(directions))), 1)

    def hessian(self, point: Vector, weights: Vector) -> Any:
        """Return the Hessian of the weighted sum of the outputs."""
        return _by_rows(lambda units: self.hvp(point, weights, units), self.layout.size)

    def jacobian(self, point: Vector) -> Any:
        """Return the Jacobian, by rows or by columns, whichever are fewer."""
        self._move(point)
        rows, size = sum(output.numel() for output in self.outputs), self.layout.size
        if rows == 0 or size == 0:
            return np.zeros((rows, size))
        if rows <= 2 * size:
            return _by_rows(lambda units: self.vjp(point, units), rows)
        return _by_rows(lambda units: self.jvp(point, units), size).T


def _products(outputs: list[Any], leaves: list[Any], cotangents: list[Any], create_graph: bool, batched: bool) -> Any:
    """Return the gradients of the leaves, for each cotangent of a batch; zeros where there are none."""
    pairs = [pair for pair in zip(outputs, cotangents, strict=True) if pair[0].requires_grad]
    gradients: tuple[Any, ...] = (None,) * len(leaves)
    if pairs:
        options = {"create_graph": create_graph, "is_grads_batched": batched}
        roots, given = zip(*pairs, strict=True)
        gradients = grad(roots, leaves, given, retain_graph=True, allow_unused=True, **options)
    size = cotangents[0].shape[:1] if batched else ()
    return [leaf.new_zeros((*size, *leaf.shape)) if g is None else g for g, leaf in zip(gradients, leaves, strict=True)]


def _by_rows(product: Callable[[Vector], Vector], count: int) -> Vector:
    """Return a matrix whose rows are products with rows of the identity, many at once."""
    if not count:
        return np.zeros((0, 0))
    return np.concatenate([product(units) for units in np.split(np.eye(count), range(_AT_ONCE, count, _AT_ONCE))])
