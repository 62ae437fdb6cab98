"""The walk over a recorded graph, from inputs to outputs, with series."""

from __future__ import annotations

from typing import Any

import wengert
from wengert._table import Row, row_of

from ...autograd import enable_grad, grad
from .._nodes import applied, nodes_between, varying
from ._formula import Evaluator, NoRuleError
from ._series import Series

Key = tuple[Any, int]  # a node and the number of one of its results


class Walk:
    """Series of all results of a graph, up to one order."""

    def __init__(self, given: dict[Key, Series], order: int, connected: bool) -> None:
        self._series = given
        self._order = order
        self._connected = connected  # whether derivatives of the series are wanted
        self._evaluate = Evaluator()

    def run(self, outputs: list[Key]) -> list[Any]:
        """Return the series of some results, None for those that do not vary."""
        nodes = nodes_between([node for node, _ in outputs], {node for node, _ in self._series})
        sources = {node for node, _ in self._series}
        for node in reversed(nodes):
            if node not in sources:
                for which in range(len(node._input_metadata)):
                    found = self._of_node(node, which)
                    if found is not None:
                        self._series[node, which] = found
        return [self._series.get(output) for output in outputs]

    def _of_node(self, node: Any, which: int) -> Any:
        inputs = [self._series.get(edge) for edge in node.next_functions]
        if all(value is None for value in inputs):
            return None
        row = row_of(node)
        try:
            if row is not None and any(key.startswith("d_") for key in row["formulas"]):
                return self._finished(self._solution(node, row, which, inputs), node, which)
            if isinstance(node, wengert._C._FunctionBase):
                raise NoRuleError("a custom function")
            if not any(flag for flag, value in zip(varying(node, which), inputs, strict=True) if value is not None):
                return self._finished(self._linear(node, which, inputs), node, which)
            if row is None:
                raise NoRuleError("a write into a view that depends on values")
            return self._finished(self._solution(node, row, which, inputs), node, which)
        except NotImplementedError as error:
            raise NotImplementedError(
                f"[jet] {node.name()} has no Taylor rule: {error} cannot be evaluated with series; write the function "
                "with other operations, or nest wg.func.jvp"
            ) from None

    def _solution(self, node: Any, row: Row, which: int, inputs: list[Any]) -> Any:
        """Solve the differential equation that the row's derivative is."""
        names = [a["name"] for a in row["arguments"] if a["differentiable"]]
        if len(names) != len(inputs):
            raise NoRuleError(f"{row['name']} of {len(inputs)} tensors")
        bound: dict[str, Any] = {}
        for argument in row["arguments"]:
            for name in (argument["name"], f"{argument['name']}_sym_sizes"):
                if hasattr(node, f"_saved_{name}"):  # else the formulas do not need it
                    bound[name] = getattr(node, f"_saved_{name}")
        for name, value in zip(names, inputs, strict=True):
            if value is not None:
                saved = bound.get(name)
                start = saved if isinstance(saved, wengert.Tensor) else None
                bound[name] = Series([start], value.__getitem__)
        result = row["differentiable_results"][which]
        for other in row["results"]:
            if other["name"] != result and hasattr(node, f"_saved_{other['name']}"):
                bound[other["name"]] = getattr(node, f"_saved_{other['name']}")
        return self._evaluate.solution(row, bound, getattr(node, f"_saved_{result}", None), result)

    def _linear(self, node: Any, which: int, inputs: list[Any]) -> Any:
        """Apply a node's tangent map, the transpose of its gradient, to the coefficients of each order."""
        metadata = node._input_metadata[which]
        indices = [index for index, value in enumerate(inputs) if value is not None]
        with enable_grad():
            weights = wengert.zeros(tuple(metadata.shape), dtype=metadata.dtype, requires_grad=True)
            gradients = applied(node, which, weights, indices, create_graph=True)
        pairs = zip(gradients, (inputs[index] for index in indices), strict=True)
        known = [(g, value) for g, value in pairs if g is not None and g.requires_grad]

        def rule(k: int) -> Any:
            present = [(g, value[k]) for g, value in known if value[k] is not None]
            if not present:
                return None
            roots, seeds = zip(*present, strict=True)
            (change,) = grad(roots, weights, seeds, retain_graph=True, create_graph=self._connected, allow_unused=True)
            return change

        return Series([None], rule)

    def _finished(self, found: Any, node: Any, which: int) -> Any:
        """Compute all coefficients, in the shape and dtype of the result."""
        metadata = node._input_metadata[which]
        shape = tuple(metadata.shape)
        known: list[Any] = [None]
        for k in range(1, self._order + 1):
            value = found[k]
            if value is not None:
                if not isinstance(value, wengert.Tensor):
                    value = wengert.tensor(value, dtype=metadata.dtype)
                value = value if tuple(value.shape) == shape else value.expand(shape)
                value = value if value.dtype == metadata.dtype else value.to(metadata.dtype)
            known.append(value)
        return Series(known, lambda _: None)
