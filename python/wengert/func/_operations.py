"""The table of operations as the batching rules see it: schemas, and how a call binds to one.

`_op_table.json` is written by the generator from ops/*.yaml. Each row becomes an `Operation`, which can bind the
arguments of a Python call to the names of its schema, as the compiled parser does, and call itself with arguments by
name. `overloads` maps every function and method of the public API to its operations.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert
from wengert import _C
from wengert._C import Tensor
from wengert._table import rows

# What callers may write for the names of the schema.
_SPELLINGS = {
    "input": ("self",),
    "x": ("self", "input"),
    "self": ("input",),
    "axis": ("dim",),
    "keepdims": ("keepdim",),
    "x2": ("other",),
}
_ASK_NOTHING = {"size_average", "reduce", "out", "_stacklevel"}  # as None, see src/python/arguments/arg_parser.h
_DIM_NAMES = {"dim", "dims", "dim0", "dim1", "dim2", "dimension", "axis0", "axis1", "source", "destination"}
_SIZE_NAMES = {"size", "shape"}
_MISSING = object()


class Argument:
    """One parameter of a schema."""

    def __init__(self, entry: dict[str, Any]) -> None:
        self.name: str = entry["name"]
        self.type: str = entry["type"].removesuffix("?")
        self.nullable: bool = entry["type"].endswith("?")
        self.keyword_only: bool = entry["keyword_only"]
        self.required: bool = entry["default"] is None
        self.default: Any = None if self.required else ast.literal_eval(entry["default"])
        self.is_tensor = self.type in ("Tensor", "Operand")
        self.is_list = self.type.endswith("]")
        self.collects = self.type in ("Tensor[]", "int[]") and self.required
        is_int = self.type.startswith("int")
        self.is_dim = is_int and self.name in _DIM_NAMES
        self.is_size = is_int and self.is_list and self.name in _SIZE_NAMES

    def takes(self, value: Any) -> bool:
        if value is None:
            return self.nullable
        if self.is_list:
            item = self.type.partition("[")[0]
            if isinstance(value, (list, tuple)):
                return all(_KINDS[item](v) or (v is None and item == "Tensor?") for v in value)
            return item == "int" and _KINDS["int"](value)
        return _KINDS[self.type](value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex, np.number, np.bool_))


def _is_scalar(value: Any) -> bool:
    return _is_number(value) or (isinstance(value, Tensor) and value.ndim == 0)


_KINDS: dict[str, Callable[[Any], bool]] = {
    "Tensor": lambda v: isinstance(v, Tensor),
    "Tensor?": lambda v: v is None or isinstance(v, Tensor),
    "Operand": lambda v: isinstance(v, (Tensor, np.ndarray)) or _is_number(v),
    "int": lambda v: isinstance(v, (int, np.integer)) and not isinstance(v, bool),
    "float": lambda v: isinstance(v, (int, float, np.number)),
    "bool": lambda v: isinstance(v, (bool, np.bool_)),
    "Scalar": _is_scalar,
    "str": lambda v: isinstance(v, str),
    "dtype": lambda v: isinstance(v, (wengert.dtype, type)),
    "device": lambda v: True,
    "memory_format": lambda v: isinstance(v, wengert.memory_format),
    "Generator": lambda v: True,
}


class Operation:
    """A row of the table."""

    def __init__(self, entry: dict[str, Any]) -> None:
        self.name: str = entry["name"]
        self.python: dict[str, Any] = entry["python"]
        self.methods: list[str] = entry["methods"]
        self.inplace: bool = entry["inplace"]
        self.elementwise: bool = entry["elementwise"]
        self.reduces: str = entry["reduces"]
        self.view: bool = entry["view"]
        self.batch: str | None = entry["batch"]
        self.compose: str | None = entry["formulas"].get("compose")
        self.arguments = [Argument(a) for a in entry["arguments"]]
        self.positional = [a for a in self.arguments if not a.keyword_only]
        self.by_name = {a.name: a for a in self.arguments}
        self.tensors = [a for a in self.arguments if a.is_tensor]
        self.dims = [a for a in self.arguments if a.is_dim]

    @functools.cached_property
    def function(self) -> Callable[..., Any]:
        """The compiled function, or the method as one."""
        name, namespace = self.python["name"], self.python["namespace"]
        if "function" in self.methods:
            function: Callable[..., Any] = getattr(namespace_of(namespace), name)
        else:
            function = getattr(Tensor, name)
        return function

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
        """Return the arguments of a call by name, or None if they do not fit."""
        positional = self.positional
        values: dict[str, Any] = {}
        if positional and positional[-1].collects and len(args) >= len(positional):
            last = args[len(positional) - 1 :]
            if len(last) != 1 or not isinstance(last[0], (list, tuple)):
                args = (*args[: len(positional) - 1], list(last))
        if len(args) > len(positional):
            return None
        for argument, value in zip(positional, args, strict=False):
            values[argument.name] = value
        for key, value in kwargs.items():
            name = key
            if name not in self.by_name:
                name = next((n for n in _SPELLINGS.get(key, ()) if n in self.by_name), "")
            if not name and ((value is None and key in _ASK_NOTHING) or (key == "as_tuple" and value is False)):
                continue
            if not name or name in values:
                return None
            values[name] = value
        for argument in self.arguments:
            value = values.get(argument.name, _MISSING)
            if value is _MISSING:
                if argument.required:
                    return None
            elif not argument.takes(value):
                return None
            elif value is None and argument.default is not None:
                del values[argument.name]  # `correction=None`
            elif argument.type == "int[]" and value is not None and not isinstance(value, (list, tuple)):
                values[argument.name] = [value]
        return values

    def get(self, values: dict[str, Any], name: str) -> Any:
        """Return an argument that was given, or its default."""
        return values[name] if name in values else self.by_name[name].default

    def call(self, values: dict[str, Any]) -> Any:
        """Call the operation: by keyword go the arguments that must, and those after one that is left out."""
        args, kwargs, by_keyword = [], {}, False
        for argument in self.arguments:
            name = argument.name
            by_keyword = by_keyword or argument.keyword_only or name not in values
            if name in values:
                if by_keyword:
                    kwargs[name] = values[name]
                else:
                    args.append(values[name])
        return self.function(*args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the operation as formulas do: all arguments may stand in their place."""
        return self.call({**dict(zip(self.by_name, args, strict=False)), **kwargs})


def namespace_of(name: str) -> Any:
    """Return the compiled module of a namespace of the table."""
    return getattr(_C, "_" + name.replace(".", "_")) if name else _C


@functools.cache
def operations() -> dict[str, Operation]:
    """Return all rows by their C++ names."""
    return {row["name"]: Operation(row) for row in rows()}


def public_names(operation: Operation) -> list[Any]:
    """Return the objects by which Python calls an operation, except in place."""
    found = []
    if "function" in operation.methods:
        namespace, name = operation.python["namespace"], operation.python["name"]
        paths = [f"{namespace}.{name}" if namespace else name, *operation.python["aliases"]]
        for path in paths:
            where, _, last = path.rpartition(".")
            found.append(getattr(namespace_of(where), last, None))
    return [f for f in (*found, *_methods(operation, "")) if f is not None]


def inplace_names(operation: Operation) -> list[Any]:
    """Return the methods that run an operation in place."""
    return [m for m in _methods(operation, "_") if m is not None] if operation.inplace else []


def _methods(operation: Operation, suffix: str) -> list[Any]:
    names = [operation.python["name"], *(a for a in operation.python["aliases"] if "." not in a)]
    suffixed = [name if name.endswith("_") else name + suffix for name in names]
    return [getattr(Tensor, name, None) for name in suffixed] if "method" in operation.methods or suffix else []


def tensors_in(values: Any) -> list[Any]:
    """Return the tensors among values, and in the lists among them."""
    found: list[Any] = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += tensors_in(value)
    return found


def rebuilt(container: Any, items: list[Any]) -> Any:
    """Return a list, tuple, named tuple or structseq like `container` with other items."""
    cls = type(container)
    return cls(*items) if hasattr(cls, "_fields") else cls(items)


def overload_map() -> dict[Any, list[Operation]]:
    """Return the operations behind each function and method, in the order in which the compiled parser tries them."""
    found: dict[Any, list[Operation]] = {}
    for operation in operations().values():
        for function in () if operation.name.endswith("_") else dict.fromkeys(public_names(operation)):
            found.setdefault(function, []).append(operation)
    return found
