"""Dispatch modes: Python code in the place of every operation's kernel.

A mode stands below recording. Inside it nothing is recorded and the mode itself is not active, so that calling ``func``
runs the operation, or the next mode outside. What it returns becomes the operation's result, with the history that the
kernel's result would have had. Operations that are made of others (``compose`` in the table) show their parts.
"""

from __future__ import annotations

from typing import Any

from wengert import _C


class TorchDispatchMode(_C._DispatchMode):
    """Base class: define ``__torch_dispatch__`` and use an instance as a context manager.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.utils._python_dispatch import TorchDispatchMode
    >>> class Log(TorchDispatchMode):
    ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
    ...         print(func)
    ...         return func(*args, **(kwargs or {}))
    >>> with Log():
    ...     y = wg.ones(2).exp() * 2
    aten.exp.default
    aten.mul.default
    """

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define __torch_dispatch__(func, types, args, kwargs)")


def _get_current_dispatch_mode() -> TorchDispatchMode | None:
    """Return the innermost active mode of this thread."""
    modes = _C._dispatch_modes()
    return modes[0] if modes else None


def _get_current_dispatch_mode_stack() -> list[TorchDispatchMode]:
    """Return the active modes of this thread, the outermost first."""
    return list(reversed(_C._dispatch_modes()))
