"""Bindings -> type stubs: what editors, mypy and readers see of the compiled core."""

from __future__ import annotations

import keyword

from .binding import Binding, Overload
from .schema import Argument, Result, Type

# Inside class Tensor, `float`, `int`, ... are methods: annotations use private names, see templates/_C.pyi.j2.
ANNOTATIONS = {"Tensor": "Tensor", "Operand": "_Operand", "Scalar": "_Number", "int": "_int", "float": "_float",
               "bool": "_bool", "str": "_str", "dtype": "_dtype", "device": "_DeviceLike",
               "memory_format": "_memory_format", "Generator": "Generator"}  # fmt: skip


def annotation(type_: Type) -> str:
    text = ANNOTATIONS[type_.base]
    if type_.is_list:
        inner = f"{text} | None" if type_.base == "Tensor" and type_.optional else text
        alone = f"{text} | " if type_.base == "int" else ""
        text = f"{alone}Sequence[{inner}]"
    return f"{text} | None" if type_.optional and not (type_.is_list and type_.base == "Tensor") else text


def result(overload: Overload) -> str:
    results = overload.row.schema.results
    if len(results) > 1:
        return f"tuple[{', '.join(_result(r) for r in results)}]"
    return _result(results[0])


def _result(result: Result) -> str:
    return f"tuple[{ANNOTATIONS[result.type.base]}, ...]" if result.type.is_list else annotation(result.type)


def parameter(argument: Argument, name: str) -> str:
    default = f" = {argument.default}" if argument.default is not None else ""
    return f"{name}: {annotation(argument.type)}{default}"


def signature(overload: Overload) -> str:
    is_method = overload.variant != "function"
    parts = ["self"] if is_method else []
    keyword_only = False
    arguments = overload.row.schema.arguments
    for i, argument in enumerate(arguments):
        if is_method and i == overload.self_index:
            continue
        if argument.keyword_only and not keyword_only:
            parts.append("*")
            keyword_only = True
        parts.append(parameter(argument, "input" if argument.name == "self" else argument.name))
    positional = [
        a for i, a in enumerate(arguments) if not a.keyword_only and not (is_method and i == overload.self_index)
    ]
    if (
        positional
        and positional[-1].type.base == "int"
        and positional[-1].type.is_list
        and positional[-1].default is None
    ):
        at = parts.index(parameter(positional[-1], positional[-1].name))  # x.view(2, 3)
        if at == is_method and "*" not in parts:
            parts[at] = f"*{positional[-1].name}: _int | Sequence[_int]"
    if overload.has_inplace_argument:
        parts.append("inplace: _bool = False")
    if overload.has_out:
        parts += ["out: Tensor | None = None"] if keyword_only else ["*", "out: Tensor | None = None"]
    return f"({', '.join(parts)}) -> {result(overload)}"


def definitions(binding: Binding, name: str) -> list[str]:
    """The lines of one function or method under one of its names."""
    if keyword.iskeyword(name):
        return []
    lines: list[str] = []
    signatures = dict.fromkeys(signature(o) for o in binding.overloads)
    for i, text in enumerate(signatures):
        if len(signatures) > 1:
            lines.append("@overload")
        lines.append(f"def {name}{text}:")
        lines += _docstring(binding.overloads[0].row.get("doc")) if i == 0 else ["    ..."]
    return lines


def _docstring(doc: str) -> list[str]:
    text = doc.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"').split("\n")
    if text[-1].endswith('"'):
        text[-1] += " "
    if len(text) == 1:
        return [f'    """{text[0]}"""']
    return [f'    """{text[0]}', *(f"    {line}".rstrip() for line in text[1:]), '    """']
