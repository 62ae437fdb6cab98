"""Plans: a pattern and its coloring, evaluated as often as one likes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

import wengert

from ...autograd import enable_grad, grad
from .._leaves import tensors_of
from .._products import by_rows, pulled_vector, pushed_vector
from ._coloring import color_columns, color_symmetric, direct_entries


class Sparsity:
    """The sparsity of a Jacobian or Hessian, with a coloring: call it to evaluate the matrix.

    Made by `sparsity`. The matrix has one row for each element of the outputs and one column for each element of the
    inputs, leaf after leaf, in C order.

    Attributes
    ----------
    pattern : scipy.sparse.csr_array
        True where an entry may differ from 0.
    colors : numpy.ndarray of int
        The color of each column, or row in mode 'reverse'.
    mode : {'forward', 'reverse', 'symmetric'}
        Whether columns (jvp), rows (vjp) or columns of a symmetric matrix (Hessian-vector products) are computed.
    number_of_colors : int
        Products for one evaluation.

    Examples
    --------
    >>> import wengert as wg
    >>> plan = wg.func.sparsity(lambda x: x[1:] * x[:-1], wg.ones(5))
    >>> plan.number_of_colors
    2
    >>> plan(wg.arange(5.0)).toarray()
    array([[1., 0., 0., 0., 0.],
           [0., 2., 1., 0., 0.],
           [0., 0., 3., 2., 0.],
           [0., 0., 0., 4., 3.]], dtype=float32)
    """

    def __init__(self, function: Callable[[Any], Any], pattern: Any, shapes: tuple[Any, Any], mode: str) -> None:
        self._function = function
        self._shapes = shapes
        self.pattern = pattern
        self._rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
        self.mode, self.colors = self._colored(mode)
        self.number_of_colors = int(self.colors.max(initial=-1)) + 1

    def __repr__(self) -> str:
        rows, columns = self.pattern.shape
        return (
            f"Sparsity({rows} x {columns}, {self.pattern.nnz} entries, {self.number_of_colors} colors, mode "
            f"{self.mode!r})"
        )

    def _colored(self, mode: str) -> tuple[str, Any]:
        result, given = (shapes[0] if len(shapes) == 1 else () for shapes in self._shapes)
        if mode == "symmetric":
            return mode, color_symmetric(self.pattern, given)
        if mode == "forward":
            return mode, color_columns(self.pattern, given)
        by_rows = color_columns(self.pattern.T.tocsr(), result)
        per_row = np.diff(self.pattern.indptr).max(initial=0)
        if mode == "auto" and per_row <= by_rows.max(initial=-1):  # else columns cannot do with fewer
            by_columns = color_columns(self.pattern, given)
            if by_columns.max(initial=-1) < by_rows.max(initial=-1):
                return "forward", by_columns
        return "reverse", by_rows

    def __call__(self, x: Any) -> Any:
        """Return the matrix at `x` as a `scipy.sparse.csr_array`.

        Raises
        ------
        ValueError
            If the number of elements of `x` or of the outputs is not that of the pattern.
        """
        values, rebuild = tensors_of(x, "sparsity")
        sizes = [value.numel() for value in values]
        if sum(sizes) != self.pattern.shape[1]:
            raise ValueError(
                f"[sparsity] the pattern has {self.pattern.shape[1]} columns, but x has {sum(sizes)} elements; make a "
                "new plan"
            )
        data = getattr(self, f"_{self.mode}")(values, rebuild)
        pattern = self.pattern
        return scipy.sparse.csr_array((data, pattern.indices.copy(), pattern.indptr.copy()), shape=pattern.shape)

    @functools.cached_property
    def _reads(self) -> tuple[Any, Any]:
        """For each entry: the color whose product holds it, and the position there."""
        rows, columns = self._rows, self.pattern.indices
        if self.mode == "forward":
            return self.colors[columns], rows
        if self.mode == "reverse":
            return self.colors[rows], columns
        direct = direct_entries(rows, columns, self.colors)
        return np.where(direct, self.colors[columns], self.colors[rows]), np.where(direct, rows, columns)

    def _read(self, product: Callable[[Any], Any]) -> Any:
        """Read all entries off the products with the colors, of which there is one array for each."""
        which, where = self._reads
        size = max(self.pattern.shape)
        data = None
        for color, row in enumerate(by_rows(product, self.colors, self.number_of_colors, size)):
            if data is None:
                data = np.zeros(self.pattern.nnz, row.dtype)
            chosen = which == color
            data[chosen] = row[where[chosen]]
        return np.zeros(0, np.float64) if data is None else data

    def _forward(self, values: list[Any], rebuild: Any) -> Any:
        return self._read(lambda seeds: pushed_vector(lambda duals: self._outputs(duals, rebuild), values, seeds))

    def _reverse(self, values: list[Any], rebuild: Any) -> Any:
        with enable_grad():
            values = [value.detach().requires_grad_() for value in values]
            outputs = self._outputs(values, rebuild)
        return self._read(lambda seeds: pulled_vector(outputs, values, seeds))

    def _symmetric(self, values: list[Any], rebuild: Any) -> Any:
        with enable_grad():
            values = [value.detach().requires_grad_() for value in values]
            gradients = gradient_of(self._function, values, rebuild)
        return self._read(lambda seeds: pulled_vector(gradients, values, seeds))

    def _outputs(self, values: list[Any], rebuild: Any) -> list[Any]:
        outputs, _ = tensors_of(self._function(rebuild(values)), "sparsity")
        size = sum(output.numel() for output in outputs)
        if size != self.pattern.shape[0]:
            raise ValueError(
                f"[sparsity] the pattern has {self.pattern.shape[0]} rows, but the function returned {size} elements; "
                "make a new plan"
            )
        return outputs


def gradient_of(function: Callable[[Any], Any], values: list[Any], rebuild: Any) -> list[Any]:
    """Return the gradients of a function with one output element, differentiable once more."""
    outputs, _ = tensors_of(function(rebuild(values)), "sparse_hessian")
    if len(outputs) != 1 or outputs[0].numel() != 1:
        raise ValueError(
            "[sparse_hessian] expected one output of one element, but got shapes "
            f"{[tuple(output.shape) for output in outputs]}; sum over the elements, or use sparse_jacobian"
        )
    if not outputs[0].requires_grad:
        return [wengert.zeros_like(value) for value in values]
    return list(grad(outputs[0].reshape(()), values, create_graph=True, materialize_grads=True))
