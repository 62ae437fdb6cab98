"""Trees of parameters as one vector of float64, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert

from ..func._leaves import as_tensors, flatten
from ..func._products import Vector, joined, split


class Layout:
    """How the leaves of a tree lie in a vector.

    Leaves may be tensors, arrays or numbers. The function under optimization always gets float64 tensors; results
    are of the kinds that the start was made of.
    """

    def __init__(self, tree: Any, caller: str) -> None:
        self._leaves, self.rebuild = flatten(tree)
        tensors = as_tensors(self._leaves, caller, wengert.float64)
        if any(tensor.is_complex() for tensor in tensors):
            raise TypeError(f"[{caller}] parameters must be real; pass real and imaginary parts as two leaves")
        self._like = tensors
        self.shapes = [tuple(tensor.shape) for tensor in tensors]
        self.start = joined(tensors)
        self.size = self.start.size

    def leaves(self, vector: Vector) -> list[Any]:
        """Cut a vector, or rows of them, into tensors, which do not share its memory."""
        return split(np.asarray(vector), self._like)

    def tree(self, vector: Vector) -> Any:
        """Return the tree of tensors, as the function gets it."""
        return self.rebuild(self.leaves(vector))

    def result(self, vector: Vector) -> Any:
        """Return the tree for the user, with leaves of the kinds of the start."""
        kinds = zip(self._leaves, self.leaves(vector), strict=True)
        return self.rebuild([_like(leaf, value) for leaf, value in kinds])


def _like(leaf: Any, value: Any) -> Any:
    if isinstance(leaf, wengert.Tensor):
        return value
    return value.numpy() if isinstance(leaf, np.ndarray) else value.item()


def outputs_of(result: Any, caller: str) -> list[Any]:
    """Return what the user's function returned as float64 tensors."""
    leaves, _ = flatten(result)
    return as_tensors(leaves, caller, wengert.float64)


def bounds_like(x0: Any, lower: Any = None, upper: Any = None) -> Any:
    """Return bounds for parameters that are a tree.

    Parameters
    ----------
    x0 : tree of Tensor, ndarray or float
        Parameters, as given to `minimize` or `least_squares`.
    lower, upper : float or tree, optional
        One number for all parameters, or a tree like `x0` whose leaves are numbers (for a whole leaf) or arrays. None,
        also as a leaf, is no bound.

    Returns
    -------
    scipy.optimize.Bounds

    Raises
    ------
    ValueError
        If a tree has another number of leaves than `x0`, or a leaf cannot be broadcast to its parameter.

    Examples
    --------
    >>> import wengert as wg
    >>> x0 = {"rate": 1.0, "weights": wg.zeros(2)}
    >>> bounds = wg.optimize.bounds_like(x0, lower={"rate": 0.0, "weights": None}, upper=10.0)
    >>> bounds.lb.tolist(), bounds.ub.tolist()
    ([0.0, -inf, -inf], [10.0, 10.0, 10.0])
    """
    from scipy.optimize import Bounds

    layout = Layout(x0, "bounds_like")
    return Bounds(_spread(layout, lower, -np.inf, "lower"), _spread(layout, upper, np.inf, "upper"))


def _spread(layout: Layout, tree: Any, default: float, name: str) -> Vector:
    leaves = flatten(tree)[0] if isinstance(tree, (dict, list, tuple)) else [tree] * len(layout.shapes)
    if len(leaves) != len(layout.shapes):
        raise ValueError(f"[bounds_like] {name} has {len(leaves)} leaves, but x0 has {len(layout.shapes)}")
    parts = [
        np.broadcast_to(np.asarray(default if leaf is None else leaf, np.float64), shape).reshape(-1)
        for leaf, shape in zip(leaves, layout.shapes, strict=True)
    ]
    return np.concatenate(parts) if parts else np.zeros(0)
