"""Which backward passes share a recomputation: each has its own, except those of one `GraphExecGroup`."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from typing import Any, Self

from wengert import _C
from wengert.autograd._modes.context import Undone

_current = threading.local()


class GraphExecGroup(Undone):
    """A block whose backward passes share one recomputation of each checkpointed function.

    The passes must not overlap: no two may need the same saved tensor.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.utils.checkpoint import GraphExecGroup, checkpoint
    >>> def f(x):
    ...     print("running")
    ...     return x.exp().exp(), x.sin().sin()
    >>> x = wg.ones(2, requires_grad=True)
    >>> a, b = checkpoint(f, x, use_reentrant=False)
    running
    >>> with GraphExecGroup():
    ...     a.sum().backward()
    ...     b.sum().backward()
    running
    """

    def __init__(self) -> None:
        self._ends: list[Callable[[], Any]] = []

    def _open(self) -> Self:
        active = getattr(_current, "group", None)
        if active is not None:
            raise RuntimeError(
                f"GraphExecGroup contexts cannot be nested. Already inside group {active}; leave it first."
            )
        self.undo(self._end)
        self.undo(setattr, _current, "group", None)
        _current.group = self
        return self

    def _end(self) -> None:
        ends, self._ends = self._ends, []
        for end in ends:
            end()


def active_group() -> GraphExecGroup | None:
    """Return the group that this thread is in."""
    return getattr(_current, "group", None)


def current_pass(at_end: Callable[[Any], None]) -> Any:
    """Return what identifies the running pass, or its group; `at_end` is called with it when it is over.

    Outside of a pass, when a saved tensor is looked at, every look is a pass of its own.
    """
    group = active_group()
    if group is not None:
        group._ends.append(lambda: at_end(group))
        return group
    task = _C._current_graph_task_id()
    if task == -1:
        return uuid.uuid4()
    _C._execution_engine.queue_callback(lambda: at_end(task))
    return task
