"""Names of PyTorch that Wengert lacks: they may be passed around, and say that they are absent when they are used.

To be used is to be called, iterated over, tested for truth, entered as a context or computed with, or to have a
subclass of which there is to be an instance. What only mentions a name is answered truthfully: no object is an instance
of it or equal to it, and annotations may hold it.

A program that names an absent attribute (``torch.x``, ``from torch import x``) gets a placeholder; one that asks
whether there is one (``hasattr``, ``getattr`` with a default) is told that there is none. The instruction that looks
the attribute up tells them apart.
"""

from __future__ import annotations

import dis
import importlib
import sys
from types import FrameType, ModuleType
from typing import Any, NoReturn, Union

from wengert._missing import no_attribute

# Instructions that name what they look up; hasattr, getattr and pickle look up in calls.
_NAMING = {dis.opmap[name] for name in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM") if name in dis.opmap}

_made: dict[str, Absent] = {}


class Absent(ModuleType):
    """A name of PyTorch without counterpart, or a module of such names: which of them is not known.

    Parameters
    ----------
    name
        Its full name, as in ``torch.distributed.all_reduce``.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []

    def __repr__(self) -> str:
        return f"<{self.__name__}: not in Wengert>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not is_named(sys._getframe(1)):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name, obj=self)
        return absent(f"{self.__name__}.{name}")

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        """Return the class that a class statement uses in the place of this: there are subclasses, but no instances."""

        def __new__(cls: type, *args: Any, **kwargs: Any) -> NoReturn:  # noqa: N807
            raise _error(self)

        return (type(self.__name__, (), {"__new__": __new__}),)

    def __instancecheck__(self, instance: Any) -> bool:
        return False

    def __subclasscheck__(self, subclass: Any) -> bool:
        return False

    def __getitem__(self, index: Any) -> Any:  # Future[int], in annotations
        return self

    def __or__(self, other: Any) -> Any:  # Future | None, in annotations
        return Union[self, other]  # noqa: UP007  # this is what the operator calls

    def __ror__(self, other: Any) -> Any:
        return Union[other, self]  # noqa: UP007


def _refuse(self: Absent, *args: Any, **kwargs: Any) -> NoReturn:
    raise _error(self)


_USES = "call iter next bool len contains enter int float index add radd sub rsub mul rmul truediv rtruediv neg pow"
for _use in _USES.split():
    setattr(Absent, f"__{_use}__", _refuse)


def absent(name: str) -> Absent:
    """Return the one placeholder of a full name, as in ``torch.float16``."""
    if name not in _made:
        _made[name] = type(f"{name} (absent)", (Absent,), {})(name)  # errors about arguments show the type's name
    return _made[name]


def is_named(frame: FrameType) -> bool:
    """Whether a frame that looks an attribute up names it, instead of asking whether there is one."""
    return frame.f_code.co_code[frame.f_lasti] in _NAMING


def _error(name: Absent) -> NotImplementedError:
    """Return an error that names the first part of the path that is not here, and the remedy for it."""
    _, *parts = name.__name__.split(".")
    present = 0
    while present < len(parts) - 1 and _is_module(parts[: present + 1]):
        present += 1
    reason = no_attribute(".".join(parts[:present]), parts[present])
    return NotImplementedError(f"[as_torch] {name.__name__} is used, but {reason}")


def _is_module(parts: list[str]) -> bool:
    try:
        importlib.import_module(".".join(["wengert", *parts]))
    except ImportError:
        return False
    return True
