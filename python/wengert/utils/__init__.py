"""Helpers around autograd."""

from __future__ import annotations

import importlib
from typing import Any

from . import hooks

__all__ = ["checkpoint", "hooks"]  # loaded when first used


def __getattr__(name: str) -> Any:
    if name in ("checkpoint", "_python_dispatch"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
