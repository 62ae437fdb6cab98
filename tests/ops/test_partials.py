"""Partial derivatives of elementwise rows, proved without compiling anything.

Each `d_x` is evaluated with many digits and compared with the numerical derivative of `kernel`: a formula that is wrong
differs in the first digits. Then it is evaluated in float64, at zeros, kinks, subnormals, far tails and infinities: a
formula that cancels, overflows or flushes to zero differs there. At a kink the derivative must lie between those on
both sides.
"""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

from codegen.generate import describe
from codegen.table import Row, load, make_row
from tests.ops.exact_world import ExactWorld
from tests.ops.interpreter import evaluate
from tests.ops.numeric_world import NumericWorld
from tests.ops.points import Point, other_values, points, range_of
from tests.ops.reference import derivative_range, expected, kernel_of, precision_of

ROOT = Path(__file__).parents[2]
ROWS = [row for row in load(ROOT / "ops") if row.partials]
# Where there is no derivative to speak of: what a formula says there is a convention, tested by name elsewhere.
CONVENTIONS = {
    "floor",
    "ceil",
    "round",
    "round_decimals",
    "trunc",
    "floor_divide",
    "trunc_divide",
    "remainder",
    "fmod",
    "frac",
    "nextafter",
    "replace_nonfinite",
    "weighted_binary_cross_entropy",
}
each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


def entry_of(row: Row) -> dict[str, Any]:
    return describe(row)


def formula_is_right(row: Row) -> bool:
    """Whether each `d_x` is the derivative of `kernel`, to 20 digits at points inside the domain."""
    entry, world, precision = entry_of(row), ExactWorld(), precision_of(row.get("kernel"))
    for argument, partial in row.partials.items():
        values = other_values(entry, argument)
        low, high = range_of(entry["domain"], argument)
        for share in (0.13, 0.41, 0.88):
            x = low + share * (high - low)
            function = kernel_of(row.get("kernel"), argument, values)
            with mp.workdps(precision.digits_for(x)):
                names = {n: v if isinstance(v, bool) else mpf(v) for n, v in values.items()} | {argument: mpf(x)}
                value = evaluate(partial, names | {"result": function(mpf(x))}, world)
                derivative, _ = derivative_range(function, x, precision)
                if abs(value - derivative) > mpf(10) ** -20 * (1 + abs(derivative)):
                    return False
    return True


@each_row
def test_partials_are_derivatives(row: Row) -> None:
    assert formula_is_right(row)


@pytest.mark.parametrize("partial", ["1 + result * result", "-1 / cosh(self)", "square(1 / cosh(self)) + 1e-9"])
def test_wrong_partials_are_noticed(partial: str) -> None:
    keys = {"op": "tanh(Tensor self) -> Tensor", "kernel": "tanh(self)", "d_self": partial, "doc": "Wrong."}
    assert not formula_is_right(make_row(keys, "wrong"))


def partial_in_float64(row: Row, point: Point) -> float:
    world = NumericWorld()
    values = {n: v if isinstance(v, bool) else np.float64(v) for n, v in point.values} | {
        point.argument: np.float64(point.x)
    }
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values["result"] = evaluate(row.get("kernel"), values, world)
        return float(evaluate(row.partials[point.argument], values, world))


def complaint(got: float, bounds: tuple[float, float, float]) -> bool:
    low, high, error = bounds
    if math.isnan(low) or got in (low, high) or (got == 0 and (math.isinf(low) or math.isinf(high))):
        return False  # nothing to compare with; or 0, the convention where the derivative is infinite
    return not low - error - 1e-307 <= got <= high + error + 1e-307


@pytest.mark.parametrize("row", [r for r in ROWS if r.name not in CONVENTIONS], ids=lambda row: row.name)
def test_partials_in_float64(row: Row) -> None:
    wrong = []
    for point in points(entry_of(row)):
        got = partial_in_float64(row, point)
        if math.isinf(point.x) and point.values:
            continue  # of several arguments one infinite one decides nothing
        bounds = expected(row.get("kernel"), point.argument, point.values, point.x)
        if complaint(got, bounds):
            wrong.append((point, got, bounds))
    assert not wrong, wrong


def test_references_are_right() -> None:
    """The method itself, on derivatives that are known."""
    with mp.workdps(50):
        assert mpmath.almosteq(derivative_range(mpmath.exp, -40.0)[0], mpmath.exp(-40))
        assert derivative_range(abs, 0.0) == (-1, 1)
        assert derivative_range(kernel_of("sqrt(self)", "self", {}), 0.0)[1] == mpf("inf")
