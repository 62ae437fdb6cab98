"""Values and derivatives of one function at the last point asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert

from ..autograd import enable_grad, grad
from ..autograd.forward_ad import dual_level, make_dual, unpack_dual
from ._flat import Function, Layout, Vector, outputs_of, to_vector


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
        """Return the product of weights with the Jacobian."""
        self._move(point)
        return to_vector(self._pull(weights, create_graph=False))

    def _pull(self, weights: Vector, create_graph: bool) -> list[Any]:
        pieces = np.split(weights, np.cumsum([output.numel() for output in self.outputs])[:-1])
        pairs = [
            (output, wengert.tensor(piece.reshape(tuple(output.shape))))
            for output, piece in zip(self.outputs, pieces, strict=True)
            if output.requires_grad
        ]
        if not pairs:
            return [wengert.zeros_like(leaf) for leaf in self.leaves]
        roots, cotangents = zip(*pairs, strict=True)
        return list(
            grad(roots, self.leaves, cotangents, retain_graph=True, create_graph=create_graph, materialize_grads=True)
        )

    def hvp(self, point: Vector, weights: Vector, direction: Vector) -> Vector:
        """Return the product of the Hessian of the weighted sum of the outputs with a direction."""
        self._move(point)
        if self._weighted is None or not np.array_equal(self._weighted[0], weights):
            with enable_grad():
                self._weighted = np.array(weights), self._pull(weights, create_graph=True)
        pairs = zip(self._weighted[1], self.layout.leaves(direction), strict=True)
        pairs = [pair for pair in pairs if pair[0].requires_grad]  # type: ignore[assignment]
        if not pairs:
            return np.zeros(self.layout.size)
        roots, cotangents = zip(*pairs, strict=True)
        return to_vector(list(grad(roots, self.leaves, cotangents, retain_graph=True, materialize_grads=True)))

    def hessian(self, point: Vector, weights: Vector) -> Any:
        """Return the Hessian of the weighted sum of the outputs."""
        size = self.layout.size
        rows = [self.hvp(point, weights, unit) for unit in np.eye(size)]
        return np.stack(rows) if rows else np.zeros((0, 0))

    def jacobian(self, point: Vector) -> Any:
        """Return the Jacobian, by rows or by columns, whichever are fewer."""
        self._move(point)
        rows = sum(output.numel() for output in self.outputs)
        size = self.layout.size
        if rows == 0 or size == 0:
            return np.zeros((rows, size))
        if rows <= 2 * size:
            return np.stack([self.vjp(point, unit) for unit in np.eye(rows)])
        return np.stack([self.jvp(point, unit) for unit in np.eye(size)], 1)

    def jvp(self, point: Vector, direction: Vector) -> Vector:
        """Return the product of the Jacobian with a direction."""
        with dual_level():
            tangents = self.layout.leaves(direction)
            duals = [make_dual(p, t) for p, t in zip(self.layout.leaves(point), tangents, strict=True)]
            pairs = [unpack_dual(output) for output in self.call(duals)]
            return to_vector([wengert.zeros_like(p.primal) if p.tangent is None else p.tangent for p in pairs])
