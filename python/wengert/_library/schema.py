"""Schemas of operations in PyTorch's notation, ``ns::name.overload(Tensor x, *, float eps=1e-5) -> Tensor``."""

from __future__ import annotations

import ast
import dataclasses
import re
from typing import Any

from wengert._C import Tensor, device, dtype

_NO_DEFAULT: Any = object()
_SPELLINGS = {"SymInt": "int", "SymBool": "bool"}  # what PyTorch calls them where they may be symbols
_NUMBERS = (bool, int, float, complex)
# What Python values an argument of a type takes; None for anything.
_ACCEPTED: dict[str, tuple[type, ...] | None] = {
    "Tensor": (Tensor,), "int": (int,), "float": (float, int), "bool": (bool,), "str": (str,),
    "complex": _NUMBERS, "Scalar": _NUMBERS, "ScalarType": (dtype,), "Device": (device, str),
    "Layout": None, "MemoryFormat": None, "Generator": None, "Any": None,
}  # fmt: skip
_TYPE = re.compile(r"(?P<base>\w+)(?P<alias>\((?P<set>\w+)(?P<write>!)?[^)]*\))?(?P<suffix>(\?|\[\d*\])*)")


@dataclasses.dataclass(frozen=True)
class Argument:
    """One argument of an operation."""

    name: str
    type: str  # "Tensor", "int[]", "Tensor?[]"
    text: str  # as it is written
    default: Any = _NO_DEFAULT
    kwarg_only: bool = False
    is_write: bool = False

    @property
    def has_default(self) -> bool:
        return self.default is not _NO_DEFAULT

    @property
    def holds_tensors(self) -> bool:
        return self.type.startswith("Tensor")

    def accepts(self, value: Any) -> bool:
        """Return whether a value is of its type."""
        return _accepts(self.type, value)


@dataclasses.dataclass(frozen=True, repr=False)
class Schema:
    """An operation's name, arguments and types of results."""

    name: str  # "ns::name"
    overload_name: str
    arguments: tuple[Argument, ...]
    returns: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    @property
    def is_mutable(self) -> bool:
        return any(argument.is_write for argument in self.arguments)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return the values of all arguments in order.

        Raises
        ------
        RuntimeError
            If an argument is missing, unknown, or of a wrong type.
        """
        positional = sum(not argument.kwarg_only for argument in self.arguments)
        if len(args) > positional:
            raise RuntimeError(
                f"{self.name}() expected at most {positional} argument(s) but received {len(args)} argument(s). "
                f"Declaration: {self}"
            )
        left = dict(kwargs)
        values = []
        for position, argument in enumerate(self.arguments):
            if position < len(args):
                if argument.name in left:
                    raise RuntimeError(
                        f"{self.name}() got argument '{argument.name}' both by position and by name. Schema: {self}"
                    )
                value = args[position]
            elif argument.name in left:
                value = left.pop(argument.name)
            elif argument.has_default:
                values.append(argument.default)
                continue
            else:
                raise RuntimeError(
                    f"{self.name}() is missing value for argument '{argument.name}'. Declaration: {self}"
                )
            if not argument.accepts(value):
                raise RuntimeError(
                    f"{self.name}() Expected a value of type '{argument.type}' for argument '{argument.name}' but "
                    f"instead found type '{type(value).__name__}'.\nPosition: {position}\nValue: {value!r}\n"
                    f"Declaration: {self}"
                )
            values.append(value)
        for name in left:
            raise RuntimeError(f"Unknown keyword argument '{name}' for operator '{self.name}'. Schema: {self}")
        return tuple(values)

    def as_call(self, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return positional and keyword-only values, all of them."""
        positional = sum(not argument.kwarg_only for argument in self.arguments)
        names = [argument.name for argument in self.arguments[positional:]]
        return values[:positional], dict(zip(names, values[positional:], strict=True))

    def as_written(self, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return them as a call would write them: without trailing defaults."""
        args, kwargs = self.as_call(values)
        given = list(args)
        while given and _is(given[-1], self.arguments[len(given) - 1].default):
            given.pop()
        by_name = {argument.name: argument.default for argument in self.arguments}
        return tuple(given), {name: value for name, value in kwargs.items() if not _is(value, by_name[name])}


def _is(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and not isinstance(value, Tensor) and value == default)


def _accepts(kind: str, value: Any) -> bool:
    if kind.endswith("?"):
        return value is None or _accepts(kind[:-1], value)
    if kind.endswith("]"):
        element, _, count = kind[:-1].rpartition("[")
        if count and _accepts(element, value):
            return True  # int[2]: one int stands for two
        return isinstance(value, (list, tuple)) and all(_accepts(element, item) for item in value)
    accepted = _ACCEPTED[kind]
    if accepted is None:
        return True
    if isinstance(value, bool) and kind in ("int", "float"):
        return kind == "float"
    return isinstance(value, accepted)


def parse(text: str, namespace: str = "") -> Schema:
    """Return the schema that a text describes; `namespace` is put before a name without one.

    Raises
    ------
    RuntimeError
        If the text is no schema.
    """
    head, opened, rest = text.strip().partition("(")
    if not opened:
        raise RuntimeError(
            f"Tried to parse a function schema but only the operator name was given: {text!r}; write "
            f"'{text.strip()}(Tensor x) -> Tensor'"
        )
    inside, arrow, result = rest.rpartition("->")
    if not arrow or not inside.rstrip().endswith(")"):
        raise RuntimeError(f"the schema {text!r} has no results; end it with '-> Tensor', or '-> ()' for none")
    name, _, overload = head.strip().partition(".")
    if "::" not in name and namespace:
        name = f"{namespace}::{name}"
    arguments: list[Argument] = []
    kwarg_only = False
    for part in _split(inside.rstrip()[:-1]):
        if part == "*":
            kwarg_only = True
        else:
            arguments.append(_argument(part, kwarg_only, text))
    returns = tuple(_type_of(part.split(" ")[0], text)[0] for part in _split(result.strip(), outer=True))
    full = f"{name}.{overload}" if overload else name
    spelled = [argument.text for argument in arguments]
    first = next((i for i, argument in enumerate(arguments) if argument.kwarg_only), None)
    if first is not None:
        spelled.insert(first, "*")
    return Schema(name, overload, tuple(arguments), returns, f"{full}({', '.join(spelled)}) -> {result.strip()}")


def _split(text: str, outer: bool = False) -> list[str]:
    """Split at the commas that stand in no brackets or quotes; `outer` takes a pair of parentheses off first."""
    if outer and text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    parts, depth, quote, start = [], 0, "", 0
    for i, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def _type_of(text: str, schema: str) -> tuple[str, bool]:
    """Return a type without annotations of aliases, and whether it is written to."""
    match = _TYPE.fullmatch(text)
    base = match and _SPELLINGS.get(match["base"], match["base"])
    if not match or base not in _ACCEPTED:
        raise RuntimeError(f"the schema {schema!r} has an unknown type {text!r}; there are {', '.join(_ACCEPTED)}")
    return f"{base}{match['suffix']}", bool(match["write"])


def _argument(text: str, kwarg_only: bool, schema: str) -> Argument:
    declared, equals, default = text.partition("=")
    kind, _, name = declared.strip().rpartition(" ")
    if not name.isidentifier() or not kind:
        raise RuntimeError(f"the schema {schema!r} has an argument {text!r} that is not 'Type name'")
    plain, is_write = _type_of(kind.strip(), schema)
    return Argument(name, plain, text, _value(default.strip(), schema) if equals else _NO_DEFAULT, kwarg_only, is_write)


def _value(text: str, schema: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        pass
    import wengert

    known = getattr(wengert, text, None)
    if isinstance(known, dtype):
        return known
    raise RuntimeError(f"the schema {schema!r} has a default {text!r} that is no Python literal")
