"""What functions that are no operations do with samples of a batch.

Operations of the table run on batched tensors by themselves. Everything else that takes tensors comes here: creation
like another tensor, passes of the engine, dual tensors have handlers (`_handlers`); what has none runs once for each
sample (`_loop`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ._batch import Batch, batched_among
from ._loop import loop

_ESCAPED = (
    "vmap: your tensor may have escaped from inside a function being vmapped: it stands for one sample of a batch "
    "whose vmap is over. Return it from the function, or keep its values with wengert.func.debug_unwrap."
)

Handler = Callable[[Any, tuple[Any, ...], dict[str, Any], Batch], Any]


@functools.cache
def _handlers() -> dict[Any, Handler]:
    from ._handlers import HANDLERS

    return HANDLERS


def dispatch(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run `func` for a batch: the deepest level among its arguments."""
    level = max(tensor._level for tensor in batched_among((args, kwargs)))
    if not level.is_open:
        raise RuntimeError(_ESCAPED)
    return _handlers().get(func, loop)(func, args, kwargs, Batch(level))
