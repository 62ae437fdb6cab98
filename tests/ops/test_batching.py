"""Every row under vmap gives what a Python loop over the samples gives, whichever arguments are mapped.

The batch of a sample's tensor holds three versions of it that differ by a factor, along the first dimension or the
last. Rows that write in place do so on a copy, also where the copy is of what all samples share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg

from .operations import OPERATIONS, to_tensor

FACTORS = (1.0, 0.9, 0.8)
SAMPLES = 6  # of each row; the first ones of a generator differ most
RANDOM = {"dropout"}  # families whose results are drawn


def is_mapped(value: Any) -> bool:
    return isinstance(value, np.ndarray) or (isinstance(value, list) and any(isinstance(v, np.ndarray) for v in value))


def versions(value: Any) -> list[Any]:
    """The samples of one argument."""
    if isinstance(value, list) and is_mapped(value):
        return [list(items) for items in zip(*(versions(v) for v in value), strict=True)]
    if not isinstance(value, np.ndarray):
        return [value] * len(FACTORS)
    scaled = [value * f if value.dtype.kind in "fc" else value for f in FACTORS]
    return [to_tensor(np.asarray(v, value.dtype)) for v in scaled]


def stacked(samples: list[Any], dim: int) -> tuple[Any, Any]:
    """The batch of one argument, and its in_dims."""
    if isinstance(samples[0], list):
        pairs = [stacked(list(column), dim) for column in zip(*samples, strict=True)]
        return [batch for batch, _ in pairs], [d for _, d in pairs]
    if not isinstance(samples[0], wg.Tensor):
        return samples[0], None
    return wg.stack(samples, dim), dim


LOOPS_RAISE = (RuntimeError, ValueError, IndexError, TypeError)  # a factor leaves the domain


def may_refuse(operation: Any, error: Exception) -> bool:
    """Return whether a batch may be an error where samples are none."""
    if operation.view and "stride" in str(error):
        return True  # a view that the layout of this batch does not allow
    return "dynamic shape" in str(error)  # a mask that differs between samples


def goes_by_strides(operation: Any) -> bool:
    return operation.entry["samples"] in ("as_strided", "as_strided_scatter")


def run(
    operation: Callable[[dict[str, Any]], Any], names: list[str], values: tuple[Any, ...], fixed: dict[str, Any]
) -> list[Any]:
    output = operation({**fixed, **dict(zip(names, values, strict=True))})
    return list(output) if isinstance(output, (tuple, list)) else [output]


def patterns(names: list[str]) -> list[tuple[list[str], int]]:
    found = [(names, 0), (names, -1)]
    if len(names) > 1:
        found += [([name], 0) for name in names]
    return found


def is_answered_alike(operation: Any, arguments: Any, names: Any, fixed: Any, samples: Any, loops: Any) -> bool:
    """Whether a question about one sample of a batch has the answer that each sample gives."""
    answers: list[Any] = []

    def ask(*values: Any) -> Any:
        answers.extend(run(operation, names, values, fixed))
        return values[0]

    batches, in_dims = zip(*(stacked(samples[name], 0) for name in names), strict=True)
    wg.func.vmap(ask, in_dims=in_dims)(*batches)
    assert [answers] * len(FACTORS) == loops
    return True


def check(operation: Any, arguments: dict[str, Any], call: Callable[[dict[str, Any]], Any] | None = None) -> int:
    """Return how many batches were compared. `call` runs the operation, by default out of place."""
    call, compared = call or operation, 0
    for names, dim in patterns([name for name, value in arguments.items() if is_mapped(value)]):
        fixed = {name: versions(value)[0] for name, value in arguments.items() if name not in names}
        samples = {name: versions(arguments[name]) for name in names}
        try:
            loops = [run(call, names, tuple(samples[n][i] for n in names), fixed) for i in range(len(FACTORS))]
        except LOOPS_RAISE:
            continue
        if operation.form == "query":
            compared += is_answered_alike(operation, arguments, names, fixed, samples, loops)
            continue
        if not all(isinstance(result, wg.Tensor) for result in loops[0]):
            continue
        if dim and goes_by_strides(operation):
            continue
        batches, in_dims = zip(*(stacked(samples[name], dim) for name in names), strict=True)
        mapped = wg.func.vmap(
            lambda *values, n=names, f=fixed: run(call, n, values, f),
            in_dims=in_dims,
            randomness="same" if operation.draws else "error",  # as each call of the loop starts from the same seed
        )
        try:
            results = mapped(*batches)
        except RuntimeError as error:
            if may_refuse(operation, error):
                continue
            raise
        assert len(results) == len(loops[0])
        for result, column in zip(results, zip(*loops, strict=True), strict=True):
            wg.testing.assert_close(result, wg.stack(list(column)), equal_nan=True, msg=f"mapped {names} along {dim}")
        compared += 1
    return compared


def samples_mapped(operation: Any) -> list[dict[str, Any]]:
    return [dict(s.arguments) for s in operation.samples()[:SAMPLES] if any(map(is_mapped, s.arguments.values()))]


TESTED = [
    o for o in OPERATIONS if o.takes_tensors and not o.writes_only and o.family not in RANDOM and o.batch != "dynamic"
]


@pytest.mark.parametrize("operation", TESTED, ids=str)
def test_batch_is_loop(operation: Any) -> None:
    operation.unless_exempt("batched")
    assert sum(check(operation, a) for a in samples_mapped(operation)), "no sample could be compared"


# --- In place
WRITTEN = [o for o in OPERATIONS if (o.inplace or o.writes_only) and "method" in o.methods and o.batch != "dynamic"]


def in_place(operation: Any) -> Callable[[dict[str, Any]], Any]:
    method = operation.seeded(getattr(wg.Tensor, operation.python["name"] + ("" if operation.writes_only else "_")))
    first = operation.arguments[0]["name"]

    def call(arguments: dict[str, Any]) -> Any:
        target = arguments[first].clone()
        positional, keywords = operation.split({**arguments, first: target})
        assert method(*positional, **keywords) is target
        return target

    return call


def samples_written(operation: Any) -> list[dict[str, Any]]:
    first = operation.arguments[0]["name"]
    return [a for a in samples_mapped(operation) if isinstance(a.get(first), np.ndarray)]


@pytest.mark.parametrize("operation", WRITTEN, ids=str)
def test_batch_in_place_is_loop(operation: Any) -> None:
    samples = samples_written(operation)
    assert sum(check(operation, a, in_place(operation)) for a in samples), "no sample could be compared"


# --- What is refused, and what loops
DYNAMIC = [o for o in OPERATIONS if o.batch == "dynamic"]


@pytest.mark.parametrize("operation", DYNAMIC, ids=str)
def test_dynamic_shapes_are_refused(operation: Any) -> None:
    sample = operation.samples()[0]
    names = [name for name, value in sample.arguments.items() if is_mapped(value)]
    batches = [stacked(versions(sample.arguments[name]), 0)[0] for name in names]
    fixed = {name: value for name, value in sample.arguments.items() if name not in names}
    with pytest.raises(RuntimeError, match="dynamic shape"):
        wg.func.vmap(lambda *values: run(operation, names, values, fixed))(*batches)


def test_few_public_rows_run_in_a_loop() -> None:
    public = [o for o in OPERATIONS if o.python["namespace"] != "private" and o.family not in RANDOM]
    looped = [o.name for o in public if o.batch == "loop" and o.form != "query"]
    assert looped == ["new_empty_strided", "as_strided_scatter"]  # by how samples lie in their storage
