"""Taylor series of every row: the derivatives along a curve are those that nested forward mode gives."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest

import wengert as wg

from .operations import DIFFERENTIABLE, Case, Operation, cases, scalarized
from .test_derivatives import direction

ORDER = 3


def of_real_numbers(c: Case) -> tuple[Any, list[Any]]:
    """The case as a function from real tensors to one number: a complex tensor is a pair of them."""

    def function(*values: Any) -> Any:
        pairs = zip(values, c.tensors, strict=True)
        return scalarized(c, *(wg.view_as_complex(v) if t.dtype.is_complex else v for v, t in pairs))

    return function, [(wg.view_as_real(t) if t.dtype.is_complex else t).detach() for t in c.tensors]


def nested(function: Any, order: int) -> list[Any]:
    """The derivatives of a function of time at 0."""
    found = []
    for _ in range(order):
        function = lambda t, f=function: wg.func.jvp(f, (t,), (wg.ones_like(t),))[1]  # noqa: E731
        found.append(function(wg.zeros((), dtype=wg.float64)))
    return found


def check(c: Case) -> None:
    function, values = of_real_numbers(c)
    first = [direction(v, 0.7 + i) for i, v in enumerate(values)]
    second = [direction(v, 1.9 + i) for i, v in enumerate(values)]
    series = [[u, v, wg.zeros_like(u)] for u, v in zip(first, second, strict=True)]

    def along(t: Any) -> Any:
        return function(*(x + t * u + t * t * 0.5 * v for x, u, v in zip(values, first, second, strict=True)))

    value, derivatives = wg.func.jet(function, values, series)
    wanted = np.array([d.item() for d in nested(along, ORDER)])
    found = np.array([d.item() for d in derivatives])
    np.testing.assert_allclose(value.numpy(), function(*values).numpy(), rtol=1e-13)
    np.testing.assert_allclose(
        found, wanted, rtol=1e-7, atol=1e-8 * (1 + np.abs(wanted[np.isfinite(wanted)]).max(initial=0))
    )


@pytest.mark.parametrize("operation", DIFFERENTIABLE, ids=repr)
def test_jets_equal_nested_jvps(operation: Operation) -> None:
    operation.unless_exempt("jets")
    for c in islice(cases(operation), 4):
        check(c)


@pytest.mark.parametrize("operation", [o for o in DIFFERENTIABLE if o.allows_complex], ids=repr)
def test_jets_through_complex_numbers_equal_nested_jvps(operation: Operation) -> None:
    operation.unless_exempt("jets")
    for c in islice(cases(operation, is_complex=True), 2):
        check(c)
