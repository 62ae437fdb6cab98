"""Recorded graphs, seen from Python: the order of their nodes, and one node as a linear map."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import wengert

from ..autograd import set_grad_enabled


def outside_passes(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function that applies nodes, in another thread if a backward pass is running in this one.

    A node that is called inside a pass leaves out the gradients which that pass does not need.
    """
    if wengert._C._current_graph_task_id() < 0:
        return function(*arguments)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *arguments).result()


def applied(node: Any, which: int, cotangent: Any, indices: Sequence[int], create_graph: bool) -> list[Any]:
    """Return the gradients of some inputs of a node for a cotangent of one of its results."""
    cotangents: list[Any] = [None] * len(node._input_metadata)
    cotangents[which] = cotangent
    with set_grad_enabled(create_graph):
        gradients = node(*cotangents)
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    return [gradients[index] for index in indices]


def varying(node: Any, which: int) -> list[bool]:
    """Return for each input whether the coefficients of its gradient are computed from what is differentiated."""
    metadata = node._input_metadata[which]
    cotangent = wengert.ones(tuple(metadata.shape), dtype=metadata.dtype)
    known = [index for index, (edge, _) in enumerate(node.next_functions) if edge is not None]
    found = [False] * len(node.next_functions)
    for index, gradient in zip(known, applied(node, which, cotangent, known, create_graph=True), strict=True):
        found[index] = gradient is not None and gradient.requires_grad
    return found


def nodes_between(roots: list[Any], targets: set[Any]) -> list[Any]:
    """Return the nodes between roots and targets, every one before the nodes that it leads to."""
    useful: dict[Any, None] = {}
    for node in in_order(roots, set()):
        if node in targets or any(edge in useful for edge, _ in node.next_functions):
            useful[node] = None
    return list(reversed(useful))


def in_order(roots: list[Any], known: set[Any]) -> Iterator[Any]:
    """Yield the nodes above roots but for those known, which they become, every one after the nodes it leads to."""
    stack: list[tuple[Any, bool]] = [(root, False) for root in roots]
    while stack:
        node, done = stack.pop()
        if done:
            yield node
        elif node not in known:
            known.add(node)
            stack.append((node, True))
            stack.extend((edge, False) for edge, _ in node.next_functions if edge is not None)


def pulled_ones(node: Any, which: int, indices: Sequence[int]) -> tuple[Any, list[Any]]:
    """Return a cotangent of ones for a result of a node, and the gradients of some inputs as functions of it."""
    metadata = node._input_metadata[which]
    ones = wengert.ones(tuple(metadata.shape), dtype=metadata.dtype, requires_grad=True)
    return ones, applied(node, which, ones, indices, create_graph=True)
