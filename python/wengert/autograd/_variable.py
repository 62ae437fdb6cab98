"""The names of old programs: of tensors with gradients, before every tensor could require them, and of the engine."""

from __future__ import annotations

import warnings
from typing import Any

import wengert
from wengert import _C
from wengert._C import Tensor

from ._backward.engine import run_engine_logged
from ._backward.entry import backward, grad


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


class VariableMeta(type):
    """Makes every tensor an instance of `Variable`."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=VariableMeta):
    """A call that returns a tensor; use ``requires_grad_()`` on the tensor itself.

    Parameters
    ----------
    data : Tensor, optional
        The values, shared with the result.
    requires_grad : bool, default False
        Whether the result records its history.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.autograd.Variable(wg.tensor([1.0]), requires_grad=True)
    >>> isinstance(x, wg.autograd.Variable), x.is_leaf
    (True, True)
    """

    _execution_engine = ImperativeEngine()

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: Any = None) -> Any:
        if volatile is not None:
            warnings.warn(
                "volatile was removed and now has no effect. Use `with wengert.no_grad():` instead.",
                UserWarning,
                stacklevel=2,
            )
        if data is None:
            data = wengert.empty(0)
        if not isinstance(data, Tensor):
            raise TypeError(
                f"Variable data has to be a tensor, but got {type(data).__name__}; convert it with wengert.as_tensor"
            )
        return data.detach().requires_grad_(requires_grad)


def variable(*args: Any, **kwargs: Any) -> Any:
    """Raise: use ``wengert.tensor``."""
    raise RuntimeError("wengert.autograd.variable(...) is deprecated, use wengert.tensor(...) instead")


# The function hides the module of the same name, so it offers what the module holds.
variable.Variable = Variable  # type: ignore[attr-defined]
