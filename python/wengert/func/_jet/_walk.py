"""The walk over a recorded graph, from inputs to outputs, with series.

Every node is a linear map of cotangents, y_bar -> J(x)^T y_bar, recorded as operations when it is asked to be. Its
transpose, J(x) v, is therefore a graph as well. What happens at a node follows from that graph:

- J does not depend on x: the map is applied to the coefficients of each order.
- The row is a product, or solves an equation that is one (`multilinear:` and `solves:` in the table): coefficients are
  convolved. A `matrix_function:` is applied to all coefficients as one matrix.
- Otherwise y' = J(x) x' along the curve. A walk over the graph of J(x) v, with the series of x, of y and of v = x',
  gives that of y' up to order k - 1, and so the next coefficient of y.

Nodes that compute the same, as the sin in the derivative of the cos in the derivative of a sin, share one series: so
recurrences close, and the cost grows with the square of the order. Where they do not (lgamma), each order adds nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert
from wengert._table import Row, function_of, row_of, rows_by_name

from ...autograd import enable_grad, grad
from ...autograd.graph import get_gradient_edge
from .._nodes import in_order, pulled_ones
from . import _series
from ._series import Series

Key = tuple[Any, int]  # a node and the number of one of its results


class Walk:
    """Series of all results of a graph, up to one order."""

    def __init__(self, given: dict[Key, Series], order: int, connected: bool) -> None:
        self._series = given
        self._order = order
        self._connected = connected  # whether derivatives of the series are wanted
        self._known = {node for node, _ in given}  # searched already
        self._shared: dict[Any, tuple[Series, Any]] = {}

    def run(self, outputs: list[Key]) -> list[Any]:
        """Return the series of some results, None for those that do not vary."""
        nodes = self._enter([node for node, _ in outputs])
        used = {*outputs, *(edge for node in nodes for edge in node.next_functions)}
        for node in nodes:
            for which in range(len(node._input_metadata)):
                if (node, which) in used:
                    self._compute(node, which)
        return [self._series.get(output) for output in outputs]

    def _compute(self, node: Any, which: int) -> None:
        try:
            self._series[node, which].up_to(self._order)
        except (RuntimeError, NotImplementedError, AttributeError) as error:
            if isinstance(error, RecursionError):
                error = NotImplementedError("too many operations in turn")
            raise NotImplementedError(
                f"[jet] {node.name()} has no Taylor rule: {error}; write the function with other operations, or nest "
                "wg.func.jvp"
            ) from error

    def _enter(self, roots: list[Any]) -> list[Any]:
        """Give a series to each node above the known ones that varies, and return these, inputs first."""
        entered: dict[Any, None] = {}
        for node in in_order(roots, self._known):
            if any(edge in self._series or edge[0] in entered for edge in node.next_functions):
                entered[node] = None
                for which in range(len(node._input_metadata)):
                    self._series[node, which] = self._new(node, which)
        return list(entered)

    def _new(self, node: Any, which: int) -> Series:
        """Return a series that finds out how to compute itself when first asked."""
        inputs = [self._series.get(edge) for edge in node.next_functions]
        signature = _signature(node, which, inputs)
        if signature is not None and signature[0] in self._shared:
            return self._shared[signature[0]][0]
        found: list[Callable[[int], Any]] = []

        def rule(order: int) -> Any:
            if not found:
                found.append(self._rule_of(node, which, inputs, series))
            return _fitted(found[0](order), node._input_metadata[which])

        series = Series([None], rule)  # who needs the value has saved it
        if signature is not None:
            self._shared[signature[0]] = series, signature
        return series

    def _rule_of(self, node: Any, which: int, inputs: list[Any], series: Series) -> Callable[[int], Any]:
        row = row_of(node)
        if row is not None:
            if "matrix_function" in row["formulas"]:
                return _matrix_function(row, Series([node._saved_self], inputs[0].__getitem__))
            names = [a["name"] for a in row["arguments"] if a["differentiable"]]
            if len(names) == len(inputs):
                moving = {name for name, value in zip(names, inputs, strict=True) if value is not None}
                if "solves" in row["formulas"] and row["formulas"]["solves"][1] in moving:
                    return _solving(row, _operands(node, names, inputs), series)
                if len(moving & set(row["formulas"].get("multilinear", ()))) > 1:
                    rule = self._product(node, which, row, names, inputs)
                    if rule is not None:
                        return rule
        where = [index for index, value in enumerate(inputs) if value is not None]
        with enable_grad():
            weights, pulled = pulled_ones(node, which, where)
        known = [
            (g, inputs[index]) for g, index in zip(pulled, where, strict=True) if g is not None and g.requires_grad
        ]
        _check_recorded([g for g in pulled if g is not None and not g.requires_grad])
        if not known:
            return lambda order: None
        gradients, given = zip(*known, strict=True)
        if not self._leads(list(gradients)):
            return self._linear(list(gradients), weights, list(given))
        return self._integral(list(gradients), weights, list(given))

    def _leads(self, tensors: list[Any]) -> bool:
        """Return whether tensors depend on something that varies."""
        stack, seen = [tensor.grad_fn for tensor in tensors], set()
        while stack:
            node = stack.pop()
            for edge in () if node is None or node in seen else node.next_functions:
                if edge in self._series:
                    return True
                if edge[0] is not None and edge[0] not in self._known:
                    stack.append(edge[0])
            seen.add(node)
        return False

    def _linear(self, gradients: list[Any], weights: Any, inputs: list[Any]) -> Callable[[int], Any]:
        """Apply the tangent map, the transpose of the gradient, to the coefficients of each order."""

        def rule(order: int) -> Any:
            present = [
                (g, value[order]) for g, value in zip(gradients, inputs, strict=True) if value[order] is not None
            ]
            if not present:
                return None
            roots, seeds = zip(*present, strict=True)
            seeds = tuple(seed.expand(root.shape) for root, seed in zip(roots, seeds, strict=True))
            (change,) = grad(roots, weights, seeds, retain_graph=True, create_graph=self._connected, allow_unused=True)
            if change is None:
                _check_recorded(roots)
            return change

        return rule

    def _integral(self, gradients: list[Any], weights: Any, inputs: list[Any]) -> Callable[[int], Any]:
        """Integrate y' = J(x) x'."""
        speeds = [self._variable(_series.derivative(value), g) for value, g in zip(inputs, gradients, strict=True)]
        with enable_grad():
            (slope,) = grad(gradients, weights, speeds, create_graph=True, allow_unused=True)
        if slope is None or not slope.requires_grad:
            _check_recorded(gradients)
            return lambda order: None
        entered = self._enter([slope.grad_fn])
        edge = get_gradient_edge(slope)
        change = self._series.get((edge.node, edge.output_nr))
        first = slope if self._connected else slope.detach()

        def rule(order: int) -> Any:
            if order == 1:
                return first
            for node in entered:  # in turn, so that no recursion gets as deep as the graph
                for which in range(len(node._input_metadata)):
                    self._series[node, which].up_to(order - 1)
            coefficient = None if change is None else change[order - 1]
            return None if coefficient is None else coefficient / order

        return rule

    def _variable(self, series: Series, like: Any) -> Any:
        """Return a tensor whose series is known."""
        value = wengert.zeros_like(like) if series[0] is None else series[0]
        attached = self._connected and value.requires_grad
        value = value.view_as(value) if attached else value.detach().requires_grad_()
        edge = get_gradient_edge(value)
        self._known.add(edge.node)
        self._series[edge.node, edge.output_nr] = series
        return value

    def _product(
        self, node: Any, which: int, row: Row, names: list[str], inputs: list[Any]
    ) -> Callable[[int], Any] | None:
        """Convolve the coefficients of factors; what is added to the product is linear."""
        factors = row["formulas"]["multilinear"]
        operands = _operands(node, names, inputs)
        others = {name: value for name, value in operands.items() if name not in names}
        required = {a["name"] for a in row["arguments"] if not a["type"].endswith("?")}
        if not required <= {*others, *names}:
            return None  # it keeps what its gradients need, which is less than what it was called with
        first, second = (operands[name] for name in factors)
        result = _series.product(first, second, _function(row, factors, others))
        added = [index for index, name in enumerate(names) if name not in factors and inputs[index] is not None]
        if not added:
            return result.__getitem__
        with enable_grad():
            weights, pulled = pulled_ones(node, which, added)
        linear = self._linear(pulled, weights, [inputs[index] for index in added])
        return lambda order: _series.plus(result[order], linear(order))


def _check_recorded(gradients: Any) -> None:
    """Raise NotImplementedError if gradients are not 0, which linear functions of a cotangent that they ignore are."""
    if any(bool(gradient.count_nonzero()) for gradient in gradients):
        raise NotImplementedError("its gradient is no recorded function of the incoming one")


def _operands(node: Any, names: list[str], inputs: list[Any]) -> dict[str, Any]:
    """Return what a node has saved of its arguments; of those that vary, series that begin with it."""
    found = {name.removeprefix("_saved_"): getattr(node, name) for name in dir(node) if name.startswith("_saved_")}
    for name, value in zip(names, inputs, strict=True):
        if value is not None:
            found[name] = Series([found.get(name)], value.__getitem__)
    return found


def _function(row: Row, factors: list[str], others: dict[str, Any]) -> Callable[..., Any]:
    """Return an operation as a function of some of its arguments."""
    function = function_of(row)
    names = [a["name"] for a in row["arguments"]]
    absent = {a["name"]: None for a in row["arguments"] if a["type"].endswith("?")}

    def call(*values: Any) -> Any:
        given = {**absent, **others, **dict(zip(factors, values, strict=True))}
        return function(*(given[name] for name in names if name in given))

    return call


def _solving(row: Row, operands: dict[str, Any], series: Series) -> Callable[[int], Any]:
    """Solve ``product(matrix, result) = right`` order by order."""
    name, matrix, right = row["formulas"]["solves"]
    multiply = _function(rows_by_name()[name], rows_by_name()[name]["formulas"]["multilinear"], {})
    others = {key: v for key, v in operands.items() if key not in (matrix, right, "result")}
    solve = _function(row, [matrix, right], others)
    a, b = operands[matrix], operands.get(right)  # what is not kept is constant
    start = operands.get("result")
    if start is None:
        start = solve(a[0], _series.coefficient(b, 0))

    def rule(order: int) -> Any:
        rest = _series.coefficient(b, order)
        for k in range(1, order + 1):
            factor, known = a[k], start if k == order else series[order - k]
            if factor is not None and known is not None:
                rest = _series.plus(rest, -multiply(factor, known))
        return None if rest is None else solve(a[0], rest)

    return rule


def _matrix_function(row: Row, x: Series) -> Callable[[int], Any]:
    """Apply the function to a matrix of coefficients, whose powers are those of the series: block Toeplitz matrices.

    N. J. Higham, Functions of Matrices (2008), section 3.2.
    """
    function = _function(row, ["self"], {})

    def rule(order: int) -> Any:
        size, zero = x[0].shape[-1], wengert.zeros_like(x[0])
        blocks = [zero if block is None else block for block in (x[k] for k in range(order + 1))]
        rows = [wengert.cat([zero] * i + blocks[: order + 1 - i], -1) for i in range(order + 1)]
        return function(wengert.cat(rows, -2))[..., :size, order * size :]

    return rule


def _signature(node: Any, which: int, inputs: list[Any]) -> Any:
    """Return what nodes agree in that have the same series, and what keeps it theirs; None if that is not known."""
    row = row_of(node)
    if row is None:
        return None
    results = {result["name"] for result in row["results"]}
    parts: list[Any] = [row["name"], which, *map(id, inputs), *_shape(node._input_metadata[which])]
    kept = [inputs]
    for attribute in dir(node):
        name = attribute.removeprefix("_saved_")
        if name is attribute or name in results:
            continue
        value = getattr(node, attribute)
        kept.append(value)
        if isinstance(value, wengert.Tensor):
            parts += [name, value.data_ptr(), *_shape(value), *value.stride()]
        else:
            parts += [name, repr(value)]
    return tuple(parts), kept


def _shape(like: Any) -> tuple[Any, ...]:
    return (tuple(like.shape), str(like.dtype))


def _fitted(value: Any, metadata: Any) -> Any:
    """Return a coefficient in the shape and dtype of the result."""
    if value is None:
        return None
    shape = tuple(metadata.shape)
    if tuple(value.shape) != shape:
        value = value.expand(shape)
    return value if value.dtype == metadata.dtype else value.to(metadata.dtype)
