"""Names of PyTorch that Wengert lacks: they may be passed around, and say that they are absent when they are used.

To be used is to be called, iterated over, tested for truth, entered as a context or computed with, or to have a subclass
that is instantiated. What only mentions a name is answered truthfully: no object is an instance of it or equal to it,
and annotations may hold it.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any, NoReturn, Union

from wengert._missing import no_attribute

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
        if name.startswith("__"):
            raise AttributeError(f"{self.__name__} has no attribute {name!r}")
        return absent(f"{self.__name__}.{name}")

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        """Return the class that a class statement uses in the place of this: there are subclasses, but no instances."""
        return (type(self.__name__, (), {"__new__": lambda cls, *args, **kwargs: self()}),)

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
