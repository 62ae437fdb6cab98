"""Operations as objects: what a dispatch mode, a selective checkpoint or a debug log names them by.

``wengert.ops.aten.max.dim`` is made from the row ``max.dim`` of the table. Each row stands for up to three operations:
itself, the in-place one (``aten.add_.default``) and the one with ``out=`` (``aten.add.out``). Where a row takes a
tensor or a number, its default overload also answers to PyTorch's names ``Tensor`` and ``Scalar``. Other namespaces
hold what Python programs register (_library/operation.py).

Everything is made when it is first asked for; the table itself is read then. `ask` lets a dispatch mode, or the classes
of the arguments, compute in the place of a kernel: the core calls it, for rows through `call_mode`.
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
    """One operation, callable with Python arguments.

    Attributes
    ----------
    namespace : str
        ``"aten"`` for operations of the table.
    overloadpacket : OpOverloadPacket
        All operations of its name.
    """

    def __init__(self, namespace: str, name: str, overload: str) -> None:
        self.namespace = namespace
        self._opname, self._overloadname = name, overload or "default"
        self.__name__ = f"{name}.{self._overloadname}"
        self.__qualname__ = self.__name__

    @property
    def overloadpacket(self) -> OpOverloadPacket:
        return packet(self.namespace, self._opname)

    def name(self) -> str:
        """Return the name in PyTorch's spelling, ``aten::max.dim``."""
        overload = "" if self._overloadname == "default" else f".{self._overloadname}"
        return f"{self.namespace}::{self._opname}{overload}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define __call__")

    def _written(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the argument that the operation writes to and returns, or None."""
        raise NotImplementedError(f"{type(self).__name__} must define _written")

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.namespace}.{self._opname}', overload='{self._overloadname}')>"

    def __reduce__(self) -> Any:
        return _overload_of, (self.namespace, self._opname, self._overloadname)


def _overload_of(namespace: str, name: str, overload: str) -> OpOverload:
    return packet(namespace, name)._overload(overload)


class _TableOverload(OpOverload):
    """An operation of the table."""

    def __init__(self, name: str, overload: str, row: dict[str, Any], variant: str) -> None:
        super().__init__("aten", name, overload)
        self._row, self._variant = row, variant
        arguments = row["arguments"]
        self._positional = [a for a in arguments if not a["keyword_only"]]
        self._keywords = [a for a in arguments if a["keyword_only"]]
        if variant == "out":
            self._keywords.append({"name": "out", "default": None})
        self._call: Callable[..., Any] | None = None

    @property
    def returns_number(self) -> bool:
        """Whether the result is a number and no tensor."""
        return bool(self._row["results"][0]["type"] == "Scalar")

    @property
    def _schema(self) -> str:
        return f"aten::{self._row['schema']}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._call is None:
            self._call = _callable_of(self._row, self._variant)
        return self._call(*args, **kwargs)

    def _written(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._variant == "out":
            return kwargs["out"]
        return args[0] if self._variant == "inplace" else None

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


# The operations of other namespaces: {namespace: {name: {overload: operation}}}.
REGISTERED: dict[str, dict[str, dict[str, OpOverload]]] = {}


class OpOverloadPacket:
    """All operations of one name; its attributes are the overloads."""

    def __init__(self, namespace: str, name: str) -> None:
        self._namespace = namespace
        self.__name__ = self._name = name

    def overloads(self) -> list[str]:
        """Return the names of the overloads."""
        if self._namespace != "aten":
            return list(REGISTERED.get(self._namespace, {}).get(self._name, ()))
        return [overload or "default" for name, overload in _index() if name == self._name]

    def __getattr__(self, overload: str) -> OpOverload:
        if overload.startswith("_"):
            raise AttributeError(overload)
        return self._overload(overload)

    def _overload(self, overload: str) -> OpOverload:
        known = self.overloads()
        if overload in known and self._namespace != "aten":
            return REGISTERED[self._namespace][self._name][overload]
        if overload not in known and overload in ("Tensor", "Scalar") and "default" in known:
            default = operation(self._name, "")
            if any(argument["type"] == "Operand" for argument in default._row["arguments"]):
                return default
        if overload not in known:
            raise AttributeError(f"{self} has no overload '{overload}'; it has {', '.join(known)}")
        return operation(self._name, "" if overload == "default" else overload)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._overload(self.overloads()[0])(*args, **kwargs)

    def __str__(self) -> str:
        return f"{self._namespace}.{self._name}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"


class Namespace:
    """The operations of one namespace as attributes, by name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> OpOverloadPacket:
        if name.startswith("__") or name not in dir(self):
            raise AttributeError(f"'wengert.ops.{self.name}' has no operation '{name}'")
        return packet(self.name, name)

    def __dir__(self) -> list[str]:
        return sorted({name for name, _ in _index()} if self.name == "aten" else REGISTERED.get(self.name, ()))


@functools.cache
def packet(namespace: str, name: str) -> OpOverloadPacket:
    """Return the one object for all operations of a name."""
    return OpOverloadPacket(namespace, name)


@functools.cache
def operation(name: str, overload: str) -> _TableOverload:
    """Return the one object for an operation of the table; the overload of a default is the empty string."""
    key, variant = _index()[name, overload]
    return _TableOverload(name, overload, rows_by_name()[key], variant)


# --- In the place of kernels
# What computes an operation for objects of exactly one class, of tensors or modes, instead of its `__torch_dispatch__`.
DISPATCH_RULES: dict[tuple[OpOverload, type], Callable[..., Any]] = {}


_NUMBERS = (bool, int, float, complex)


def call_mode(mode: Any, name: str, overload: str, args: tuple[Any, ...]) -> list[Any]:
    """Let a dispatch mode or, where that is None, the classes of the arguments compute an operation of the table.

    The core calls this. Returns the results.
    """
    op = operation(name, overload)
    result = ask(mode, op, *op.as_written(args))
    if result is None or isinstance(result, Tensor) or (op.returns_number and isinstance(result, _NUMBERS)):
        return [result]
    if isinstance(result, (tuple, list)):
        return list(result)
    raise TypeError(
        f"[{op}] __torch_dispatch__ must return what the operation returns, a Tensor or a sequence of them, but "
        f"returned a {type(result).__name__}; return func(*args, **kwargs)"
    )


def ask(mode: Any, op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return what the mode, or the first class that does not return NotImplemented, makes of an operation."""
    types = dispatching_types((args, kwargs))
    if mode is not None:
        rule = DISPATCH_RULES.get((op, type(mode)))
        result = rule(mode, op, types, args, kwargs) if rule else mode.__torch_dispatch__(op, types, args, kwargs)
        if result is not NotImplemented:
            return result
    for cls in types:
        rule = DISPATCH_RULES.get((op, cls))
        result = rule(cls, op, types, args, kwargs) if rule else cls.__torch_dispatch__(op, types, args, kwargs)
        if result is not NotImplemented:
            return result
    asked = [f"mode object {mode!r}"] if mode is not None else []
    asked += [f"tensor subclass {cls!r}" for cls in types]
    raise TypeError(
        f"Multiple dispatch failed for '{op}'; all __torch_dispatch__ handlers returned NotImplemented:\n\n  - "
        + "\n  - ".join(asked)
    )


def dispatching_types(values: Any) -> tuple[Any, ...]:
    """Return the classes with `__torch_dispatch__` among values, those of subclasses before those of their bases."""
    types: list[Any] = []

    def collect(value: Any) -> None:
        if isinstance(value, Tensor):
            cls = type(value)
            if cls is Tensor or cls in types or not _dispatches(cls):
                return
            types.insert(next((i for i, other in enumerate(types) if issubclass(cls, other)), len(types)), cls)
        elif isinstance(value, (list, tuple)):
            for item in value:
                collect(item)
        elif isinstance(value, dict):
            collect(list(value.values()))

    collect(values)
    return tuple(types)


def _dispatches(cls: type) -> bool:
    hook = next(base.__dict__["__torch_dispatch__"] for base in cls.__mro__ if "__torch_dispatch__" in base.__dict__)
    return hook is not Tensor.__dict__["__torch_dispatch__"]
