"""Debug mode: messages name the operation and the user's line."""

from __future__ import annotations

from wengert import _C

from .context import SwitchedAtOnce


class set_debug_mode(SwitchedAtOnce):
    """Switch debug mode: as a plain call, or as a context manager that restores the previous state.

    In debug mode each recorded operation and each in-place write remembers the line of the program that it stands in,
    for about 0.2 microseconds. Errors then name it: the node that was freed when a graph is used twice, the operation
    that wrote to a tensor needed for backward, the function that returned a gradient of the wrong shape, and, where a
    backward pass made a node, the node that ran then. `wengert.graph.draw` shows the lines too.

    The flag belongs to the process, as that of anomaly mode does, which keeps whole stacks and searches for NaN.

    Parameters
    ----------
    mode : bool
        Whether lines are remembered.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.ones(2, requires_grad=True)
    >>> with wg.autograd.set_debug_mode(True):
    ...     y = x.exp().sum()
    >>> y.backward()
    >>> y.backward()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    RuntimeError: ...The first node that this pass needs and that was freed is ExpBackward0 made at <doctest ...
    """

    _flag = "set_debug_mode"


def is_debug_mode_enabled() -> bool:
    """Return whether debug mode is on."""
    return bool(_C._is_debug_mode())
