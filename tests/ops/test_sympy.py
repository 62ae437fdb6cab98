"""Partial derivatives of elementwise rows, proved by symbolic differentiation.

SymPy reads `kernel` and each `d_x`; their difference must simplify to zero, or be zero to 30 digits at points inside
the domain where it does not. Rows that SymPy cannot read are proved by numerical differentiation with many digits.
"""

from __future__ import annotations

from typing import Any

import pytest
import sympy

from codegen.table import Row, make_row
from tests.ops.interpreter import UnknownFunctionError, evaluate
from tests.ops.points import range_of
from tests.ops.symbolic_world import SymbolicWorld
from tests.ops.test_partials import ROWS, formula_is_right

CASES = [(row, argument) for row in ROWS for argument in row.partials]


def symbols_of(row: Row) -> dict[str, Any]:
    """Order arguments are small integers, flags true: SymPy knows derivatives for those."""
    values: dict[str, Any] = {}
    for argument in row.schema.arguments:
        if argument.type.base == "int":
            values[argument.name] = sympy.Integer(2)
        elif argument.type.base == "bool":
            values[argument.name] = sympy.S.true
        else:
            values[argument.name] = sympy.Symbol(argument.name, real=True)
    return values


def read(row: Row, argument: str) -> tuple[Any, Any] | None:
    """(derivative of the kernel, d_x), or None where SymPy does not know a function or its derivative."""
    names, world = symbols_of(row), SymbolicWorld()
    try:
        kernel = evaluate(row.get("kernel"), names, world)
        partial = evaluate(row.partials[argument], {**names, "result": kernel}, world)
        derivative = sympy.diff(kernel, names[argument])
    except (UnknownFunctionError, sympy.matrices.exceptions.ShapeError, NotImplementedError):
        return None
    unknown = (sympy.Derivative, sympy.Subs, sympy.DiracDelta, sympy.meijerg)
    return None if sympy.sympify(derivative).has(*unknown) else (sympy.sympify(derivative), sympy.sympify(partial))


def agree(row: Row, derivative: Any, partial: Any) -> bool:
    difference = derivative - partial
    if difference == 0 or (
        not difference.has(sympy.Piecewise) and sympy.count_ops(difference) < 40 and sympy.simplify(difference) == 0
    ):
        return True
    symbols = sorted(difference.free_symbols | derivative.free_symbols, key=str)
    for share in (sympy.Rational(2, 17), sympy.Rational(8, 13), sympy.Rational(31, 37)):
        point = {}
        for i, symbol in enumerate(symbols):
            low, high = (sympy.Rational(str(v)) for v in range_of(row.get("domain"), str(symbol)))
            point[symbol] = low + (share + sympy.Rational(i, 19)) % 1 * (high - low)
        value, scale = (e.subs(point).evalf(30) for e in (difference, derivative))
        if not abs(value) < 1e-25 * (1 + abs(scale)):
            return False
    return True


@pytest.mark.parametrize(("row", "argument"), CASES, ids=lambda v: v if isinstance(v, str) else v.name)
def test_partial_is_the_symbolic_derivative(row: Row, argument: str) -> None:
    expressions = read(row, argument)
    assert formula_is_right(row) if expressions is None else agree(row, *expressions)


def test_most_rows_are_readable() -> None:
    unreadable = sorted({row.name for row, argument in CASES if read(row, argument) is None})
    assert len(unreadable) < len(ROWS) / 3, unreadable


@pytest.mark.parametrize("partial", ["2 * cos(self)", "sin(self)", "cos(self) + 1e-12"])
def test_wrong_partials_are_noticed(partial: str) -> None:
    keys = {"op": "sin(Tensor self) -> Tensor", "kernel": "sin(self)", "d_self": partial, "doc": "Wrong."}
    row = make_row(keys, "wrong")
    expressions = read(row, "self")
    assert expressions is not None
    assert not agree(row, *expressions)
