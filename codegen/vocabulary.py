"""What formulas may say: operations of the table and functions that C++ headers declare.

Headers are the one place where helper functions are listed; their names and types are read from there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from .schema import Schema, Type


class Kind(Enum):
    """What a formula knows of a value. An OPERAND is a tensor or a number, which shows only when the program runs."""

    NUMBER = "number"
    OPERAND = "operand"
    TENSOR = "tensor"
    OTHER = "other"  # lists, strings, tuples: passed on, never computed with


def kind_of_type(type_: Type) -> Kind:
    if type_.is_list or (type_.optional and type_.base != "Tensor"):
        return Kind.OTHER
    return {"Tensor": Kind.TENSOR, "Operand": Kind.OPERAND, "Scalar": Kind.OPERAND, "int": Kind.NUMBER,
            "float": Kind.NUMBER, "bool": Kind.NUMBER}.get(type_.base, Kind.OTHER)  # fmt: skip


_CPP_KINDS = {"Tensor": Kind.TENSOR, "Operand": Kind.OPERAND, "Scalar": Kind.OPERAND,
              **dict.fromkeys(("int64_t", "double", "bool", "int", "size_t"), Kind.NUMBER)}  # fmt: skip


@dataclass(frozen=True)
class Function:
    cpp: str  # how C++ calls it
    result: Kind
    schema: Schema | None = None
    in_derivatives: str = ""  # the name that formulas of derivatives call instead where an argument is a (co)tangent
    overloads: tuple[tuple[str, ...], ...] = ()  # the parameters of a helper, as C++ declares them

    def takes(self, kinds: list[Kind]) -> bool:
        return not self.overloads or any(_take(parameters, kinds) for parameters in self.overloads)


def _take(parameters: tuple[str, ...], kinds: list[Kind]) -> bool:
    if any("..." in p for p in parameters):
        return True
    fit = all(map(_fits, parameters, kinds))
    return fit and sum("=" not in p for p in parameters) <= len(kinds) <= len(parameters)


def _fits(parameter: str, kind: Kind) -> bool:
    wanted = _CPP_KINDS.get(parameter.removeprefix("const ").split()[0].rstrip("&"), Kind.OTHER)
    return {Kind.NUMBER: kind is Kind.NUMBER, Kind.TENSOR: kind is not Kind.NUMBER}.get(wanted, True)


@dataclass
class Vocabulary:
    operations: dict[str, Function] = field(default_factory=dict)
    helpers: dict[str, Function] = field(default_factory=dict)  # of src/ops/formulas/*.h
    scalar_functions: set[str] = field(default_factory=set)  # of src/kernels/scalar/*.h
    complex_functions: set[str] = field(default_factory=set)  # those of them that are defined on complex numbers
    kernel_headers: list[str] = field(default_factory=list)
    helper_headers: list[str] = field(default_factory=list)

    def function(self, name: str) -> Function | None:
        return self.helpers.get(name) or self.operations.get(name)


def read_vocabulary(source: Path, schemas: Iterable[Schema], in_derivatives: Mapping[str, str] = {}) -> Vocabulary:
    """`source` is the directory src/; what is missing there is not part of the vocabulary."""
    vocabulary = Vocabulary()
    for schema in schemas:
        kind = kind_of_type(schema.results[0].type) if len(schema.results) == 1 else Kind.OTHER
        name = schema.cpp_name
        vocabulary.operations[name] = Function(f"ops::{name}", kind, schema, in_derivatives.get(name, ""))
    for header in sorted(source.glob("ops/formulas/**/*.h")):
        vocabulary.helper_headers.append(header.relative_to(source).as_posix())
        for result, name, parameters in declarations(
            header.read_text().partition("namespace wengert::ops::formulas {")[2]
        ):
            overloads = vocabulary.helpers[name].overloads if name in vocabulary.helpers else ()
            kind = _CPP_KINDS.get(result, Kind.OTHER)
            vocabulary.helpers[name] = Function(f"formulas::{name}", kind, overloads=(*overloads, parameters))
    for header in sorted(source.glob("kernels/scalar/*.h")):
        for name, on_complex in scalar_functions(header.read_text(), header.name.startswith("complex")):
            vocabulary.scalar_functions.add(name)
            if on_complex:
                vocabulary.complex_functions.add(name)
    rooms = ("isa", "scalar", "special")  # loops, which nobody calls by name
    for header in sorted(h for h in source.glob("kernels/**/*.h") if h.parent.name not in rooms):
        text = header.read_text()
        if re.search(r"^namespace wengert::kernels \{", text, re.MULTILINE) and "dispatch.h" not in header.name:
            vocabulary.kernel_headers.append(header.relative_to(source).as_posix())
    return vocabulary


_DECLARATION = re.compile(
    r"^(?:template\s*<[^;{}]*?>\s*)?(?:(?:inline|constexpr|static|\[\[\w+\]\])\s+)*"
    r"([\w:]+)(?:<[^;{}()]*?>)?[\s&*]+(\w+)\(((?:[^;{}()]|\([^()]*\)|\{[^{}]*\})*)\)\s*(?:noexcept\s*)?[;{]",
    re.MULTILINE,
)


def declarations(text: str) -> Iterable[tuple[str, str, tuple[str, ...]]]:
    """(result, name, parameters) of each function declared or defined at the start of a line of a C++ header."""
    for match in _DECLARATION.finditer(re.sub(r"//.*", "", text)):
        if match[1] not in ("return", "else", "using", "struct", "class", "namespace", "if"):
            parameters = re.sub(r"<[^<>]*(?:<[^<>]*>[^<>]*)*>|\{[^{}]*\}", "", match[3])
            yield match[1], match[2], tuple(p.strip() for p in parameters.split(",") if p.strip())


def scalar_functions(text: str, in_complex_header: bool) -> Iterable[tuple[str, bool]]:
    """(name, whether it takes complex numbers): a template that asks for no Real, Floating or Integral type does."""
    text = re.sub(r"//.*", "", text)
    for match in re.finditer(
        r"(template\s*<([^>]*)>\s*)?(?:requires[^\n]*\n)?WENGERT_INLINE\s+[\w:<>, ]+?\s(\w+)\(", text
    ):
        constrained = any(word in (match[2] or "Real") for word in ("Real", "Floating", "Integral"))
        yield match[3], in_complex_header or not constrained
    for match in re.finditer(r"^\s*WENGERT_\w+\((\w+)[,)]", text, re.MULTILINE):  # several by one macro
        yield match[1], in_complex_header
    for match in re.finditer(r"\binline [CR] (\w+)\(C ", text):  # C and R: the parameters of such a macro
        yield match[1], True
