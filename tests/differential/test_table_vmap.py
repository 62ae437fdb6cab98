"""Every row that PyTorch has, under vmap and as gradients of samples: values and shapes are PyTorch's.

Where PyTorch itself has no rule, or refuses, there is nothing to compare.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.ops.operations import Case, Operation

from .test_table import ROWS, array, pairs, torch

FACTORS = (1.0, 0.9, 0.8)
RANDOM = ("dropout",)


def batched(package: Any, tensor: Any) -> Any:
    """Versions of a tensor that differ by a factor."""
    numbers = tensor.is_floating_point() or tensor.is_complex()
    return package.stack([tensor * factor if numbers else tensor for factor in FACTORS])


def function_of(c: Case) -> Callable[..., tuple[Any, ...]]:
    """The row as a function of the tensors that gradients may flow to."""
    return lambda *tensors: tuple(t for t in c.function(*tensors) if hasattr(t, "requires_grad"))


def under_vmap(package: Any, c: Case) -> list[np.ndarray]:
    batches = [batched(package, t.detach()) for t in c.tensors]
    return [array(result) for result in package.func.vmap(function_of(c))(*batches)]


def has_derivative(c: Case) -> bool:
    """Whether PyTorch has one: inside func.grad it gives zeros where it has none."""
    return any(output.requires_grad for output in function_of(c)(*c.leaves()))


def gradients_of_samples(package: Any, c: Case) -> list[np.ndarray]:
    if not has_derivative(c):
        raise RuntimeError("no derivative")

    def total(*tensors: Any) -> Any:
        result = 0.0
        for k, output in enumerate(function_of(c)(*tensors)):
            if output.is_floating_point():
                weights = package.cos(package.arange(output.numel(), dtype=output.dtype) + 1.0 + k)
                result = result + (output * weights.reshape(output.shape)).sum()
        return result

    batches = [batched(package, t.detach()) for t in c.tensors]
    gradient = package.func.grad(total, argnums=tuple(range(len(batches))))
    return [array(result) for result in package.func.vmap(gradient)(*batches)]


def compared(operation: Operation, run: Callable[[Any, Case], list[np.ndarray]]) -> None:
    for ours, theirs in pairs(operation):
        if not ours.paths or ours.sample.unique or ours.sample.hermitian:
            continue
        try:
            expected = run(torch, theirs)
        except Exception as refusal:
            if "wengert" in str(refusal):
                raise
            continue
        found = run(wg, ours)
        assert len(found) == len(expected)
        for x, y in zip(found, expected, strict=True):
            assert x.shape == y.shape
            np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-10, equal_nan=True)
        return
    pytest.skip(f"{operation}: PyTorch has no rule, or no sample has gradients")


CHOSEN = [
    replace(o)
    for o in ROWS
    if not o.writes_only
    and o.family not in RANDOM
    and o.batch != "dynamic"
    and not {"value", "refused"} & set(o.entry["unlike_pytorch"])
]


@pytest.mark.parametrize("operation", CHOSEN, ids=repr)
@pytest.mark.filterwarnings("ignore")
def test_values(operation: Operation) -> None:
    compared(operation, under_vmap)


@pytest.mark.parametrize(
    "operation",
    [o for o in CHOSEN if o.is_differentiable and "gradient" not in o.entry["unlike_pytorch"]],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore")
def test_gradients(operation: Operation) -> None:
    compared(operation, gradients_of_samples)
