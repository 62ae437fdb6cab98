"""Handlers of functions that are no operations, on samples of a batch.

``HANDLERS`` maps functions and methods to handlers: functions of what was called, its arguments as they came, and the
batch.
"""

from ._registry import HANDLERS

__all__ = ["HANDLERS"]

from . import creation, methods, passes, tangents  # noqa: F401
