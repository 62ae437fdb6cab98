"""Formulas of the table, evaluated in Python on tensors of any kind.

A composition or a `batch:` expression becomes a Python function of the row's arguments. It may use the operations of
the table by their C++ names and the helpers below; tensors know `.sizes`, `.dim` and `.dtype` in formulas. Each
operation that it calls finds its own batching rule.
"""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable
from typing import Any

import wengert
from wengert._C import Tensor

from ._operations import Operation, operations


def reduce_loss(loss: Any, reduction: str) -> Any:
    """Return the mean or the sum of a loss, or the loss itself."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction; use 'none', 'mean' or 'sum'")
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


def reduce_batch_loss(loss: Any, like: Any, reduction: str) -> Any:
    """Return the same, with ``batchmean`` for the sum divided by the first size."""
    if reduction == "batchmean":
        return loss.sum() / (like.shape[0] if like.ndim else 1)
    return reduce_loss(loss, reduction)


def weighted(loss: Any, weight: Any) -> Any:
    """Return ``loss * weight``, or the loss if there is no weight."""
    return loss if weight is None else loss * weight


def as_dtype(tensor: Any, dtype: Any) -> Any:
    """Return the tensor in a dtype, or as it is."""
    return tensor if dtype is None else tensor.to(dtype)


def logical_negation(value: Any) -> Any:
    """Return ``not value``, elementwise for tensors."""
    return wengert.logical_not(value) if isinstance(value, Tensor) else not value


def sliced(tensor: Any, dim: int, start: Any, end: Any, step: int = 1) -> Any:
    """Return the elements of one dimension from `start` to `end`."""
    return tensor[(*(slice(None),) * (dim % tensor.ndim), slice(start, end, step))]


def at(tensor: Any, index: Any) -> Any:
    """Return ``tensor[index]``."""
    return tensor[index]


def diagonal_of(tensor: Any, offset: int) -> Any:
    """Return a diagonal of a matrix."""
    return tensor.diagonal(offset)


_HELPERS: dict[str, Any] = {
    f.__name__: f
    for f in (reduce_loss, reduce_batch_loss, weighted, as_dtype, logical_negation, sliced, at, diagonal_of)
} | {"pi": math.pi, "inf": math.inf, "nan": math.nan, "prod_of": math.prod, "len": len, "list": list}


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
    return {**operations(), **_HELPERS}


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
