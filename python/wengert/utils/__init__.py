"""Helpers around autograd, data for training, and extensions in C++."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from wengert._progress_bars import progress_bars

from . import hooks
from ._versions import show_versions

__all__ = [  # modules are loaded when first used
    "checkpoint", "cmake_prefix_path", "cpp_extension", "data", "einops", "hooks", "progress_bars", "pytree",
    "safetensors", "show_versions",
]  # fmt: skip

if TYPE_CHECKING:  # type checkers do not see `__getattr__`: with it, no name would be unknown to them
    from . import checkpoint as checkpoint
    from . import cpp_extension as cpp_extension
    from . import data as data
    from . import einops as einops
    from . import pytree as pytree
    from . import safetensors as safetensors

    cmake_prefix_path: str
else:

    def __getattr__(name: str) -> Any:
        if name in ("checkpoint", "cpp_extension", "data", "einops", "pytree", "safetensors", "_python_dispatch"):
            return importlib.import_module(f"{__name__}.{name}")
        if name == "cmake_prefix_path":  # what CMAKE_PREFIX_PATH needs for find_package(wengert)
            from ._cpp_extension.paths import CMAKE_PREFIX

            return CMAKE_PREFIX
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
