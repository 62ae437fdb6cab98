"""Derivatives of the compiled elementwise operations at zeros, kinks, ties, subnormals, far tails and infinities.

The references are those of test_partials.py; here the numbers come from the package, in reverse and in forward mode.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.ops.operations import OPERATIONS, Operation
from tests.ops.points import Point, points
from tests.ops.reference import expected
from tests.ops.test_partials import CONVENTIONS, complaint
from wengert.autograd import forward_ad, grad

ROWS = [o for o in OPERATIONS if o.form == "elementwise" and o.name not in CONVENTIONS]


def arguments(operation: Operation, point: Point) -> tuple[dict[str, Any], Any]:
    x = wg.tensor([point.x], dtype=wg.float64)
    values: dict[str, Any] = {}
    types = {a["name"]: a["type"] for a in operation.arguments}
    for name, value in point.values:
        values[name] = int(value) if types[name] == "int" else value
        if types[name] == "Tensor":
            values[name] = wg.tensor([value], dtype=wg.float64)
    return values, x


@pytest.mark.parametrize("operation", ROWS, ids=repr)
def test_boundary_points(operation: Operation) -> None:
    wrong = []
    for point in points(operation.entry):
        if math.isinf(point.x) and point.values:
            continue  # of several arguments one infinite one decides nothing
        values, x = arguments(operation, point)
        leaf = x.clone().requires_grad_()
        reverse = grad(operation({**values, point.argument: leaf}).sum(), leaf)[0].item()
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(x, wg.ones_like(x))
            tangent = forward_ad.unpack_dual(operation({**values, point.argument: dual})).tangent
        forward = 0.0 if tangent is None else tangent.item()
        bounds = expected(operation.formulas["kernel"], point.argument, point.values, point.x)
        for got in (reverse, forward):
            if complaint(got, bounds):
                wrong.append((point, got, bounds))
        np.testing.assert_array_equal(forward, reverse, err_msg=str(point))
    assert not wrong, wrong
