"""Extensions in C++: functions that take and return tensors, custom functions, hooks, operations of your own.

`load_inline` compiles C++ text and imports it, `load` does the same with files, `CppExtension` and `BuildExtension` are
for packages that setuptools builds. Other builds find the library with ``find_package(wengert)`` of CMake, below
``wengert.utils.cmake_prefix_path``, or with pkg-config. A C++20 compiler is needed, nothing else: it is the environment
variable ``CXX``, or the compiler that Python was built with, or the first of ``c++``, ``g++`` and ``clang++``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._cpp_extension.building import load, load_inline
from ._cpp_extension.paths import get_default_build_root, include_paths, library_paths

__all__ = [
    "BuildExtension",
    "CppExtension",
    "get_default_build_root",
    "include_paths",
    "library_paths",
    "load",
    "load_inline",
]

if TYPE_CHECKING:
    from ._cpp_extension.packaging import BuildExtension as BuildExtension
    from ._cpp_extension.packaging import CppExtension as CppExtension
else:

    def __getattr__(name: str) -> Any:
        if name in ("BuildExtension", "CppExtension"):  # they need setuptools, which is no dependency
            from ._cpp_extension import packaging

            return getattr(packaging, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
