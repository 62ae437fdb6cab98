"""Bindings -> type stubs: what editors, mypy and readers see of the compiled core."""

from __future__ import annotations

import keyword
from collections.abc import Iterable

from .binding import Binding, Overload
from .schema import Argument, Result, Type

# Inside class Tensor, `float`, `int`, ... are methods: annotations use private names, see templates/_C.pyi.j2.
ANNOTATIONS = {"Tensor": "Tensor", "Operand": "_Operand", "Scalar": "_Scalar", "int": "_int", "float": "_float",
               "bool": "_bool", "str": "_str", "dtype": "_DTypeLike", "device": "_DeviceLike",
               "memory_format": "_memory_format", "Generator": "Generator", "layout": "_layout",
               "Size": "Size"}  # fmt: skip


def annotation(type_: Type) -> str:
    text = ANNOTATIONS[type_.base]
    if type_.is_list:
        inner = f"{text} | None" if type_.base == "Tensor" and type_.optional else text
        alone = f"{text} | " if type_.base == "int" else ""
        text = f"{alone}Sequence[{inner}]"
    return f"{text} | None" if type_.optional and not (type_.is_list and type_.base == "Tensor") else text


def result(overload: Overload) -> str:
    results = overload.row.schema.results
    if overload.result_type:
        return f"_{overload.result_type}"
    if len(results) > 1:
        return f"tuple[{', '.join(_result(r) for r in results)}]"
    return _result(results[0])


def _result(result: Result) -> str:
    if result.type.base == "dtype":
        return "_dtype"
    return f"tuple[{ANNOTATIONS[result.type.base]}, ...]" if result.type.is_list else annotation(result.type)


def parameter(argument: Argument, name: str) -> str:
    default = f" = {argument.default}" if argument.default is not None else ""
    return f"{name}: {annotation(argument.type)}{' | None' * argument.nullable}{default}"


# NumPy's names of arguments, which calls may use as well (src/python/arguments/arg_parser.cpp).
NUMPY_NAMES = {"dim": "axis", "keepdim": "keepdims"}


def signatures(overload: Overload, first: str) -> list[str]:
    """All ways to write a call: as the row says, with the last list's elements one by one, with NumPy's keywords.

    `first` stands before the arguments of a method: `self`.
    """
    bound = None if overload.variant == "function" else overload.self_index
    arguments = [a for i, a in enumerate(overload.row.schema.python_arguments) if i != bound]
    positional = [a for a in arguments if not a.keyword_only]
    found = [signature(overload, arguments, first)]
    if positional and _takes_rest(positional[-1]):  # x.view(2, 3)
        found.append(signature(overload, arguments, first, rest=positional[-1]))
    if any(a.name == "dim" for a in arguments):
        found.append(signature(overload, arguments, first, numpy_names=True))
    return found


def _takes_rest(last: Argument) -> bool:
    """Whether a last positional parameter collects: lists of tensors, and of ints without default."""
    base = last.type.base
    return last.type.is_list and (
        (base == "Tensor" and not last.type.optional) or (base == "int" and last.default is None)
    )


def signature(
    overload: Overload, arguments: list[Argument], first: str, rest: Argument | None = None, numpy_names: bool = False
) -> str:
    parts = [first] if overload.variant != "function" else []
    keyword_only = False
    for argument in arguments:
        name = "input" if argument.name == "self" else argument.python_name
        if argument is rest:
            parts.append(f"*{name}: {ANNOTATIONS[argument.type.base]}")
            keyword_only = True
            continue
        renamed = numpy_names and argument.name in NUMPY_NAMES
        if (argument.keyword_only or renamed) and not keyword_only:
            parts += ["/", "*"] if overload.row.has_keyword_names else ["*"]
            keyword_only = True
        parts.append(parameter(argument, NUMPY_NAMES[name] if renamed else name))
    if overload.has_inplace_argument:
        parts.append("inplace: _bool = False")
    if overload.has_out:
        several = overload.row.returns_several
        parts += [*([] if keyword_only else ["*"]), f"out: {'Sequence[Tensor]' if several else 'Tensor'} | None = None"]
    return f"({', '.join(parts)}) -> {result(overload)}"


def definitions(binding: Binding, name: str, first: str = "self") -> list[str]:
    """The lines of one function or method under one of its names."""
    if keyword.iskeyword(name):
        return []
    lines: list[str] = []
    texts = dict.fromkeys(text for overload in binding.overloads for text in signatures(overload, first))
    for i, text in enumerate(texts):
        if len(texts) > 1:
            lines.append("@overload")
        lines.append(f"def {name}{text}:")
        lines += _docstring(binding.overloads[0].row.get("doc")) if i == 0 else ["    ..."]
    return lines


def named_tuples(overloads: Iterable[Overload]) -> list[str]:
    """The classes of results with names: `x.max(dim=0).values`."""
    found = {f"_{o.result_type}": o.row.schema.results for o in overloads if o.result_type}
    lines = []
    for name, results in found.items():
        lines += [f"class {name}(NamedTuple):", *(f"    {r.name}: {_result(r)}" for r in results), ""]
    return lines


def _docstring(doc: str) -> list[str]:
    text = doc.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"').split("\n")
    if text[-1].endswith('"'):
        text[-1] += " "
    if len(text) == 1:
        return [f'    """{text[0]}"""']
    return [f'    """{text[0]}', *(f"    {line}".rstrip() for line in text[1:]), '    """']
