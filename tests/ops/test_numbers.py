"""A tensor of one number where a number may stand: its gradient is computed, or refused, but never lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.ops.operations import OPERATIONS, Operation, case
from wengert.autograd import forward_ad

NUMBERS = ("Scalar", "Scalar?", "float", "float?", "Operand", "Operand?")
CASES = [
    (operation, argument["name"])
    for operation in OPERATIONS
    for argument in operation.arguments
    if argument["type"] in NUMBERS and "floating" in operation.categories
]
each = pytest.mark.parametrize(
    ("operation", "argument"), CASES, ids=[f"{operation!r}-{argument}" for operation, argument in CASES]
)


def outcome(operation: Operation, argument: str, number: Any) -> tuple[Any, ...] | None:
    """The results with `number` as the argument, or None if it is refused."""
    values = dict(case(operation, operation.samples()[0]).values)
    values[argument] = number
    try:
        output = operation(values)
    except (TypeError, RuntimeError, NotImplementedError):
        return None
    return tuple(output) if isinstance(output, (tuple, list)) else (output,)


def value_of(operation: Operation, argument: str) -> float:
    sample = operation.samples()[0].arguments.get(argument)
    return float(sample) if isinstance(sample, (int, float)) else 0.75 if sample is None else float(np.ravel(sample)[0])


@each
def test_gradients_of_numbers_are_not_lost(operation: Operation, argument: str) -> None:
    number = wg.tensor(value_of(operation, argument), dtype=wg.float64, requires_grad=True)
    results = outcome(operation, argument, number)
    if (
        results is None
        or operation.form == "query"
        or all(not (r.dtype.is_floating_point or r.dtype.is_complex) for r in results)
    ):
        return
    if operation.form == "non_differentiable":
        return
    assert any(r.requires_grad for r in results)


@each
def test_tangents_of_numbers_are_not_lost(operation: Operation, argument: str) -> None:
    with forward_ad.dual_level():
        primal = wg.tensor(value_of(operation, argument), dtype=wg.float64)
        results = outcome(operation, argument, forward_ad.make_dual(primal, wg.ones_like(primal)))
        if results is None or operation.form in ("non_differentiable", "query"):
            return
        if all(not (r.dtype.is_floating_point or r.dtype.is_complex) for r in results):
            return
        assert any(forward_ad.unpack_dual(r).tangent is not None for r in results)
