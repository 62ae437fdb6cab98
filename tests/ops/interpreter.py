"""Evaluates the formulas of elementwise rows in another arithmetic than the compiled one.

A *world* says what numbers are: mpmath's, with as many digits as one likes; SymPy's symbols; NumPy's float64. The same
text of the table is read in each of them, so that a derivative can be proved before anything is compiled.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, Protocol


class World(Protocol):
    functions: Mapping[str, Any]  # what formulas may call
    constants: Mapping[str, Any]  # pi, inf, nan

    def number(self, value: float) -> Any: ...
    def divide(self, a: Any, b: Any) -> Any: ...
    def power(self, a: Any, b: Any) -> Any: ...
    def compare(self, op: str, a: Any, b: Any) -> Any: ...
    def both(self, a: Any, b: Any) -> Any: ...
    def either(self, a: Any, b: Any) -> Any: ...
    def negate(self, a: Any) -> Any: ...
    def select(self, condition: Any, a: Any, b: Any) -> Any: ...


class UnknownFunctionError(Exception):
    """The world cannot evaluate a function of the formula."""


COMPARISONS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


def evaluate(formula: str, values: Mapping[str, Any], world: World) -> Any:
    """The value of `formula` where its names have `values`."""
    return _Evaluation(values, world).visit(ast.parse(str(formula).strip(), mode="eval").body)


class _Evaluation(ast.NodeVisitor):
    def __init__(self, values: Mapping[str, Any], world: World) -> None:
        self.values = values
        self.world = world

    def generic_visit(self, node: ast.AST) -> Any:
        raise UnknownFunctionError(type(node).__name__)

    def visit_Constant(self, node: ast.Constant) -> Any:
        return self.world.number(node.value)

    def visit_Name(self, node: ast.Name) -> Any:
        return self.values[node.id] if node.id in self.values else self.world.constants[node.id]

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        value = self.visit(node.operand)
        return self.world.negate(value) if isinstance(node.op, ast.Not) else -value

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        a, b = self.visit(node.left), self.visit(node.right)
        match node.op:
            case ast.Add():
                return a + b
            case ast.Sub():
                return a - b
            case ast.Mult():
                return a * b
            case ast.Div():
                return self.world.divide(a, b)
            case ast.Pow():
                return self.world.power(a, b)
            case ast.FloorDiv():
                return self.call("floor_divide", [a, b])
            case ast.Mod():
                return self.call("remainder", [a, b])
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> Any:
        a, b = self.visit(node.left), self.visit(node.comparators[0])
        return self.world.compare(COMPARISONS[type(node.ops[0])], a, b)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        join = self.world.both if isinstance(node.op, ast.And) else self.world.either
        result = self.visit(node.values[0])
        for value in node.values[1:]:
            result = join(result, self.visit(value))
        return result

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        return self.world.select(self.visit(node.test), self.visit(node.body), self.visit(node.orelse))

    def visit_Call(self, node: ast.Call) -> Any:
        return self.call(node.func.id, [self.visit(a) for a in node.args])  # type: ignore[attr-defined]

    def call(self, name: str, values: list[Any]) -> Any:
        if name not in self.world.functions:
            raise UnknownFunctionError(name)
        return self.world.functions[name](*values)
