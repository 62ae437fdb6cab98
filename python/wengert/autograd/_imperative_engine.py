"""The engine as an object, under its historic names: ``Variable._execution_engine``."""

from __future__ import annotations

from collections.abc import Callable
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
        backward(*args, **kwargs)

    @staticmethod
    def grad(*args: Any, **kwargs: Any) -> Any:
        """Call `wengert.autograd.grad`."""
        return grad(*args, **kwargs)

    @staticmethod
    def set_num_threads(num: int) -> None:
        """Call `wengert.set_num_threads`."""
        _C._set_num_threads(num)
