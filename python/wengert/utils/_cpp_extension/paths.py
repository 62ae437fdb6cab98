"""Where an extension finds the library, and where it is built."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from wengert import _C

PACKAGE = Path(_C.__file__).parent  # of an editable installation the part that was compiled
CMAKE_PREFIX = str(PACKAGE / "share" / "cmake")


def include_paths() -> list[str]:
    """Return the folders with headers that an extension is compiled with.

    Examples
    --------
    >>> import wengert.utils.cpp_extension as cpp_extension
    >>> from pathlib import Path
    >>> Path(cpp_extension.include_paths()[0], "wengert", "wengert.h").is_file()
    True
    """
    return [str(PACKAGE / "include")]


def library_paths() -> list[str]:
    """Return the folders with libraries that an extension is linked with: ``libwengert`` is in the first."""
    return [str(PACKAGE / "lib")]


def get_default_build_root() -> str:
    """Return the folder below which extensions are built.

    It is that of the environment variable ``WENGERT_EXTENSIONS_DIR``, or one in the user's cache.
    """
    if chosen := os.environ.get("WENGERT_EXTENSIONS_DIR"):
        return os.path.abspath(chosen)
    if sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return str(cache / "wengert_extensions")
