"""Operations as objects: what a dispatch mode, a selective checkpoint or a debug log names them by.

``wengert.ops.aten.max.dim`` is made from the row ``max.dim`` of the table. Each row stands for up to three operations:
itself, the in-place one (``aten.add_.default``) and the one with ``out=`` (``aten.add.out``). Where a row takes a
tensor or a number, its default overload also answers to PyTorch's names ``Tensor`` and ``Scalar``.

Everything is made when it is first asked for; the table itself is read then.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from wengert._C import Tensor

from ._table import function_of, rows_by_name


@functools.cache
def _index() -> dict[tuple[str, str], tuple[str, str]]:
    """Return for the name and the overload of every operation its row and its variant."""
    index = {}
    for key, row in rows_by_name().items():
        name, _, overload = row["schema"].partition("(")[0].partition(".")
        if not name.endswith("_"):
            index[name, overload] = (key, "")
        if row["inplace"]:
            index[name if name.endswith("_") else f"{name}_", overload] = (key, "inplace")
        if row["out"]:
            index[name, f"{overload}_out".lstrip("_")] = (key, "out")
    return index


class OpOverload:
    """One operation of the table, callable with Python arguments.

    Attributes
    ----------
    namespace : str
        Always ``"aten"``.
    overloadpacket : OpOverloadPacket
        All operations of its name.
    """

    namespace = "aten"

    def __init__(self, name: str, overload: str, row: dict[str, Any], variant: str) -> None:
        self._opname, self._overloadname = name, overload or "default"
        self._row, self._variant = row, variant
        self.__name__ = f"{name}.{self._overloadname}"
        self.__qualname__ = self.__name__
        arguments = row["arguments"]
        self._positional = [a for a in arguments if not a["keyword_only"]]
        self._keywords = [a for a in arguments if a["keyword_only"]]
        if variant == "out":
            self._keywords.append({"name": "out", "default": None})
        self._call: Callable[..., Any] | None = None

    @property
    def overloadpacket(self) -> OpOverloadPacket:
        return packet(self._opname)

    @property
    def _schema(self) -> str:
        return f"aten::{self._row['schema']}"

    def name(self) -> str:
        """Return the name in PyTorch's spelling, ``aten::max.dim``."""
        return f"aten::{self._opname}" + ("" if self._overloadname == "default" else f".{self._overloadname}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._call is None:
            self._call = _callable_of(self._row, self._variant)
        return self._call(*args, **kwargs)

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='aten.{self._opname}', overload='{self._overloadname}')>"

    def __reduce__(self) -> Any:
        return operation, (self._opname, "" if self._overloadname == "default" else self._overloadname)

    def as_written(self, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the values of all arguments as a call would write them: without trailing defaults."""
        count = len(self._positional)
        given = list(values[:count])
        while given and _is_default(given[-1], self._positional[len(given) - 1]):
            given.pop()
        keywords: dict[str, Any] = {}
        for argument, value in zip(self._keywords, values[count:], strict=True):
            if argument.get("type") == "TensorOptions":
                keywords.update(value)
            elif not _is_default(value, argument):
                keywords[argument["name"]] = value
        return tuple(given), keywords


def _is_default(value: Any, argument: dict[str, Any]) -> bool:
    default = argument["default"]
    if default is None or isinstance(value, Tensor):
        return False
    if value is None:
        return bool(default == "None")
    return default in (repr(value), str(value)) or default == repr(str(value))


def _callable_of(row: dict[str, Any], variant: str) -> Callable[..., Any]:
    """Return what runs the operation."""
    name = row["python"]["name"]
    if variant == "inplace" and "method" in row["methods"]:
        return getattr(Tensor, name if name.endswith("_") else f"{name}_")  # type: ignore[no-any-return]
    function = function_of(row)
    if variant != "inplace" or "function" not in row["methods"]:
        return function
    return lambda self, *args, **kwargs: self.copy_(function(self, *args, **kwargs))


class OpOverloadPacket:
    """All operations of one name; its attributes are the overloads."""

    def __init__(self, name: str) -> None:
        self.__name__ = self._name = name

    def overloads(self) -> list[str]:
        """Return the names of the overloads."""
        return [overload or "default" for name, overload in _index() if name == self._name]

    def __getattr__(self, overload: str) -> OpOverload:
        if overload.startswith("_"):
            raise AttributeError(overload)
        return self._overload(overload)

    def _overload(self, overload: str) -> OpOverload:
        known = self.overloads()
        if overload not in known and overload in ("Tensor", "Scalar") and "default" in known:
            default = operation(self._name, "")
            if any(argument["type"] == "Operand" for argument in default._row["arguments"]):
                return default
        if overload not in known:
            raise AttributeError(f"aten.{self._name} has no overload '{overload}'; it has {', '.join(known)}")
        return operation(self._name, "" if overload == "default" else overload)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._overload(self.overloads()[0])(*args, **kwargs)

    def __str__(self) -> str:
        return f"aten.{self._name}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='aten.{self._name}')>"


class Namespace:
    """The operations of one namespace as attributes, by name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> OpOverloadPacket:
        if name.startswith("__") or not any(known == name for known, _ in _index()):
            raise AttributeError(f"'wengert.ops.{self.name}' has no operation '{name}'")
        return packet(name)

    def __dir__(self) -> list[str]:
        return sorted({name for name, _ in _index()})


@functools.cache
def packet(name: str) -> OpOverloadPacket:
    """Return the one object for all operations of a name."""
    return OpOverloadPacket(name)


@functools.cache
def operation(name: str, overload: str) -> OpOverload:
    """Return the one object for an operation; the overload of a default is the empty string."""
    key, variant = _index()[name, overload]
    return OpOverload(name, overload, rows_by_name()[key], variant)


def call_mode(mode: Any, name: str, overload: str, args: tuple[Any, ...]) -> list[Any]:
    """Let a dispatch mode compute an operation; called by the core. Returns the resulting tensors."""
    op = operation(name, overload)
    positional, keywords = op.as_written(args)
    result = mode.__torch_dispatch__(op, (), positional, keywords)
    if isinstance(result, Tensor) or result is None:
        return [result]
    if isinstance(result, (tuple, list)):
        return list(result)
    raise TypeError(
        f"[{op}] {type(mode).__name__}.__torch_dispatch__ must return what the operation returns, a Tensor or a "
        f"sequence of them, but returned a {type(result).__name__}; return func(*args, **kwargs)"
    )
