"""Derivatives inside and outside vmap, and vmap in vmap, of every row: what a Python loop over the samples gives."""

from __future__ import annotations

import functools
from typing import Any

import pytest

import wengert as wg

from .operations import DIFFERENTIABLE, case
from .test_batching import FACTORS, TESTED

ROWS = [o for o in TESTED if o in DIFFERENTIABLE and o.python["namespace"] != "private"]


def of_first_sample(operation: Any) -> tuple[Any, list[Any]]:
    """A real function of the tensors of a sample that have gradients, and batches of them."""
    for sample in operation.samples():
        c = case(operation, sample)
        if c.paths:
            break
    else:
        pytest.skip(f"{operation}: no sample has gradients")

    def function(*tensors: Any) -> Any:
        total = wg.zeros((), dtype=wg.float64)
        for k, output in enumerate(c.function(*tensors)):
            if output.dtype.is_floating_point or output.dtype.is_complex:
                weights = wg.cos(wg.arange(output.numel(), dtype=wg.float64) + 1.0 + k).reshape(output.shape)
                product = output * weights
                total = total + (product.real if product.dtype.is_complex else product).sum()
        return total

    def scaled(tensor: Any, factor: float) -> Any:
        return tensor * factor if tensor.dtype.is_floating_point or tensor.dtype.is_complex else tensor

    return function, [wg.stack([scaled(t.detach(), factor) for factor in FACTORS]) for t in c.tensors]


def close(found: Any, wanted: Any) -> None:
    wg.testing.assert_close(found, wanted, rtol=1e-8, atol=1e-10, equal_nan=True)


@pytest.mark.parametrize("operation", ROWS, ids=repr)
def test_derivatives_of_batches(operation: Any) -> None:
    # Each call of an operation that draws starts from the same seed.
    vmap = functools.partial(wg.func.vmap, randomness="same" if operation.draws else "error")
    operation.unless_exempt("batched")
    operation.unless_exempt("batched_derivatives")
    function, batches = of_first_sample(operation)
    argnums = tuple(range(len(batches)))
    gradient = wg.func.grad(function, argnums=argnums)
    try:
        samples = [gradient(*(batch[i] for batch in batches)) for i in range(len(FACTORS))]
    except (RuntimeError, ValueError):
        pytest.skip(f"{operation}: a factor leaves the domain")
    wanted = [wg.stack(list(column)) for column in zip(*samples, strict=True)]

    for found, expected in zip(vmap(gradient)(*batches), wanted, strict=True):  # inside
        close(found, expected)
    outside = wg.func.grad(lambda *batches: vmap(function)(*batches).sum(), argnums=argnums)
    for found, expected in zip(outside(*batches), wanted, strict=True):
        close(found, expected)

    tangents = [wg.ones_like(batch) for batch in batches]
    forward = lambda primals, tangents: wg.func.jvp(function, primals, tangents)[1]  # noqa: E731
    along = wg.stack([forward(*(tuple(t[i] for t in ts) for ts in (batches, tangents))) for i in range(len(FACTORS))])
    close(vmap(lambda *both: forward(both[: len(argnums)], both[len(argnums) :]))(*batches, *tangents), along)
    close(wg.func.jvp(vmap(function), tuple(batches), tuple(tangents))[1], along)

    grid = [wg.stack([batch, batch]) for batch in batches]
    twice = vmap(vmap(function))(*grid)
    close(twice, wg.stack([wg.stack([function(*(b[i] for b in batches)) for i in range(len(FACTORS))])] * 2))
