"""What a node keeps: the arguments, results and sizes that its formulas mention, and nothing else.

A tensor that only the gradient of argument x needs is kept only if x requires grad. `self.sizes` keeps the shape, not
the tensor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .formula import Formula
from .schema import Type
from .table import Row

ATTRIBUTE_TYPES = {"sizes": "Dims", "dtype": "DType", "dim": "int64_t", "numel": "int64_t", "strides": "Dims",
                   "offset": "int64_t", "device": "Device"}  # fmt: skip
ATTRIBUTE_GETTERS = {"sizes": "sym_sizes", "strides": "sym_strides"}  # as PyTorch names them: _saved_self_sym_sizes


@dataclass(frozen=True)
class Field:
    name: str  # as formulas say it, after translation: self, self_sizes
    cpp: str  # the member's type
    getter: str  # of _saved_<getter>
    save: str  # how it is stored: what {value}, an argument or result, and after that of an in-place variant {of_view}
    unpack: str  # what `apply` computes with
    needed_by: tuple[str, ...]  # the arguments whose gradients mention it
    is_result: bool
    is_tensor: bool  # it may be released, and packed by hooks

    @property
    def member(self) -> str:
        return f"{self.name}_"


def needed_names(formulas: Mapping[tuple[str, ...], Formula]) -> dict[str | tuple[str, str], tuple[str, ...]]:
    """Each name or (name, attribute) in formulas -> the arguments whose gradients mention it, in order."""
    needed: dict[str | tuple[str, str], list[str]] = {}
    for arguments, formula in formulas.items():
        mentioned: list[str | tuple[str, str]] = [*formula.names, *formula.attributes]
        for name in mentioned:
            needed.setdefault(name, []).extend(arguments)
    return {name: tuple(users) for name, users in needed.items()}


def saved_fields(row: Row, formulas: Mapping[tuple[str, ...], Formula]) -> list[Field]:
    needed = needed_names(formulas)
    fields = []
    results = {r.name for r in row.schema.results}
    with_history = {r.name for r in row.differentiable_results} | (results if row.returns_list else set())
    types = {a.name: a.type for a in row.schema.arguments} | {r.name: r.type for r in row.schema.results}
    for name, type_ in types.items():  # in the order of the schema, whatever the formulas' order
        if name in needed:
            fields.append(_whole(name, type_, needed[name], name in results, name in with_history))
        for attribute in ATTRIBUTE_TYPES:
            if (name, attribute) in needed:
                fields.append(_attribute(row, name, type_, attribute, needed[name, attribute], name in results))
    return fields


def _whole(name: str, type_: Type, users: tuple[str, ...], is_result: bool, has_history: bool) -> Field:
    output = str(has_history).lower()  # whether it will be owned by the node that saves it
    if type_.base == "Tensor" and type_.is_list:
        cpp, save, unpack = "SavedList", f" = save_list({{value}}, {output})", f"unpack_list({name}_, this)"
    elif type_.base == "Tensor":
        of_view = "{of_view}" if has_history else ""
        cpp, save, unpack = "SavedVariable", f".save({{value}}, {output}{of_view})", f"{name}_.unpack(this)"
    elif type_.base == "Operand":
        cpp, save, unpack = "SavedOperand", ".save({value})", f"OperandValue({name}_, this)"
    else:
        convert = type_.base == "str" or type_.is_list  # from a view to what owns
        save = "{value}" if not convert or type_.optional else f"{type_.value}({_bounds(type_)})"
        return Field(name, type_.value, name, f" = {save}", f"{name}_", users, is_result, is_tensor=False)
    return Field(name, cpp, name, save, unpack, users, is_result, is_tensor=True)


def _bounds(type_: Type) -> str:
    return "{value}.begin(), {value}.end()" if type_.value_base.startswith("std::vector") else "{value}"


def _attribute(row: Row, name: str, type_: Type, attribute: str, users: tuple[str, ...], is_result: bool) -> Field:
    if type_.is_list:
        if attribute != "sizes":
            raise row.error(f"'{name}.{attribute}' of a list", f"only {name}.sizes is known of a list")
        cpp = "std::vector<Dims>"
    else:
        cpp = ATTRIBUTE_TYPES[attribute]
    getter = f"{name}_{ATTRIBUTE_GETTERS.get(attribute, attribute)}"
    whole = f"{name}_{attribute}"
    save = f" = get_{attribute}({name})"
    return Field(whole, cpp, getter, save, f"{whole}_", users, is_result, is_tensor=False)
