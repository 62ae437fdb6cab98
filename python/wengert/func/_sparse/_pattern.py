"""The pattern of a recorded function: a walk over its graph, from the outputs to one input."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ..._progress_bars import track
from ...autograd import no_grad
from ...autograd.graph import get_gradient_edge
from .._nodes import nodes_between, outside_passes
from ._local import patterns

_LIMIT = 1 << 28  # entries: beyond, sparse matrices do not pay


def pattern_of(outputs: list[Any], inputs: list[Any]) -> Any:
    """Return the pattern of all elements of `outputs` by all elements of `inputs`, a sparse Boolean matrix."""
    return outside_passes(_pattern_of, outputs, inputs)


def _pattern_of(outputs: list[Any], inputs: list[Any]) -> Any:
    rows = sum(output.numel() for output in outputs)
    found: dict[tuple[Any, int], Any] = {}
    first = 0
    for output in outputs:
        size = output.numel()
        if output.requires_grad:
            edge = get_gradient_edge(output)
            placed = scipy.sparse.csr_array(scipy.sparse.eye(rows, size, -first, dtype=bool))
            _add(found, (edge.node, edge.output_nr), placed)
        first += size
    targets = [get_gradient_edge(value) for value in inputs]
    kept = {(target.node, target.output_nr): None for target in targets}
    with no_grad():
        nodes = nodes_between([node for node, _ in found], {target.node for target in targets})
        for node in track(nodes, "sparsity"):
            for which in range(len(node._input_metadata)):
                key = (node, which)
                reached = found.get(key) if key in kept else found.pop(key, None)
                if reached is None or reached.nnz == 0:
                    continue
                for pattern, (edge, number) in zip(patterns(node, which), node.next_functions, strict=True):
                    if pattern is not None and edge is not None:
                        _add(found, (edge, number), _times(reached, pattern, node))
    blocks = []
    for target, value in zip(targets, inputs, strict=True):
        block = found.get((target.node, target.output_nr))
        blocks.append(scipy.sparse.csr_array((rows, value.numel()), dtype=bool) if block is None else block)
    result = scipy.sparse.csr_array(scipy.sparse.hstack(blocks, format="csr", dtype=bool))
    result.sum_duplicates()
    return result


def _add(found: dict[tuple[Any, int], Any], key: tuple[Any, int], matrix: Any) -> None:
    found[key] = found[key] + matrix if key in found else matrix


def _times(reached: Any, pattern: Any, node: Any) -> Any:
    """Multiply, after a look at how large the product may get."""
    if scipy.sparse.issparse(pattern):
        return scipy.sparse.csr_array(reached @ pattern)
    left, right = pattern.factors()
    product = scipy.sparse.csr_array(reached @ left)
    size = int(np.diff(right.indptr)[product.indices].sum())
    if size > _LIMIT:
        raise ValueError(
            f"[sparsity] {node.name()} couples so many elements that the Jacobian may have {size} entries, which is "
            "not sparse; pass pattern=..., or use products (vjp, jvp) instead of the matrix"
        )
    return scipy.sparse.csr_array(product @ right)
