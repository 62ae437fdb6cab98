"""The engine as an object, under its historic names: ``Variable._execution_engine``."""

from __future__ import annotations

from typing import Any

from wengert import _C

from ._backward import backward, grad
from ._engine import run_engine_logged


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

    queue_callback = staticmethod(_C._execution_engine.queue_callback)  # calls it once, when the pass has finished
    is_checkpoint_valid = staticmethod(_C._execution_engine.is_checkpoint_valid)  # not where `inputs` were chosen
    backward = staticmethod(backward)
    grad = staticmethod(grad)
    set_num_threads = staticmethod(_C._set_num_threads)
