"""Modules called ``torch.x`` that show what is in `wengert.x`, and placeholders for what is not.

A face looks a name up in its sources, in this order: the module of its path in `_counterparts`, the module of its path
in Wengert, and for a module of a flat package (``torch.optim.adam``) the package. It keeps what it has found, so that
programs pay for looking once.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any

from ._absent import Absent, absent, is_named

_COUNTERPARTS = f"{__package__}._counterparts"

# PyTorch has a module for every few classes of these; their users find all in the package.
_FLAT = ("distributions", "nn.modules", "optim")


class Face(ModuleType):
    """A module of PyTorch's name that shows the names of others.

    Parameters
    ----------
    name
        Its full name, as in ``torch.nn``.
    sources
        The modules whose names it has, by precedence.
    """

    def __init__(self, name: str, sources: list[ModuleType]) -> None:
        super().__init__(name, sources[-1].__doc__)
        self.__path__: list[str] = []  # submodules are looked for by the finder
        self._sources = sources

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in ("__all__", "__version__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name, obj=self)
        full = f"{self.__name__}.{name}"
        for source in self._sources:
            try:
                value = getattr(source, name)
            except AttributeError:
                continue
            if isinstance(value, ModuleType) and value.__name__.startswith("wengert."):
                value = importlib.import_module(full)
            self.__dict__[name] = value
            return value
        if sources_of(full):
            return importlib.import_module(full)
        if is_named(sys._getframe(1)):
            return absent(full)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(value, Absent):  # which the import of one leaves here: hasattr is to see that it is absent
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *(name for source in self._sources for name in dir(source))})


def sources_of(name: str) -> list[ModuleType]:
    """Return the modules that have the names of a module of PyTorch (``torch.optim.adam``); none if it is absent."""
    path = name.removeprefix("torch").removeprefix(".")
    parent = path.rpartition(".")[0]
    found = [_module(f"{package}.{path}".rstrip(".")) for package in (_COUNTERPARTS, "wengert")]
    if parent in _FLAT:
        found.append(_module(f"wengert.{parent}"))
    return [module for module in found if module]


def is_ours(name: str) -> bool:
    """Whether a loaded module stands for one of PyTorch."""
    return name.partition(".")[0] == "torch" and isinstance(sys.modules[name], (Face, Absent))


def _module(name: str) -> ModuleType | None:
    try:
        there = importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # nor is its package
        there = False
    return importlib.import_module(name) if there else None
