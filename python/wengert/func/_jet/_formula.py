"""Evaluates the formulas of the table with series for names.

The language is that of `codegen/README.md`: expressions over arguments, results, operations of the table and helpers.
Names of tangents (`self_t`) are the series of the derivative along the curve; where there is none, the terms of a sum
that mention it vanish.
"""

from __future__ import annotations

import ast
import functools
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

import wengert
from wengert._table import Row, rows_by_name

from .._compositions.losses import reduce_loss
from . import _series as series
from ._helpers import HELPERS
from ._series import Series, first

_CONSTANTS = {"pi": math.pi, "inf": math.inf, "nan": math.nan}
_COMPARISONS = {ast.Lt: "__lt__", ast.LtE: "__le__", ast.Gt: "__gt__", ast.GtE: "__ge__", ast.Eq: "__eq__",
                ast.NotEq: "__ne__"}  # fmt: skip


class NoRuleError(NotImplementedError):
    """A formula cannot be evaluated with series."""


@functools.cache
def parsed(text: str) -> ast.expr:
    return ast.parse(text.strip(), mode="eval").body


def function_of(row: Row) -> Any:
    """Return the Python function of a row."""
    namespace = row["python"]["namespace"]
    module: Any = wengert._C._private if namespace == "private" else wengert
    for part in namespace.split(".") if namespace and namespace != "private" else ():
        module = getattr(module, part)
    return getattr(module, row["python"]["name"])


class Evaluator:
    """Evaluates formulas; calls of one function with the same series share their result, as sin and cos do."""

    def __init__(self) -> None:
        self._calls: dict[Any, tuple[Any, Any]] = {}

    def __call__(self, formula: str, names: Mapping[str, Any]) -> Any:
        return self._visit(parsed(formula), names)

    def _visit(self, node: ast.expr, names: Mapping[str, Any]) -> Any:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise NoRuleError(f"{type(node).__name__} in a formula")
        return method(node, names)

    def _constant(self, node: ast.Constant, names: Mapping[str, Any]) -> Any:
        return node.value

    def _name(self, node: ast.Name, names: Mapping[str, Any]) -> Any:
        if node.id in names:
            return names[node.id]
        if node.id in _CONSTANTS:
            return _CONSTANTS[node.id]
        raise NoRuleError(f"the value of {node.id}, which is not kept")

    def _attribute(self, node: ast.Attribute, names: Mapping[str, Any]) -> Any:
        value = first(self._visit(node.value, names))
        if not isinstance(value, wengert.Tensor) or node.attr not in ("sizes", "dtype", "dim", "numel"):
            raise NoRuleError(f"attribute {node.attr}")
        if node.attr == "sizes":
            return list(value.shape)
        return value.dtype if node.attr == "dtype" else getattr(value, node.attr)()

    def _list(self, node: ast.List, names: Mapping[str, Any]) -> Any:
        return [self._visit(item, names) for item in node.elts]

    def _unaryop(self, node: ast.UnaryOp, names: Mapping[str, Any]) -> Any:
        value = self._visit(node.operand, names)
        if isinstance(node.op, ast.Not):
            truth = first(value)
            return wengert.logical_not(truth) if isinstance(truth, wengert.Tensor) else not truth
        return series.negated(value) if isinstance(node.op, ast.USub) else value

    def _binop(self, node: ast.BinOp, names: Mapping[str, Any]) -> Any:
        left, right = self._visit(node.left, names), self._visit(node.right, names)
        if isinstance(node.op, ast.Add):
            return series.add(left, right)
        if isinstance(node.op, ast.Sub):
            return series.add(left, series.negated(right))
        if isinstance(node.op, ast.Mult):
            return series.product(left, right)
        if isinstance(node.op, ast.Div):
            return series.quotient(left, right)
        if isinstance(node.op, ast.Pow):
            return self._power(left, right)
        raise NoRuleError(f"{type(node.op).__name__} in a formula")

    def _power(self, base: Any, exponent: Any) -> Any:
        if not isinstance(exponent, Series):
            return series.power(base, exponent)
        logarithm = self.call("log", [base], {})
        value = self.call("exp", [series.product(exponent, logarithm)], {})
        return Series([first(base) ** exponent[0]], lambda k: value[k])

    def _boolop(self, node: ast.BoolOp, names: Mapping[str, Any]) -> Any:
        values = [first(self._visit(value, names)) for value in node.values]
        combine = wengert.logical_and if isinstance(node.op, ast.And) else wengert.logical_or
        result = values[0]
        for value in values[1:]:
            if isinstance(result, wengert.Tensor) or isinstance(value, wengert.Tensor):
                result = combine(result, value)
            else:
                result = (result and value) if isinstance(node.op, ast.And) else (result or value)
        return result

    def _compare(self, node: ast.Compare, names: Mapping[str, Any]) -> Any:
        left, right = first(self._visit(node.left, names)), first(self._visit(node.comparators[0], names))
        if isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return (left is None) == isinstance(node.ops[0], ast.Is)
        if not isinstance(left, wengert.Tensor) and isinstance(right, wengert.Tensor):
            left = wengert.tensor(left, dtype=right.dtype)
        return getattr(left, _COMPARISONS[type(node.ops[0])])(right)

    def _ifexp(self, node: ast.IfExp, names: Mapping[str, Any]) -> Any:
        test = first(self._visit(node.test, names))
        if not isinstance(test, wengert.Tensor):
            return self._visit(node.body if test else node.orelse, names)
        return series.chosen(test, self._visit(node.body, names), self._visit(node.orelse, names))

    def _call(self, node: ast.Call, names: Mapping[str, Any]) -> Any:
        if not isinstance(node.func, ast.Name):
            raise NoRuleError("a call in a formula")
        arguments = [self._visit(argument, names) for argument in node.args]
        keywords = {str(k.arg): self._visit(k.value, names) for k in node.keywords}
        missing = [a for a, tree in zip(arguments, node.args, strict=True) if a is None and _is_tangent(tree)]
        return None if missing else self.call(node.func.id, arguments, keywords)

    # --- Functions
    def call(self, name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        """Apply an operation of the table, or a helper, to series."""
        parts = (id(a) if isinstance(a, (Series, wengert.Tensor)) else repr(a) for a in arguments)
        key = (name, *parts, repr(keywords))
        if key not in self._calls:
            self._calls[key] = self._applied(name, arguments, keywords), arguments  # these stay alive: ids are theirs
        return self._calls[key][0]

    def _applied(self, name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        if name in HELPERS:
            return HELPERS[name](self, *arguments, **keywords)
        row = rows_by_name().get(name)
        if row is None:
            raise NoRuleError(f"the function {name}")
        if name == "chain":
            return series.product(*arguments)
        varying = [index for index, argument in enumerate(arguments) if isinstance(argument, Series)]
        run = function_of(row)
        if not varying:
            return run(*_tensors(row, arguments), **keywords)

        def at(values: tuple[Any, ...]) -> Any:
            filled = list(arguments)
            for index, value in zip(varying, values, strict=True):
                filled[index] = value
            return run(*_tensors(row, filled), **keywords)

        parts = [arguments[index] for index in varying]
        formulas = row["formulas"]
        names = [a["name"] for a in row["arguments"]]
        changing = {names[index] for index in varying}
        if changing <= set(formulas.get("linear", ())) or (len(parts) == 1 and changing <= product_arguments(name)):
            return series.mapped(lambda *values: at(values), *parts)
        if len(parts) == 2 and changing <= product_arguments(name):
            return series.product(parts[0], parts[1], lambda a, b: at((a, b)))
        bound = dict(zip(names, arguments, strict=False)) | keywords
        value = at(tuple(first(part) for part in parts))
        if row["form"] == "non_differentiable":
            return value
        return self.solution(row, bound, value)

    def solution(self, row: Row, bound: dict[str, Any], value: Any, name: str = "result") -> Any:
        """Return the result of an operation as the series whose derivative is what the row says.

        The derivative is looked at only when a coefficient is asked for: that of sin mentions cos, and that of cos sin.
        """
        for argument in row["arguments"]:  # what a call leaves out
            if argument["name"] not in bound and argument["default"] is not None:
                bound[argument["name"]] = _default(argument["default"])
        slope: list[Any] = []

        def rule(k: int) -> Any:
            if not slope:
                slope.append(self._slope(row, bound, result, name))
            change = series.coefficient(slope[0], k - 1)
            return None if change is None else change / k

        result = Series([value], rule)
        return result

    def _slope(self, row: Row, bound: dict[str, Any], result: Series, name: str) -> Any:
        names = {**bound, name: result}
        formulas = row["formulas"]
        if any(key.startswith("d_") for key in formulas):
            slope: Any = None
            for argument in row["arguments"]:
                change = series.derivative(bound.get(argument["name"]))
                if change is not None and argument["differentiable"]:
                    partial = self(formulas[f"d_{argument['name']}"], names)
                    slope = series.add(slope, series.product(partial, change))
            return _reduced(row, names, slope) if row["reduces"] else slope
        jvp = formulas.get("jvp")
        if isinstance(jvp, dict):
            jvp = jvp.get(name)
        if jvp is None:
            raise NoRuleError(f"the operation {row['name']}")
        for argument in row["arguments"]:
            names[f"{argument['name']}_t"] = series.derivative(bound.get(argument["name"]))
        return self(jvp, names)


def _reduced(row: Row, names: Mapping[str, Any], slope: Any) -> Any:
    """Return what becomes of the change of elementwise results that an operation reduces."""
    shapes = []
    for argument in row["arguments"]:
        value = first(names.get(argument["name"]))
        if f"{argument['name']}_sym_sizes" in names:
            shapes.append(tuple(names[f"{argument['name']}_sym_sizes"]))
        elif isinstance(value, wengert.Tensor):
            shapes.append(tuple(value.shape))
    shape = np.broadcast_shapes(*shapes)
    return series.mapped(lambda change: reduce_loss(change.expand(shape), names[row["reduces"]]), slope)


def _default(text: Any) -> Any:
    try:
        return ast.literal_eval(text) if isinstance(text, str) else text
    except (ValueError, SyntaxError):
        return text


def _is_tangent(tree: ast.expr) -> bool:
    """Whether an argument of a call mentions a tangent: if that is missing, the term is."""
    return any(isinstance(node, ast.Name) and node.id.endswith("_t") for node in ast.walk(tree))


@functools.cache
def product_arguments(name: str) -> frozenset[str]:
    """Return the arguments in each of which an operation is linear: its tangent applies it to their tangents."""
    row = rows_by_name()[name]
    formulas, names = row["formulas"], [a["name"] for a in row["arguments"]]
    if "linear" in formulas:
        return frozenset(formulas["linear"])
    if row["form"] == "compose" and "contracts" in formulas:
        return frozenset(a["name"] for a in row["arguments"] if a["type"] == "Tensor")
    jvp = formulas.get("jvp")
    if row["elementwise"] or not isinstance(jvp, str):
        return frozenset()
    return frozenset(a for a in names if re.search(rf"\b{name}\([^()]*\b{a}_t\b", jvp))


def _tensors(row: Row, values: list[Any]) -> list[Any]:
    """Return arguments with numbers as tensors where an operation takes no number."""
    kinds = [a["type"] for a in row["arguments"]]
    return [
        wengert.tensor(float(value), dtype=wengert.float64)
        if kind == "Tensor" and isinstance(value, (int, float))
        else value
        for kind, value in zip(kinds, values, strict=False)
    ]
