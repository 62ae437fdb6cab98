"""The one door to the C++ engine, and the debug log beside it.

``run_engine(roots, gradients, keep_graph, create_graph, targets, allow_unreachable, accumulate_grad)`` takes tuples of
tensors or gradient edges and returns the gradients of `targets`. A gradient of None stands for one, where the root is a
real number. The rules of what is allowed stand beside the engine (``src/engine/entry.h``).

`ImperativeEngine` is the same door under its historic names, ``Variable._execution_engine``.

With the logger ``wengert.autograd.graph`` at level DEBUG, every node that runs logs what it receives.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from wengert import _C

logger = logging.getLogger("wengert.autograd.graph")
is_logging = logger.isEnabledFor
run_engine = _C._engine_run_backward


def run_engine_logged(*arguments: Any) -> Any:
    """Call the engine; log every node it evaluates if the logger asks for it."""
    if not is_logging(logging.DEBUG):
        return run_engine(*arguments)
    token = _C._node_log_start(_log_evaluation)
    try:
        return run_engine(*arguments)
    finally:
        _C._node_log_stop(token)


class ImperativeEngine:
    """The engine as an object; there is one engine, so all of these are the same."""

    @staticmethod
    def run_backward(
        tensors: Any,
        grad_tensors: Any,
        keep_graph: bool,
        create_graph: bool,
        inputs: Any = (),
        allow_unreachable: bool = False,
        accumulate_grad: bool = False,
    ) -> Any:
        """Run a pass from `tensors`; return the gradients of `inputs`, or None with `accumulate_grad`."""
        roots, gradients, targets = tuple(tensors), tuple(grad_tensors), tuple(inputs)
        return run_engine_logged(
            roots, gradients, keep_graph, create_graph, targets, allow_unreachable, accumulate_grad
        )

    @staticmethod
    def queue_callback(callback: Callable[[], Any]) -> None:
        """Call `callback` once, when the pass that runs now has finished."""
        _C._execution_engine.queue_callback(callback)

    @staticmethod
    def is_checkpoint_valid() -> bool:
        """Return False inside a pass that computes the gradients of chosen inputs only."""
        return bool(_C._execution_engine.is_checkpoint_valid())

    @staticmethod
    def backward(*args: Any, **kwargs: Any) -> None:
        """Call `wengert.autograd.backward`."""
        from ._backward import backward

        backward(*args, **kwargs)

    @staticmethod
    def grad(*args: Any, **kwargs: Any) -> Any:
        """Call `wengert.autograd.grad`."""
        from ._backward import grad

        return grad(*args, **kwargs)

    @staticmethod
    def set_num_threads(num: int) -> None:
        """Call `wengert.set_num_threads`."""
        _C._set_num_threads(num)


def _log_evaluation(node: Any, grad_outputs: tuple[Any, ...]) -> None:
    if type(node).__name__ == "GraphRoot":  # the engine's own, where there are several roots
        return
    described = ", ".join(
        "None" if gradient is None else f"{gradient.dtype}{list(gradient.shape)}" for gradient in grad_outputs
    )
    logger.debug("Executing: %s with grad_outputs: [%s]", node, described)
