"""Helpers around autograd, and data for training."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from wengert._progress_bars import progress_bars

from . import hooks
from ._versions import show_versions

__all__ = [  # modules are loaded when first used
    "checkpoint", "data", "einops", "hooks", "progress_bars", "pytree", "safetensors", "show_versions",
]  # fmt: skip

if TYPE_CHECKING:  # type checkers do not see `__getattr__`: with it, no name would be unknown to them
    from . import checkpoint as checkpoint
    from . import data as data
    from . import einops as einops
    from . import pytree as pytree
    from . import safetensors as safetensors
else:

    def __getattr__(name: str) -> Any:
        if name in ("checkpoint", "data", "einops", "pytree", "safetensors", "_python_dispatch"):
            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
