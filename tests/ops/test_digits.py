"""Digits of every elementwise row, in float32 and float64: units in the last place against mpmath.

Points lie in the row's domain and far out in both tails, where what is small must still be right; results among the
subnormal numbers are compared in units of the smallest one. The kernel's text is evaluated with 60 digits, so what is
measured is what the compiled functions and their order of operations lose. A row whose condition or whose library
function does not allow the default bound says so: `ulps: {value: 64, reason: ...}`.
"""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

import wengert as wg
from tests.ops.exact_world import ExactWorld
from tests.ops.interpreter import evaluate
from tests.ops.operations import ELEMENTWISE, Operation
from tests.ops.points import other_value, range_of
from tests.ops.reference import is_expensive

BOUND = 4.5  # four by the library's function, and the half of the last rounding
ROWS = [
    o
    for o in ELEMENTWISE
    if "floating" in o.categories
    and o.result_rule in ("Same", "Floating")
    and not o.writes_only
    and not o.entry["reduces"]
]


def tails(argument_range: tuple[float, float]) -> np.ndarray:
    low, high = argument_range
    inside = np.linspace(low, high, 41)[1:-1]
    near_underflow = [690, 709.5, 715, 725, 735, 744]  # of exp in float64; in float32 it is among the former
    far = np.concatenate([np.geomspace(0.5, 110, 60), 2.0 ** -np.arange(2, 40, 4), near_underflow, [1e4, 1e10]])
    return np.concatenate([inside, far, -far])


def unit(exact: Any, dtype: Any) -> Any:
    info = np.finfo(dtype)
    if exact == 0:
        return mpf(float(info.smallest_subnormal))
    return max(
        mpf(2) ** (int(mpmath.floor(mpmath.log(abs(exact), 2))) - info.nmant), mpf(float(info.smallest_subnormal))
    )


def exact_or_none(operation: Operation, row: dict[str, Any], world: ExactWorld) -> Any:
    try:
        want = evaluate(operation.formulas["kernel"], row, world)
    except (ZeroDivisionError, ValueError, OverflowError, mpmath.libmp.NoConvergence):
        return None
    return want if isinstance(want, mpf) and mpmath.isfinite(want) else None


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("operation", ROWS, ids=repr)
def test_units_in_the_last_place(operation: Operation, dtype: Any) -> None:
    tensors = [a["name"] for a in operation.arguments if a["type"] in ("Tensor", "Operand")]
    rest = {a["name"]: other_value(operation.entry, a) for a in operation.arguments if a["name"] not in tensors}
    given = {a["name"]: int(rest[a["name"]]) if a["type"] == "int" else rest[a["name"]]
             for a in operation.arguments if a["name"] in rest}  # fmt: skip
    bound = (operation.entry.get("ulps") or {}).get("value", BOUND)
    world, worst = ExactWorld(), (0.0, None)
    for name in tensors:
        low, high = range_of(operation.entry["domain"], name)
        points = np.linspace(low, high, 9)[1:-1] if is_expensive(operation.formulas["kernel"]) else tails((low, high))
        columns = {n: np.full(len(points), sum(range_of(operation.entry["domain"], n)) * 0.375 + 0.11) for n in tensors}
        columns[name] = points
        columns = {n: v.astype(dtype) if n not in ("condition", "mask") else v > 0 for n, v in columns.items()}
        computed = operation({**{n: wg.tensor(v) for n, v in columns.items()}, **given}).numpy()
        assert computed.dtype == dtype
        with mp.workdps(60 if dtype == np.float32 else 400):
            for i, got in enumerate(computed):
                row = {n: bool(v[i]) if v.dtype == bool else mpf(float(v[i])) for n, v in columns.items()}
                fixed = {n: v if isinstance(v, bool) else mpf(float(dtype(v))) for n, v in rest.items()}
                want = exact_or_none(operation, row | fixed, world)
                if want is None or abs(want) > float(np.finfo(dtype).max) * (1 - 1e-5):
                    continue
                if got == 0 and abs(want) < mpf(10) ** (20 - mp.dps):
                    continue  # a zero, as far as these digits go
                error = float(abs(mpf(float(got)) - want) / unit(want, dtype)) if np.isfinite(got) else math.inf
                worst = max(worst, (error, {n: float(v[i]) for n, v in columns.items()}), key=lambda w: w[0])
    assert worst[0] <= bound, worst
