"""Modules without the time that initialisation takes."""

from __future__ import annotations

import inspect
from typing import Any

from .._module import Module

__all__ = ["skip_init"]


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """Make a module whose parameters hold whatever is in memory.

    Parameters
    ----------
    module_cls : type
        A class of modules that takes ``device``.
    *args, **kwargs
        The arguments of its constructor.

    Raises
    ------
    RuntimeError
        If it is no such class.
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    return module_cls(*args, **kwargs).to_empty(device=kwargs.get("device", "cpu"))
