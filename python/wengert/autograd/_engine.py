"""The one door to the C++ engine, and the debug log beside it.

``run_engine(roots, gradients, keep_graph, create_graph, targets, allow_unreachable, accumulate_grad)`` takes tuples of
tensors or gradient edges and returns the gradients of `targets`. ``implicit_gradient(tensor)`` returns the gradient
that ``loss.backward()`` starts from: one, for real tensors of one element, and None for all others.

With the logger ``wengert.autograd.graph`` at level DEBUG, every node of the graph logs what it receives.
"""

from __future__ import annotations

import logging
from typing import Any

from wengert import _C

from ._edges import node_of

logger = logging.getLogger("wengert.autograd.graph")
is_logging = logger.isEnabledFor
run_engine = _C._engine_run_backward
implicit_gradient = _C._implicit_gradient


def run_engine_logged(roots: tuple[Any, ...], *arguments: Any) -> Any:
    """Call the engine; log every node it evaluates if the logger asks for it."""
    if not is_logging(logging.DEBUG):
        return run_engine(roots, *arguments)
    handles = [node.register_prehook(_log_evaluation) for node in _reachable_nodes(roots)]
    try:
        return run_engine(roots, *arguments)
    finally:
        for handle in handles:
            handle.remove()


def _reachable_nodes(roots: tuple[Any, ...]) -> set[Any]:
    """Return all nodes below `roots`, found without recursion."""
    found: set[Any] = set()
    waiting = [node_of(root) for root in roots]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found.add(node)
            waiting.extend(child for child, _ in node.next_functions)
    return found


def _log_evaluation(grad_outputs: tuple[Any, ...]) -> None:
    described = ", ".join(
        "None" if gradient is None else f"{gradient.dtype}{list(gradient.shape)}" for gradient in grad_outputs
    )
    logger.debug("Executing: %s with grad_outputs: [%s]", _C._current_autograd_node(), described)
