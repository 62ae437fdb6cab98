"""The one door to the C++ engine, and the debug log beside it.

``run_engine(roots, gradients, keep_graph, create_graph, targets, allow_unreachable, accumulate_grad)`` takes tuples of
tensors or gradient edges and returns the gradients of `targets`. A gradient of None stands for one, where the root is a
real number. The rules of what is allowed stand beside the engine (``src/engine/entry.h``).

With the logger ``wengert.autograd.graph`` at level DEBUG, every node that runs logs what it receives.
"""

from __future__ import annotations

import logging
from typing import Any

from wengert import _C

logger = logging.getLogger("wengert.autograd.graph")
DEBUG = logging.DEBUG
is_logging = logger.isEnabledFor
run_engine = _C._engine_run_backward


def run_engine_logged(*arguments: Any) -> Any:
    """Call the engine; log every node it evaluates if the logger asks for it."""
    if not is_logging(DEBUG):
        return run_engine(*arguments)
    token = _C._node_log_start(_log_evaluation)
    try:
        return run_engine(*arguments)
    finally:
        _C._node_log_stop(token)


def _log_evaluation(node: Any, grad_outputs: tuple[Any, ...]) -> None:
    if type(node).__name__ == "GraphRoot":  # the engine's own, where there are several roots
        return
    described = ", ".join(
        "None" if gradient is None else f"{gradient.dtype}{list(gradient.shape)}" for gradient in grad_outputs
    )
    logger.debug("Executing: %s with grad_outputs: [%s]", node, described)
