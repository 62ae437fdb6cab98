"""Every row on tensors whose class computes in the place of kernels: values are those of plain tensors.

The last bits may differ, since formulas made of operations take the place of fused kernels.
So whatever reads or writes an element goes through the class: such tensors have none, and who reads past the class
raises. What a row must know of values, or does with memory, it says itself (`exempt: {wrapper: ...}`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.wrapper_classes import inner_class

from .operations import OPERATIONS, Operation, case
from .parts import PARTS

SAMPLES = 4
Inner = inner_class(wg)
COMPUTING = [o for o in OPERATIONS if o.form != "query" and o.takes_tensors]
DIFFERENTIATED = [o for o in OPERATIONS if o.is_differentiable]


def wrapped(array: np.ndarray) -> Any:
    return Inner(wg.tensor(array))


def unwrapped(tensors: list[Any]) -> list[Any]:
    return [t.elem if isinstance(t, Inner) else t for t in tensors]


def require_close(found: list[Any], expected: list[Any], sample: Any) -> None:
    assert len(found) == len(expected), sample
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours is None) == (theirs is None), sample
        if theirs is not None:
            np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-9, atol=1e-12)


def compared(operation: Operation, part: str) -> None:
    operation.unless_exempt("wrapper")
    for sample in operation.samples()[:SAMPLES]:
        plain = case(operation, sample, wg.tensor)
        if part != "results" and not plain.paths:
            continue
        try:
            expected = PARTS[part](plain)
        except (RuntimeError, NotImplementedError):
            continue  # not of this sample, or not mapped
        found = PARTS[part](case(operation, sample, wrapped))
        require_close(unwrapped(found), expected, sample)


@pytest.mark.parametrize("operation", COMPUTING, ids=str)
def test_a_class_computes_every_operation(operation: Operation) -> None:
    operation.unless_exempt("value")
    compared(operation, "results")


@pytest.mark.parametrize("part", ["gradients", "tangents", "mapped"])
@pytest.mark.parametrize("operation", DIFFERENTIATED, ids=str)
def test_a_class_is_differentiated_and_mapped(operation: Operation, part: str) -> None:
    operation.unless_exempt("value")
    compared(operation, part)
