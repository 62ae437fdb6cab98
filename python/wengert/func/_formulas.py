"""Formulas of the table, evaluated in Python on tensors of any kind.

A composition or a `batch:` expression becomes a Python function of the row's arguments. It may use the operations of
the table by their C++ names and the helpers of `_compositions`; tensors know `.sizes`, `.dim` and `.dtype` in
formulas. Each operation that it calls finds its own batching rule.
"""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable
from typing import Any

from ._compositions import HELPERS
from ._operations import Operation, operations

_CONSTANTS: dict[str, Any] = {
    "pi": math.pi,
    "inf": math.inf,
    "nan": math.nan,
    "prod_of": math.prod,
    "len": len,
    "list": list,
}


class _ToPython(ast.NodeTransformer):
    """Turns the spelling of formulas into Python's, and notes which names are called."""

    def __init__(self) -> None:
        self.called: set[str] = set()

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        node.attr = {"sizes": "shape", "dim": "ndim"}.get(node.attr, node.attr)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            return ast.Call(ast.Name("logical_negation", ast.Load()), [node.operand], [])
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name):
            self.called.add(node.func.id)
        self.generic_visit(node)
        return node


@functools.cache
def _namespace() -> dict[str, Any]:
    return {**operations(), **HELPERS, **_CONSTANTS}


def formula(operation: Operation, text: str) -> Callable[[dict[str, Any]], Any] | None:
    """Return a function of the row's arguments by name; None if the text calls what Python does not have."""
    to_python = _ToPython()
    body = to_python.visit(ast.parse(text.strip(), mode="eval").body)
    if not to_python.called <= _namespace().keys() - {operation.name}:
        return None
    names = [a.name for a in operation.arguments]
    arguments = ast.arguments(
        posonlyargs=[], args=[ast.arg(name) for name in names], kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    tree = ast.fix_missing_locations(ast.Expression(ast.Lambda(arguments, body)))
    evaluate = eval(compile(tree, f"<formula of {operation.name}>", "eval"), _namespace())
    defaults = {a.name: a.default for a in operation.arguments}
    return lambda values: evaluate(**{**defaults, **values})
