"""Rows -> Python bindings, in the terms of src/python/arguments/arg_parser.h.

All rows of one name in one place (a namespace, or Tensor) form one function: their signatures are tried in the order
of the table. Operations on one or two tensors are called directly, before any parsing.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable
from dataclasses import dataclass

from .schema import OPTIONS, Argument, RowError, Type
from .table import Row

# base: (ArgKind, accessor of ParsedArgs)
KINDS = {"Tensor": ("Tensor", "tensor"), "Operand": ("Operand", "operand"), "Scalar": ("Scalar", "scalar"),
         "int": ("Int", "integer"), "float": ("Float", "floating"), "bool": ("Bool", "boolean"),
         "str": ("String", "string"), "dtype": ("DType", "dtype"), "device": ("Device", "device"),
         "memory_format": ("MemoryFormat", "memory_format"), "Generator": ("Generator", "generator"),
         "layout": ("Layout", "layout")}  # fmt: skip
DTYPE_UNDER_AUTOCAST = {"lower": "in its dtype of 16 bits", "float32": "in float32",
                        "promote": "in the widest dtype of its tensors"}  # fmt: skip
OF_TENSORS = ("dtype", "device", "memory_format", "requires_grad")  # the options that C++ knows (tensor/options.h)
LIST_ACCESSORS = {"Tensor": "tensors", "int": "ints", "float": "floats"}


def spec(argument: Argument) -> str:
    """The argument's line in a table of ArgSpec."""
    type_ = argument.type
    kind = KINDS[type_.base][0]
    if type_.is_list:
        kind = "IndexList" if type_.base == "Tensor" and type_.optional else f"{kind}List"
    flags = ["kOptional"] * (argument.default is not None) + ["kNullable"] * (type_.optional or argument.nullable)
    flags += ["kKeywordOnly"] * argument.keyword_only
    rest = f", {' | '.join(flags)}" if flags else ", 0" if type_.size else ""
    return f'{{"{argument.name}", ArgKind::{kind}{rest}{f", {type_.size}" if type_.size else ""}}}'


def value(argument: Argument, i: int) -> str:
    """The C++ expression that reads argument i."""
    type_, default = argument.type, argument.default
    if type_.is_list:
        accessor = LIST_ACCESSORS[type_.base]
        if type_.base == "Tensor":
            return f"p.index_tensors({i})" if type_.optional else f"p.tensors({i})"
        if type_.optional:
            return f"p.optional_ints({i})" if type_.base == "int" else f"optional_floats(p, {i})"
        items = ", ".join(map(str, _as_list(default, type_.size))) if default is not None else ""
        return f"p.{accessor}({i}, {{{items}}})" if default is not None else f"p.{accessor}({i})"
    if type_.base == "TensorOptions":
        members = ", ".join(f".{o.name} = {value(o, i + k)}" for k, o in enumerate(OPTIONS) if o.name in OF_TENSORS)
        return f"TensorOptions{{{members}}}"
    accessor = KINDS[type_.base][1]
    if type_.base in ("Tensor", "Generator", "device"):
        return f"{'*' * (type_.base == 'device' and not type_.optional)}p.{accessor}({i})"
    if type_.optional:
        return f"p.optional_{accessor}({i})"
    return f"p.{accessor}({i}, {argument.cpp_default})" if default is not None else f"p.{accessor}({i})"


def _as_list(text: str, size: int | None) -> list[float]:
    literal = ast.literal_eval(text)
    return list(literal) if isinstance(literal, (list, tuple)) else [literal] * (size or 1)


@dataclass(frozen=True)
class Overload:
    row: Row
    variant: str  # function, method or inplace

    @property
    def has_out(self) -> bool:
        return self.variant == "function" and self.row.has_out

    @property
    def has_inplace_argument(self) -> bool:
        return self.variant == "function" and bool(self.row.get("inplace_argument", False))

    @property
    def table(self) -> str:
        return f"args_{self.row.name}{'_and_out' if self.has_out else ''}"

    @property
    def specs(self) -> list[str]:
        kind = "TensorList" if self.row.returns_several else "Tensor"
        out = [f'{{"out", ArgKind::{kind}, kOptional | kNullable | kKeywordOnly}}'] if self.has_out else []
        inplace = ['{"inplace", ArgKind::Bool, kOptional}'] if self.has_inplace_argument else []
        return [spec(a) for a in self.row.schema.python_arguments] + inplace + out

    @property
    def self_index(self) -> int:
        names = [a.name for a in self.row.schema.arguments]
        return names.index("self") if self.variant != "function" else 0

    @property
    def cpp_name(self) -> str:
        return self.row.name + ("_" if self.variant == "inplace" and not self.row.writes_only else "")

    @property
    def call(self) -> str:
        arguments = [value(a, i) for i, a in enumerate(self.row.schema.arguments)]
        if self.variant == "inplace" or self.row.writes_only:
            arguments[0] = "p.tensor(0)"
        call = self._wrap(f"ops::{self.cpp_name}({', '.join(arguments)})")
        out = len(self.row.schema.python_arguments) + self.has_inplace_argument
        if self.has_out:
            given = ", ".join([*arguments, f"p.tensor{'s' if self.row.returns_several else ''}({out})"])
            call = f"p.has({out}) ? {self._wrap(f'ops::{self.cpp_name}_out({given})')} : {call}"
        if self.has_inplace_argument:
            given = ", ".join(["p.tensor(0)", *arguments[1:]])
            call = f"p.boolean({len(arguments)}, false) ? wrap(ops::{self.cpp_name}_({given})) : {call}"
        return call

    def _wrap(self, call: str) -> str:
        if self.row.schema.results[0].type.text == "int[]":
            return f"int_tuple({call})"
        return f"wrap({self.result_type}, {call})" if self.result_type else f"wrap({call})"

    @property
    def result_type(self) -> str:
        """The named tuple of the results, if they have names."""
        results = self.row.schema.results
        named = len(results) > 1 and not results[0].name.startswith("result")
        return f"result_{self.row.schema.name}" if named else ""

    @property
    def result_fields(self) -> str:
        return "".join(f"{r.name}\\0" for r in self.row.schema.results)

    @property
    def signature(self) -> str:
        """As Python writes it."""
        parts, keyword_only = [], False
        for i, a in enumerate(self.row.schema.python_arguments):
            if a.keyword_only and not keyword_only:
                parts += ["/", "*"] if self.row.has_keyword_names else ["*"]
                keyword_only = True
            if self.variant != "function" and i == self.self_index:
                parts.insert(0, "$self")
            else:
                name = "input" if a.name == "self" and self.variant == "function" else a.python_name
                parts.append(name + (f"={a.default}" if a.default is not None else ""))
        if self.has_inplace_argument:
            parts.append("inplace=False")
        if self.has_out:
            parts += ["out=None"] if keyword_only else ["*", "out=None"]
        return f"({', '.join(parts)})"


@dataclass(frozen=True)
class Binding:
    """One Python function: its name, where it is found, and the rows that it stands for."""

    where: str
    name: str
    overloads: tuple[Overload, ...]

    @property
    def identifier(self) -> str:
        return f"{self.where.replace('.', '_') or 'wengert'}_{self.name}"

    @property
    def qualified_name(self) -> str:
        """The name by which overriding types find the function again (python/registry.h)."""
        return f"{self.where}.{self.name}" if self.where and not self.is_method else self.name

    @property
    def is_method(self) -> bool:
        return self.where == "Tensor"

    def doc(self, name: str) -> str:
        """The C string with signature and text under one of its names."""
        overloads = self.overloads
        if len(overloads) == 1:
            text = f"{name}{overloads[0].signature}\n--\n\n{overloads[0].row.get('doc')}"
        else:
            lines = [f"{name}{o.signature.replace('$', '')}" for o in overloads]
            general = f"{name}({'$self, ' if self.is_method else ''}*args, **kwargs)\n--\n"  # for `inspect.signature`
            text = "\n".join([general, *lines, *(f"\n{o.row.get('doc').rstrip()}" for o in overloads)])
        if overloads[0].variant == "inplace":
            text = text.rstrip() + "\n\nIn place: writes to `self`."
        elif policy := overloads[0].row.get("autocast"):
            text = text.rstrip() + f"\n\nAutocast: {DTYPE_UNDER_AUTOCAST[policy]}."
        return json.dumps(text.rstrip(), ensure_ascii=False)

    @property
    def names(self) -> list[tuple[str, str]]:
        """(where, name) of all places where it is found: `aliases: [absolute, special.expit, .dropout]`."""
        aliases = dict.fromkeys(a for o in self.overloads for a in o.row.get("aliases", []))
        if self.is_method:
            suffix = "_" if self.overloads[0].variant == "inplace" else ""
            return [(self.where, self.name), *((self.where, a + suffix) for a in aliases if "." not in a)]
        places = [a.rpartition(".") for a in aliases]
        return [(self.where, self.name), *((where if dot else self.where, name) for where, dot, name in places)]

    @property
    def direct(self) -> list[tuple[str, str]]:
        """(condition, result) pairs that are tried before any parsing.

        They call the first overload that asks for no more than one or two tensors, with these alone.
        """
        for overload in self.overloads:
            arguments = overload.row.schema.arguments
            required = [a for a in arguments if a.default is None]
            plain = all(a.type in (Type("Tensor"), Type("Operand")) for a in required)
            optional = len(arguments) > len(required)
            if plain and overload.self_index == 0 and 1 <= len(required) <= (1 if optional else 2):
                return [] if overload.row.schema.has_options else self._direct_calls(overload, required)
        return []

    def _direct_calls(self, overload: Overload, required: list[Argument]) -> list[tuple[str, str]]:
        given = ["self", "args[0]"] if self.is_method else ["args[0]", "args[1]"]
        given = given[: len(required)]
        count = len(required) - self.is_method
        plain = f"nargs == {count} && !kwnames"
        enough = " && ".join([plain, *(f"is_exact_tensor({g})" for g in given)])
        tensors = [f"tensor_of({g})" for g in given]
        call = overload._wrap(f"ops::{overload.cpp_name}({', '.join(tensors)})")
        calls = [(enough, call)]
        if len(required) == 2 and required[1].type.base == "Operand" and overload is self.overloads[0]:
            number = f"{plain} && is_exact_tensor({given[0]}) && PyFloat_CheckExact({given[1]})"
            calls.append((number, f"wrap(ops::{overload.cpp_name}({tensors[0]}, PyFloat_AS_DOUBLE({given[1]})))"))
        return calls


def bindings(rows: Iterable[Row]) -> list[Binding]:
    groups: dict[tuple[str, str], list[Overload]] = {}
    for row in rows:
        has_self = any(a.name == "self" for a in row.schema.arguments)
        name = row.python_name
        if "function" in row.methods:
            groups.setdefault((row.namespace, name), []).append(Overload(row, "function"))
        if "method" in row.methods:
            if not has_self:
                raise RowError(row.text, "a method without an argument `self`", "write `methods: [function]`")
            variant = "inplace" if row.writes_only else "method"
            groups.setdefault(("Tensor", name), []).append(Overload(row, variant))
            if row.has_inplace:
                groups.setdefault(("Tensor", f"{name}_"), []).append(Overload(row, "inplace"))
    return [Binding(where, name, tuple(overloads)) for (where, name), overloads in groups.items()]
