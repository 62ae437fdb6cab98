"""The classes of nodes by name, for programs that ask for one before there is a node of it.

A class is made when the first node of its name is shown to Python. `_C._functions` answers for the other names of the
table as well: ``isinstance(node, wg._C._functions.MulBackward0)`` works from the start.
"""

from __future__ import annotations

import functools
from typing import Any

from wengert import _C

# Nodes that no row of the table makes.
_OTHER_NAMES = frozenset({"AccumulateGrad", "CopySlices", "Error", "GraphRoot", "NotImplemented"})


@functools.cache
def _names_of_the_table() -> frozenset[str]:
    from wengert._table import rows  # reads the table: not before somebody asks

    return frozenset(name for row in rows() for name in row["node_names"])


def class_named(name: str) -> Any:
    """Return the class of the nodes of a name; what `_C._functions` does for names it does not have yet."""
    if not name.startswith("_") and (name in _OTHER_NAMES or name in _names_of_the_table()):
        return _C._functions._class_named(name)
    raise AttributeError(f"module 'wengert._C._functions' has no attribute {name!r}")


class DelayedError:
    """Hands tensors on; computing a gradient through them raises a RuntimeError.

    Parameters
    ----------
    message : str
        What the error says.
    num_inputs : int
        The number of tensors.
    """

    def __init__(self, message: str, num_inputs: int) -> None:
        self._call = _make_delayed_error(message, num_inputs)

    def __call__(self, *tensors: Any) -> Any:
        return self._call(*tensors)


class UndefinedGrad:
    """Hands tensors on; their gradients are undefined."""

    def __call__(self, *tensors: Any) -> Any:
        return _undefined_grad(*tensors)


_make_delayed_error = _C._functions.DelayedError
_undefined_grad = _C._functions.UndefinedGrad()
_C._functions.DelayedError = DelayedError
_C._functions.UndefinedGrad = UndefinedGrad
_C._functions.__getattr__ = class_named
