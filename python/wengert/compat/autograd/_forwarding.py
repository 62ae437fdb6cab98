"""Modules that show what is in another one besides their own names."""

from __future__ import annotations

from types import ModuleType
from typing import Any


def forward(module: dict[str, Any], source: ModuleType) -> None:
    """Give a module, by its globals, the names of another one."""

    def __getattr__(name: str) -> Any:  # noqa: N807
        if name.startswith("__"):
            raise AttributeError(f"module {module['__name__']!r} has no attribute {name!r}")
        return getattr(source, name)

    own = set(module)
    module["__getattr__"] = __getattr__
    module["__dir__"] = lambda: sorted(own | {n for n in dir(source) if not n.startswith("__")})
