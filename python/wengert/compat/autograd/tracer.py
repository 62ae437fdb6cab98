"""What tells whether a value is being differentiated."""

from __future__ import annotations

from ._boxes import ArrayBox as Box
from ._boxes import getval, isbox
from .extend import notrace_primitive, primitive, register_notrace

__all__ = ["Box", "getval", "isbox", "notrace_primitive", "primitive", "register_notrace"]
