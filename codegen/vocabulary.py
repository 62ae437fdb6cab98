"""What formulas may say: operations of the table, and functions that are written in C++ and declared in ops/formulas.

A declaration there is a schema, as that of a row. From it come the C++ prototype and what formulas know: the names and
types of the arguments and of the result. No C++ is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

import yaml  # type: ignore[import-untyped]

from .schema import Schema, Type, parse_schema

SCALARS = "scalars"  # the file of ops/formulas that lists functions of numbers


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


@dataclass(frozen=True)
class Function:
    schema: Schema
    is_operation: bool  # of the table
    in_derivatives: str = ""  # the name that formulas of derivatives call instead where an argument is a (co)tangent

    @property
    def cpp(self) -> str:
        return f"{'ops' if self.is_operation else 'formulas'}::{self.schema.cpp_name}"

    @property
    def result(self) -> Kind:
        results = self.schema.results
        return kind_of_type(results[0].type) if len(results) == 1 else Kind.OTHER


@dataclass
class Vocabulary:
    operations: dict[str, Function] = field(default_factory=dict)
    helpers: dict[str, Function] = field(default_factory=dict)  # of ops/formulas
    scalar_functions: set[str] = field(default_factory=set)  # of src/backends/cpu/scalar
    called: dict[str, Function] = field(default_factory=dict)  # what formulas have called, by its name in C++

    def recording(self) -> Vocabulary:
        """The same words, with a record of its own of what is called."""
        return replace(self, called={})

    def function(self, name: str) -> Function | None:
        return self.helpers.get(name) or self.operations.get(name)

    def call(self, function: Function) -> str:
        self.called[function.cpp] = function
        return function.cpp

    def operation(self, name: str) -> str:
        """How C++ calls an operation that generated code needs."""
        return self.call(self.operations[name]) if name in self.operations else f"ops::{name}"

    def helper(self, name: str) -> str:
        return self.call(self.helpers[name]) if name in self.helpers else f"formulas::{name}"


def read_vocabulary(table: Path, schemas: Iterable[Schema], in_derivatives: Mapping[str, str] = {}) -> Vocabulary:
    """`table` is the directory ops/; what is missing there is not part of the vocabulary."""
    vocabulary = Vocabulary()
    for schema in schemas:
        name = schema.cpp_name
        vocabulary.operations[name] = Function(schema, True, in_derivatives.get(name, ""))
    for declared in declarations(table).values():
        vocabulary.helpers |= {schema.cpp_name: Function(schema, False) for schema in declared}
    scalars = table / "formulas" / f"{SCALARS}.yaml"
    if scalars.exists():
        vocabulary.scalar_functions = set(yaml.safe_load(scalars.read_text()))
    return vocabulary


def declarations(table: Path) -> dict[str, list[Schema]]:
    """What each source of src/ops/formulas defines for the table: {"linalg/householder": [...]}."""
    found: dict[str, list[Schema]] = {}
    for path in sorted(table.glob("formulas/*.yaml")):
        if path.stem != SCALARS:
            for source, texts in yaml.safe_load(path.read_text()).items():
                found[source] = [parse_schema(text) for text in texts]
    return found
