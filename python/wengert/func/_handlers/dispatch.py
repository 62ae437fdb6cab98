"""What functions that are no operations do with samples of a batch.

Operations of the table run on batched tensors by themselves. Everything else that takes tensors comes here: creation
like another tensor, passes of the engine, dual tensors have handlers (in the modules beside this one); what has none
runs once for each sample (`loop`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._batched_tensor import BatchedTensor
from .batch import Batch, batched_among
from .loop import loop

Handler = Callable[[Any, tuple[Any, ...], dict[str, Any], Batch], Any]
HANDLERS: dict[Any, Handler] = {}


def handles(*functions: Any) -> Callable[[Handler], Handler]:
    """Make a function the handler of functions and methods."""

    def register(handler: Handler) -> Handler:
        HANDLERS.update(dict.fromkeys(functions, handler))
        return handler

    return register


def _torch_function(cls: Any, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
    """Run `func` for a batch: the deepest level among its arguments."""
    kwargs = kwargs or {}
    level = max(tensor._level for tensor in batched_among((args, kwargs)))
    level.check_open()
    return HANDLERS.get(func, loop)(func, args, kwargs, Batch(level))


BatchedTensor.__torch_function__ = classmethod(_torch_function)  # type: ignore[method-assign, assignment]
