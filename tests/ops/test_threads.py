"""Every row gives the same bits on one thread and on several, at sizes that are worth several: results and gradients.

The large tensors are batches of the row's samples under vmap, so that no row needs samples of its own for this.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import wengert as wg

from .operations import OPERATIONS, to_tensor
from .test_batching import LOOPS_RAISE, is_mapped

ELEMENTS = 300_000  # of the largest argument
SAMPLES = 2
THREADS = 3
TESTED = [o for o in OPERATIONS if o.takes_tensors and not o.writes_only and o.form != "query"]
TESTED = [o for o in TESTED if o.batch not in ("dynamic", "loop")]


def tensors_of(value: Any) -> list[np.ndarray]:
    return [v for v in (value if isinstance(value, list) else [value]) if isinstance(v, np.ndarray)]


def enlarged(value: Any, batch: int) -> Any:
    """A batch of the argument, whose samples differ a little where they are numbers with a fraction."""
    if isinstance(value, list):
        return [enlarged(v, batch) for v in value]
    if not isinstance(value, np.ndarray):
        return value
    whole = np.broadcast_to(value, (batch, *value.shape))
    factors = np.linspace(0.8, 1, batch).reshape(batch, *[1] * value.ndim)
    return to_tensor((whole * factors).astype(value.dtype) if value.dtype.kind in "fc" else whole.copy())


def in_dims_of(value: Any) -> Any:
    return [in_dims_of(v) for v in value] if isinstance(value, list) else 0 if isinstance(value, wg.Tensor) else None


def bits(tensors: Any) -> list[bytes]:
    return [t.detach().numpy().tobytes() for t in tensors if t is not None]


def computed(operation: Any, arguments: dict[str, Any], threads: int) -> Iterator[list[bytes]]:
    """What the batch gives, and the gradients of it."""
    wg.set_num_threads(threads)
    batch = max(2, ELEMENTS // max(1, *(t.size for value in arguments.values() for t in tensors_of(value))))
    values = {name: enlarged(value, batch) for name, value in arguments.items()}
    flat = [t for v in values.values() for t in (v if isinstance(v, list) else [v]) if isinstance(t, wg.Tensor)]
    leaves = [t.requires_grad_() for t in flat if t.dtype.is_floating_point or t.dtype.is_complex]

    def run(*given: Any) -> list[Any]:
        output = operation(dict(zip(values, given, strict=True)))
        return [o for o in (output if isinstance(output, (tuple, list)) else [output]) if isinstance(o, wg.Tensor)]

    mapped = wg.func.vmap(run, tuple(map(in_dims_of, values.values())), randomness="different")
    results = mapped(*values.values())
    yield bits(results)
    roots = [r for r in results if r.requires_grad]
    if operation.is_differentiable and roots and leaves:
        yield bits(wg.autograd.grad(roots, leaves, [wg.ones_like(r) for r in roots], allow_unused=True))


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    before = wg.get_num_threads()
    yield
    wg.set_num_threads(before)


@pytest.mark.parametrize("operation", TESTED, ids=str)
def test_threads_do_not_change_a_bit(operation: Any) -> None:
    operation.unless_exempt("batched")
    compared = 0
    for sample in operation.samples()[:SAMPLES]:
        if not any(map(is_mapped, sample.arguments.values())):
            continue
        arguments = dict(sample.arguments)
        try:
            with np.errstate(all="ignore"):
                alone = list(computed(operation, arguments, 1))
        except LOOPS_RAISE:  # a factor leaves the domain, or the row refuses batches
            continue
        assert list(computed(operation, arguments, THREADS)) == alone
        compared += 1
    if not compared:
        pytest.skip(f"{operation}: no sample can be enlarged")
