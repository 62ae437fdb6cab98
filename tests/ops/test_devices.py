"""Every row on every device: `meta` gives the shapes, dtypes and strides of the CPU, `sim:0` the same bits.

So no row reads an element on the host where it should not: tensors of `meta` have none, and the memory of `sim` is
protected from the host. What a row must know of values it says itself (`exempt: {meta: ...}`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import wengert as wg

from .operations import OPERATIONS, Case, Operation, case
from .parts import PARTS, bits, looks

SAMPLES = 4
DIFFERENTIATED = [o for o in OPERATIONS if o.is_differentiable]
COMPUTING = [o for o in OPERATIONS if o.form != "query"]


def to(device: str) -> Callable[[np.ndarray], Any]:
    return lambda array: wg.tensor(array, device=device)


def cases_on(operation: Operation, device: str) -> Iterator[Case]:
    for sample in operation.samples()[:SAMPLES]:
        yield case(operation, sample, to(device))


def compared(operation: Operation, part: str, device: str, seen: Callable[[list[Any]], list[Any]]) -> None:
    for on_cpu, elsewhere in zip(cases_on(operation, "cpu"), cases_on(operation, device), strict=True):
        if part != "results" and not on_cpu.paths:
            continue
        try:
            expected = PARTS[part](on_cpu)
        except (RuntimeError, NotImplementedError):
            continue  # not of this sample, or not mapped
        try:
            with wg.device(device):  # what factories make
                found = PARTS[part](elsewhere)
        except NotImplementedError:
            if device == "meta" and "meta" in operation.exempt:
                continue  # of these arguments the row must know values
            raise
        assert "device" in operation.exempt or all(t is None or t.device == wg.device(device) for t in found)
        assert seen(found) == seen(expected), on_cpu.sample


@pytest.mark.parametrize("operation", COMPUTING, ids=str)
def test_meta_gives_what_results_look_like(operation: Operation) -> None:
    compared(operation, "results", "meta", looks)


@pytest.mark.parametrize("part", ["gradients", "tangents", "mapped"])
@pytest.mark.parametrize("operation", DIFFERENTIATED, ids=str)
def test_meta_differentiates_and_maps(operation: Operation, part: str) -> None:
    compared(operation, part, "meta", looks)


@pytest.mark.parametrize("operation", COMPUTING, ids=str)
def test_sim_gives_the_bits_of_the_cpu(operation: Operation) -> None:
    operation.unless_exempt("value")
    compared(operation, "results", "sim:0", bits)


@pytest.mark.parametrize("operation", DIFFERENTIATED, ids=str)
def test_sim_differentiates_to_the_bits_of_the_cpu(operation: Operation) -> None:
    compared(operation, "gradients", "sim:0", bits)
