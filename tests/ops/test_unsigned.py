"""Every row on uint16, uint32 and uint64: what int64 gives for the same numbers, modulo the width of the type.

uint16 and uint32 are stored and computed in int32 and int64, so their largest numbers are taken as well as small ones;
uint64 is computed in itself, and what it gives for its largest numbers stands beside NumPy in
tests/python/test_unsigned.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg

from .operations import OPERATIONS, Operation, case
from .test_reduced_floats import tensors_of

SAMPLES = 4
COMPUTING = [o for o in OPERATIONS if o.form != "query" and not o.draws]
NUMBERS = {"small": 0, "large": 2}  # how far from the greatest number of the type, if not from 0
TYPES = [(wg.uint16, "small"), (wg.uint16, "large"), (wg.uint32, "small"), (wg.uint32, "large"), (wg.uint64, "small")]


def stored_as(dtype: Any, computed_in: Any, numbers: str) -> Callable[[np.ndarray], Any]:
    """Arrays of floats as integers of one dtype; others stay as they are."""

    def convert(array: np.ndarray) -> Any:
        if array.dtype.kind not in "fc":
            return wg.tensor(array)
        values = np.abs(np.round(3 * np.nan_to_num(array.real, posinf=7, neginf=7))).astype(np.int64)
        return wg.tensor(wg.iinfo(dtype).max - values if numbers == "large" else values).to(computed_in)

    return convert


def difference(found: Any, expected: Any, dtype: Any) -> str:
    """How two results differ, the second of which was computed in int64."""
    if not isinstance(found, wg.Tensor):
        return "" if type(found) is type(expected) else f"{found} instead of {expected}"
    if found.dtype != expected.dtype and (found.dtype, expected.dtype) != (dtype, wg.int64):
        return f"{found.dtype} instead of {expected.dtype}"
    if found.shape != expected.shape:
        return f"{found.shape} instead of {expected.shape}"
    x, y = found.detach().numpy(), expected.detach().numpy()
    if found.dtype == dtype:
        y = y.astype(x.dtype)
    same = np.isclose(x, y, rtol=1e-5, equal_nan=True) if x.dtype.kind in "fc" else x == y
    return "" if np.all(same) else f"{x} instead of {y}"


# What int64 is refused, or refuses.
REFUSALS = (RuntimeError, NotImplementedError, IndexError, TypeError, ValueError, ZeroDivisionError)


@pytest.mark.parametrize(("dtype", "numbers"), TYPES, ids=str)
@pytest.mark.parametrize("operation", COMPUTING, ids=str)
def test_results_are_those_of_int64(operation: Operation, dtype: Any, numbers: str) -> None:
    operation.unless_exempt("value")
    operation.unless_exempt("reduced")  # what other types than float32 have other results in
    wraps_between = operation.form == "compose"
    for sample in operation.samples()[:SAMPLES]:
        unsigned = case(operation, sample, stored_as(dtype, dtype, numbers))
        signed = case(operation, sample, stored_as(dtype, wg.int64, numbers))
        try:
            expected = tensors_of(operation(signed.values))
        except REFUSALS:
            continue
        try:
            found = tensors_of(operation(unsigned.values))
        except RuntimeError as error:
            if "Promotion of uint64" in str(error):  # a sample that has integers of its own
                continue
            raise
        assert len(found) == len(expected)
        for x, y in zip(found, expected, strict=True):
            if wraps_between and isinstance(x, wg.Tensor) and (numbers == "large" or x.dtype != dtype):
                continue  # what wraps in between is not what wraps at the end
            assert not difference(x, y, dtype), sample
