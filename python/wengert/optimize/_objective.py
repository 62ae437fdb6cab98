"""Values and derivatives of one function at the last point asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..autograd import enable_grad
from ..func._products import Vector, joined, matrix, pulled, pulled_vector, pushed_vector, split
from ._flat import Layout, outputs_of


class Evaluated:
    """A function of a vector; what belongs to one point is computed once."""

    def __init__(self, function: Callable[..., Any], layout: Layout, arguments: tuple[Any, ...], caller: str) -> None:
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
        return joined(self.outputs)

    def vjp(self, point: Vector, weights: Vector) -> Vector:
        """Return the product of weights, or of each row of them, with the Jacobian."""
        self._move(point)
        return pulled_vector(self.outputs, self.leaves, weights)

    def hvp(self, point: Vector, weights: Vector, direction: Vector) -> Vector:
        """Return the product of the Hessian of the weighted sum of the outputs with a direction, or each of many."""
        self._move(point)
        if self._weighted is None or not np.array_equal(self._weighted[0], weights):
            with enable_grad():
                gradients = pulled(self.outputs, self.leaves, split(weights, self.outputs), create_graph=True)
                self._weighted = np.array(weights), gradients
        return pulled_vector(self._weighted[1], self.leaves, direction)

    def jvp(self, point: Vector, directions: Vector) -> Vector:
        """Return the product of the Jacobian with a direction, or each row of directions."""
        return pushed_vector(self.call, self.layout.leaves(point), directions)

    def hessian(self, point: Vector, weights: Vector) -> Any:
        """Return the Hessian of the weighted sum of the outputs."""
        return matrix(lambda units: self.hvp(point, weights, units), self.layout.size)

    def jacobian(self, point: Vector) -> Any:
        """Return the Jacobian, by rows or by columns, whichever are fewer."""
        self._move(point)
        rows, size = sum(output.numel() for output in self.outputs), self.layout.size
        if rows == 0 or size == 0:
            return np.zeros((rows, size))
        if rows <= 2 * size:
            return matrix(lambda units: self.vjp(point, units), rows)
        return matrix(lambda units: self.jvp(point, units), size).T
