"""A pass with several cotangents at once gives what a pass for each gives, for every row, also where it is recorded."""

from __future__ import annotations

from typing import Any

import pytest

import wengert as wg
from wengert.autograd import _batching

from .operations import DIFFERENTIABLE, case
from .test_batching import RANDOM

ROWS = [o for o in DIFFERENTIABLE if not o.writes_only and o.family not in RANDOM]
COUNT = 3


def cotangents(output: Any, k: int) -> Any:
    """Different ones, and one that is zero."""
    numbers = wg.arange(COUNT * output.numel(), dtype=wg.float64).reshape(COUNT, *output.shape)
    values = wg.cos(numbers + 1.0 + k)
    values[1] = 0
    return wg.complex(values, wg.sin(numbers)).to(output.dtype) if output.dtype.is_complex else values.to(output.dtype)


def results(operation: Any) -> tuple[list[Any], list[Any]]:
    for sample in operation.samples():
        c = case(operation, sample)
        if c.paths:
            leaves = c.leaves()
            outputs = [o for o in c.function(*leaves) if isinstance(o, wg.Tensor) and o.requires_grad]
            if outputs:
                return outputs, leaves
    pytest.skip(f"{operation}: no sample has gradients")


def close(found: Any, wanted: Any) -> None:
    for one, other in zip(found, wanted, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            wg.testing.assert_close(one, other, rtol=1e-9, atol=1e-11, equal_nan=True)


@pytest.mark.parametrize("create_graph", [False, True], ids=["", "recorded"])
@pytest.mark.parametrize("operation", ROWS, ids=repr)
def test_batched_pass_is_loop(operation: Any, create_graph: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    operation.unless_exempt("batched_cotangents")
    outputs, leaves = results(operation)
    batches = [cotangents(output, k) for k, output in enumerate(outputs)]
    options = {"retain_graph": True, "create_graph": create_graph, "allow_unused": True}
    columns = [wg.autograd.grad(outputs, leaves, [b[i] for b in batches], **options) for i in range(COUNT)]
    wanted = [None if column[0] is None else wg.stack(column) for column in zip(*columns, strict=True)]
    monkeypatch.setattr(_batching, "_one_by_one", None)
    found = wg.autograd.grad(outputs, leaves, batches, is_grads_batched=True, **options)
    close(found, wanted)
    if create_graph:
        pairs = [(f, w) for f, w in zip(found, wanted, strict=True) if w is not None and w.requires_grad]
        if pairs:
            weights = [wg.cos(wg.arange(w.numel(), dtype=wg.float64)).reshape(w.shape).to(w.dtype) for _, w in pairs]
            second = [
                wg.autograd.grad(list(tensors), leaves, weights, retain_graph=True, allow_unused=True)
                for tensors in zip(*pairs, strict=True)
            ]
            close(*second)
