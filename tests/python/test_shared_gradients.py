"""Gradients that a kernel of its own computes where nobody differentiates them again: the formula gives the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg

REDUCTIONS: dict[str, Callable[[Any], Any]] = {
    "max": lambda x: x.max(),
    "max of rows": lambda x: x.max(-1).values,
    "min of columns": lambda x: x.min(0, keepdim=True).values,
    "amax in the middle": lambda x: x.amax(1),
    "amin of several": lambda x: x.amin((0, 2)),
    "amax of the last": lambda x: x.amax((1, 2), keepdim=True),
    "median": lambda x: x.median(1).values,
    "nanmedian": lambda x: x.nanmedian(),
}


@pytest.mark.parametrize("dtype", [wg.float32, wg.float64], ids=str)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_equal_elements(name: str, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    for shape in ((2, 3, 4), (5, 70, 3), (3, 2, 700), (1, 40, 600)):
        values = rng.integers(0, 4, shape).astype(float)
        values[rng.random(shape) < 0.01] = np.nan
        values[0, 0, 0], values[-1, -1, -1] = np.inf, -np.inf
        x = wg.tensor(values, dtype=dtype, requires_grad=True)
        y = REDUCTIONS[name](x)
        given = wg.tensor(rng.normal(size=y.shape), dtype=dtype)
        (once,) = wg.autograd.grad(y, x, given, retain_graph=True)
        (recorded,) = wg.autograd.grad(y, x, given, create_graph=True)
        np.testing.assert_array_equal(once.numpy(), recorded.detach().numpy())


def test_writes_to_one_place() -> None:
    rng = np.random.default_rng(1)
    for shape, dim in (((300,), 0), ((20, 30), 0), ((20, 30), 1), ((4, 25, 6), 1)):
        index = wg.tensor(rng.integers(0, min(shape), shape))
        source = wg.tensor(rng.normal(size=shape), requires_grad=True)
        y = wg.zeros(shape, dtype=wg.float64).scatter(dim, index, source)
        given = wg.tensor(rng.normal(size=shape)).transpose(0, -1).contiguous().transpose(0, -1)
        (once,) = wg.autograd.grad(y, source, given, retain_graph=True)
        (recorded,) = wg.autograd.grad(y, source, given, create_graph=True)
        np.testing.assert_array_equal(once.numpy(), recorded.detach().numpy())


@pytest.mark.parametrize("dtype", [wg.float32, wg.float64], ids=str)
def test_alignments(dtype: Any) -> None:
    rng = np.random.default_rng(2)
    x = wg.tensor(rng.normal(size=(12, 3, 5)), dtype=dtype).log_softmax(-1).detach().requires_grad_()
    targets = wg.tensor([[1, 2, 2, 3], [4, 4, 4, 4], [3, 1, 2, 4]])
    loss = wg.nn.functional.ctc_loss(x, targets, [12, 5, 9], [4, 4, 2], reduction="none")
    assert wg.isinf(loss).tolist() == [False, True, False]
    given = wg.tensor([0.5, 2, -1], dtype=dtype)
    (once,) = wg.autograd.grad(loss, x, given, retain_graph=True)
    (recorded,) = wg.autograd.grad(loss, x, given, create_graph=True)
    np.testing.assert_allclose(
        once.numpy(), recorded.detach().numpy(), rtol=1e-12 if dtype == wg.float64 else 1e-5, atol=1e-7
    )
    assert not once[9:, 2].any()
    assert not once[:, 1].any()
