"""Every row on float16 and bfloat16: what float32 gives for the same numbers, rounded.

Types of 16 bits are stored and never computed in, so a kernel rounds once; a composition rounds what is between its
parts as well, and its derivatives their cotangents. NaN and infinities stand where they stand in float32, or where that
is out of range.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg

from .operations import OPERATIONS, Case, Operation, case
from .parts import gradients, tangents

SAMPLES = 4
EPSILON = {wg.float16: 2.0**-10, wg.bfloat16: 2.0**-7}
DTYPES = sorted(EPSILON, key=str)
COMPUTING = [o for o in OPERATIONS if o.form != "query" and not o.draws]
DIFFERENTIATED = [o for o in OPERATIONS if o.is_differentiable and not o.draws]


def stored_as(dtype: Any, computed_in: Any) -> Callable[[np.ndarray], Any]:
    """Arrays as tensors of one dtype, of numbers that another one can hold."""

    def convert(array: np.ndarray) -> Any:
        if array.dtype.kind == "c":
            return wg.tensor(array).to(wg.complex64)
        return wg.tensor(array).to(dtype).to(computed_in) if array.dtype.kind == "f" else wg.tensor(array)

    return convert


def pair(operation: Operation, sample: Any, dtype: Any) -> tuple[Case, Case]:
    """(in the dtype, in float32)"""
    return case(operation, sample, stored_as(dtype, dtype)), case(operation, sample, stored_as(dtype, wg.float32))


def tensors_of(output: Any) -> list[Any]:
    outputs = output if isinstance(output, (tuple, list)) else [output]
    return [t for o in outputs for t in (o if isinstance(o, (tuple, list)) else [o])]


def results(c: Case) -> list[Any]:
    return tensors_of(c.operation(c.values))


def array(value: Any) -> np.ndarray:
    return value.detach().to(wg.complex128 if value.dtype.is_complex else wg.float64).numpy()


def difference(found: Any, expected: Any, dtype: Any, units: float) -> str:
    """How two results differ, of which one was computed in the dtype; in units of its rounding."""
    if not isinstance(found, wg.Tensor):
        return "" if type(found) is type(expected) else f"{found} instead of {expected}"
    if found.dtype != expected.dtype and (found.dtype, expected.dtype) != (dtype, wg.float32):
        return f"{found.dtype} instead of {expected.dtype}"
    if not (found.dtype.is_floating_point or found.dtype.is_complex):
        return ""  # indices and truth values may hang on the last place
    x, y = array(found), array(expected)
    if x.shape != y.shape:
        return f"{x.shape} instead of {y.shape}"
    finite = np.isfinite(x) & np.isfinite(y)
    scale = np.max(np.abs(y[finite]), initial=1.0)
    with np.errstate(invalid="ignore", over="ignore"):
        wrong = finite & ~(np.abs(x - y) <= units * EPSILON[dtype] * (np.abs(y) + scale))
    wrong |= ~finite & ~(np.isnan(x) & np.isnan(y)) & (x != y) & ~(np.abs(np.where(np.isnan(y), 0, y)) > 6e4)
    return f"{x[wrong]} instead of {y[wrong]}" if wrong.any() else ""


def compared(operation: Operation, part: Callable[[Case], list[Any]], dtype: Any, units: float) -> None:
    operation.unless_exempt("reduced")
    for sample in operation.samples()[:SAMPLES]:
        reduced, full = pair(operation, sample, dtype)
        if part is not results and not reduced.paths:
            continue
        try:
            expected = part(full)
        except (RuntimeError, NotImplementedError, IndexError):
            continue  # not of numbers that are rounded
        found = part(reduced)
        assert len(found) == len(expected)
        for x, y in zip(found, expected, strict=True):
            if x is not None or y is not None:
                assert not difference(x, y, dtype, units), sample


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("operation", COMPUTING, ids=str)
def test_results_are_those_of_float32_rounded(operation: Operation, dtype: Any) -> None:
    operation.unless_exempt("value")
    compared(operation, results, dtype, 1 if operation.form != "compose" else 8)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("operation", DIFFERENTIATED, ids=str)
def test_gradients_are_those_of_float32_rounded(operation: Operation, dtype: Any) -> None:
    compared(operation, gradients, dtype, 16)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("operation", DIFFERENTIATED, ids=str)
def test_tangents_are_those_of_float32_rounded(operation: Operation, dtype: Any) -> None:
    compared(operation, tangents, dtype, 16)
