"""Patterns of every row: they cover the Jacobian that finite differences show, of real and of complex arguments."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest

import wengert as wg

from .operations import DIFFERENTIABLE, Case, Operation, cases

STEP = 1e-6


def of_real_numbers(c: Case) -> tuple[Any, list[Any]]:
    """The case as a function of real tensors: a complex one is a pair of them."""
    given = [wg.view_as_real(t) if t.dtype.is_complex else t for t in c.tensors]

    def function(values: list[Any]) -> list[Any]:
        pairs = zip(values, c.tensors, strict=True)
        tensors = [wg.view_as_complex(v) if t.dtype.is_complex else v * 1 for v, t in pairs]
        return [wg.view_as_real(o) if o.dtype.is_complex else o for o in c.function(*tensors) if not is_discrete(o)]

    return function, [t.detach().clone() for t in given]


def is_discrete(t: Any) -> bool:
    return not (t.dtype.is_floating_point or t.dtype.is_complex)


def differences(function: Any, values: list[Any]) -> Any:
    """The Jacobian by central differences, one column for each element."""

    def flat(values: list[Any]) -> Any:
        return np.concatenate([o.detach().numpy().reshape(-1) for o in function(values)] or [np.zeros(0)])

    columns = []
    for k, value in enumerate(values):
        for index in np.ndindex(tuple(value.shape)):
            ends = []
            for sign in (1, -1):
                moved = value.numpy().copy()
                moved[index] += sign * STEP
                ends.append(flat([wg.tensor(moved) if i == k else v for i, v in enumerate(values)]))
            columns.append((ends[0] - ends[1]) / (2 * STEP))
    return np.stack(columns, 1) if columns else np.zeros((len(flat(values)), 0))


def check(c: Case) -> None:
    function, values = of_real_numbers(c)
    with np.errstate(all="ignore"):
        jacobian = differences(function, values)
    size = np.abs(jacobian[np.isfinite(jacobian)]).max(initial=1.0)
    pattern = wg.func.sparsity(function, values).pattern.toarray()
    missing = (np.abs(jacobian) > 1e-5 * size) & ~pattern
    assert not missing.any(), np.argwhere(missing)[:5]


@pytest.mark.parametrize("operation", DIFFERENTIABLE, ids=repr)
def test_patterns_cover_the_jacobian(operation: Operation) -> None:
    for c in islice(cases(operation), 6):
        check(c)


@pytest.mark.parametrize("operation", [o for o in DIFFERENTIABLE if o.allows_complex], ids=repr)
def test_patterns_of_complex_numbers_cover_the_jacobian(operation: Operation) -> None:
    for c in islice(cases(operation, is_complex=True), 3):
        check(c)
