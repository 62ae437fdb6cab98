"""Schema strings: `max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)`.

A type is a base name, `[]` or `[N]` for a list (N: a single number stands for N of them), `?` for optional. The tables
below give for each base what it is in C++: as a parameter, as a member of a Node.
"""

from __future__ import annotations

import ast
import keyword
import re
from dataclasses import dataclass, replace

# base: (C++ parameter, C++ value)
BASES = {
    "Tensor": ("const Tensor&", "Tensor"),
    "Operand": ("const Operand&", "Operand"),
    "Scalar": ("const Scalar&", "Scalar"),
    "int": ("int64_t", "int64_t"),
    "float": ("double", "double"),
    "bool": ("bool", "bool"),
    "str": ("std::string_view", "std::string"),
    "dtype": ("DType", "DType"),
    "device": ("Device", "Device"),
    "memory_format": ("MemoryFormat", "MemoryFormat"),
    "layout": ("Layout", "Layout"),  # Python's alone
    "Generator": ("Generator*", "Generator*"),
    "TensorOptions": ("const TensorOptions&", "TensorOptions"),
    "Size": ("IntSpan", "Dims"),  # what a query returns that Python sees as a wengert.Size
    "Sizes": ("const std::vector<Dims>&", "std::vector<Dims>"),  # of the tensors of a list
}
# Base of a list: (C++ parameter, C++ value).
LISTS = {
    "Tensor": ("TensorSpan", "TensorList"),
    "int": ("IntSpan", "Dims"),
    "float": ("std::span<const double>", "std::vector<double>"),
    "bool": ("const std::array<bool, {size}>&", "std::array<bool, {size}>"),  # which gradients are wanted
}
# Category of dtypes that kernels compute in: {DType: its C++ type}; and those that elements are stored in besides.
REDUCED_DTYPES = ("UInt16", "UInt32", "Float16", "BFloat16")
DTYPES = {
    "bool": {"Bool": "bool"},
    "integral": {
        "UInt8": "uint8_t",
        "Int8": "int8_t",
        "Int16": "int16_t",
        "Int32": "int32_t",
        "Int64": "int64_t",
        "UInt64": "uint64_t",
    },
    "floating": {"Float32": "float", "Float64": "double"},
    "complex": {"Complex64": "complex64", "Complex128": "complex128"},
}


class RowError(Exception):
    """A row that the generator cannot use; the message names the row and the remedy."""

    def __init__(self, row: str, problem: str, remedy: str) -> None:
        super().__init__(f"[{row}] {problem}; {remedy}")


@dataclass(frozen=True)
class Type:
    base: str
    optional: bool = False  # `Tensor?[]` is a list of optional tensors, which C++ sees as undefined ones
    is_list: bool = False
    size: int | None = None

    @property
    def text(self) -> str:
        size = "" if self.size is None else self.size
        inner = "?" if self.optional and self.is_list and self.base == "Tensor" else ""
        return f"{self.base}{inner}{f'[{size}]' if self.is_list else ''}{'?' if self.optional and not inner else ''}"

    @property
    def is_tensor_like(self) -> bool:
        """Whether a gradient can flow through it."""
        return self.base in ("Tensor", "Operand")

    @property
    def parameter(self) -> str:
        if self.is_list:
            whole = LISTS[self.base][0].format(size=self.size)
            return f"const std::optional<{self.value_base}>&" if self._wraps_optional else whole
        if self._wraps_optional:
            value = BASES[self.base][0] if self.base == "str" else self.value_base
            return f"std::optional<{value}>"
        return BASES[self.base][0]

    @property
    def value(self) -> str:
        """The owning C++ type: what a Node keeps and what an operation returns."""
        return f"std::optional<{self.value_base}>" if self._wraps_optional else self.value_base

    @property
    def value_base(self) -> str:
        return LISTS[self.base][1].format(size=self.size) if self.is_list else BASES[self.base][1]

    @property
    def _wraps_optional(self) -> bool:
        # An undefined Tensor and a null Generator say None by themselves.
        return self.optional and self.base not in ("Tensor", "Generator")


@dataclass(frozen=True)
class Argument:
    name: str
    type: Type
    default: str | None = None  # Python text
    keyword_only: bool = False
    nullable: bool = False  # `float? correction=1`: None means the default, and is no value

    @property
    def python_name(self) -> str:
        """As a signature shows it, which cannot name `from`: such an argument is given by its place."""
        return f"{self.name}_" if keyword.iskeyword(self.name) else self.name

    @property
    def cpp_default(self) -> str | None:
        if self.default is None:
            return None
        value = ast.literal_eval(self.default)
        if value is None:
            return "{}" if not self.type.parameter.startswith("std::optional") else "std::nullopt"
        if self.type.is_list:
            items = value if isinstance(value, (list, tuple)) else [value] * (self.type.size or 1)
            return f"{self.type.value_base}{{{', '.join(map(str, items))}}}"
        if isinstance(value, bool):
            return str(value).lower()
        return f'"{value}"' if isinstance(value, str) else cpp_number(value)


# What Python sees of an argument `TensorOptions`.
OPTIONS = tuple(
    Argument(name, Type(base, optional), default, keyword_only=True)
    for name, base, optional, default in (
        ("dtype", "dtype", True, "None"), ("layout", "layout", True, "None"), ("device", "device", True, "None"),
        ("pin_memory", "bool", True, "None"), ("memory_format", "memory_format", True, "None"),
        ("requires_grad", "bool", False, "False"),
    )
)  # fmt: skip


@dataclass(frozen=True)
class Result:
    name: str
    type: Type


@dataclass(frozen=True)
class Schema:
    text: str
    name: str  # what Python calls it
    overload: str
    arguments: tuple[Argument, ...]
    results: tuple[Result, ...]

    @property
    def cpp_name(self) -> str:
        if self.overload and self.name.endswith("_"):  # of fill_.tensor the underscore stays behind: fill_tensor_
            return f"{self.name}{self.overload}_"
        return f"{self.name}_{self.overload}" if self.overload else self.name

    @property
    def python_arguments(self) -> list[Argument]:
        return [p for a in self.arguments for p in (OPTIONS if a.type.base == "TensorOptions" else (a,))]

    @property
    def tensors(self) -> list[Argument]:
        """The arguments that a gradient can flow through."""
        return [a for a in self.arguments if a.type.is_tensor_like]

    @property
    def return_type(self) -> str:
        types = [r.type.value for r in self.results]
        if not types:
            return "void"
        return types[0] if len(types) == 1 else f"std::tuple<{', '.join(types)}>"

    def parameters(self, *, defaults: bool = False, inplace: bool = False, out: bool = False) -> str:
        """In C++, of the operation itself or of one of its variants."""
        texts = []
        for i, argument in enumerate(self.arguments):
            type_ = "const Tensor&" if inplace and i == 0 else argument.type.parameter
            default = f" = {argument.cpp_default}" if defaults and self._defaults_from(i) else ""
            name = "given" if out and argument.type.base == "TensorOptions" else argument.name
            texts.append(f"{type_} {name}{default}")
        return ", ".join(texts)

    def _defaults_from(self, i: int) -> bool:
        """C++ wants a default on every parameter after the first that has one; options always have to be given."""
        return all(a.default is not None for a in self.arguments[i:]) and not self.has_options

    @property
    def defaults_from(self) -> int:
        """From which argument on all may be left out in C++."""
        return next(i for i in range(len(self.arguments) + 1) if i == len(self.arguments) or self._defaults_from(i))

    def prototype(self, *, defaults: bool = False) -> str:
        writes = bool(self.name.endswith("_") and self.results)  # and returns `self`
        returns = "const Tensor&" if writes else self.return_type
        return f"{returns} {self.cpp_name}({self.parameters(defaults=defaults, inplace=writes)})"

    @property
    def has_options(self) -> bool:
        """Whether it makes a new tensor as the caller wishes: its last argument says how."""
        return any(a.type.base == "TensorOptions" for a in self.arguments)

    @property
    def draws(self) -> bool:
        """Whether it draws random numbers."""
        return any(a.type.base == "Generator" for a in self.arguments)

    def find(self, name: str) -> Argument | None:
        return next((a for a in self.arguments if a.name == name), None)

    def argument(self, name: str) -> Argument:
        """One that is known to exist."""
        return next(a for a in self.arguments if a.name == name)


def cpp_number(value: float) -> str:
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "std::numeric_limits<double>::infinity()" if value > 0 else "-std::numeric_limits<double>::infinity()"
    return repr(value)


def parse_type(text: str, row: str) -> Type:
    match = re.fullmatch(r"(\w+)(\?)?(\[(\d*)\])?(\?)?", text)
    if not match or match[1] not in BASES or (match[3] and match[1] not in LISTS):
        raise RowError(row, f"unknown type '{text}'", f"use one of {', '.join(BASES)}, with [], [N] or ?")
    optional = bool(match[5] or match[2])
    return Type(match[1], optional, bool(match[3]), int(match[4]) if match[4] else None)


def _split(text: str) -> list[str]:
    """Splits at the commas that stand outside brackets and quotes."""
    parts = re.findall(r"(?:[^,\[\]'\"]|\[[^\]]*\]|'[^']*'|\"[^\"]*\")+", text)
    return [p.strip() for p in parts if p.strip()]


def parse_schema(text: str) -> Schema:
    match = re.fullmatch(r"(\w+)(?:\.(\w+))?\((.*)\)\s*->\s*(.+)", text.strip(), re.DOTALL)
    if not match:
        raise RowError(text, "not a schema", "write name.overload(Type arg=default, ...) -> Type")
    name, overload, arguments_text, results_text = match.groups()
    arguments: list[Argument] = []
    keyword_only = False
    for part in _split(arguments_text):
        if part == "*":
            keyword_only = True
            continue
        fields = re.fullmatch(r"(\S+)\s+(\w+)\s*(?:=\s*(.+))?", part)
        if not fields:
            raise RowError(text, f"cannot read argument '{part}'", "write it as `Type name` or `Type name=default`")
        type_ = parse_type(fields[1], text)
        if nullable := type_.optional and fields[3] not in (None, "None"):
            type_ = replace(type_, optional=False)
        default = fields[3] or ("None" if type_.base == "TensorOptions" else None)
        argument = Argument(fields[2], type_, default, keyword_only, nullable)
        if argument.default is None and arguments and arguments[-1].default is not None and not keyword_only:
            raise RowError(text, f"argument '{argument.name}' follows one with a default", "give it a default too")
        arguments.append(argument)
    return Schema(text, name, overload or "", tuple(arguments), _parse_results(results_text.strip(), text))


def _parse_results(text: str, row: str) -> tuple[Result, ...]:
    if not text.startswith("("):
        return (Result("result", parse_type(text, row)),)
    results = []
    for i, part in enumerate(_split(text[1:-1])):
        type_text, *name = part.split()
        results.append(Result(name[0] if name else f"result{i}", parse_type(type_text, row)))
    return tuple(results)
