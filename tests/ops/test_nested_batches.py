"""Every row in two vmaps gives what two loops give; arguments differ in which of them they are mapped over."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable
from typing import Any

import pytest

import wengert as wg

from .test_batching import (
    FACTORS,
    LOOPS_RAISE,
    TESTED,
    WRITTEN,
    goes_by_strides,
    in_place,
    is_mapped,
    may_refuse,
    run,
    samples_mapped,
    samples_written,
    stacked,
    versions,
)

OUTER, INNER = 2, len(FACTORS)
# Which version of an argument sample (i, j) has, by the vmaps that map it.
VERSIONS: dict[str, Callable[[int, int], int]] = {
    "": lambda i, j: 0,
    "outer": lambda i, j: i,
    "inner": lambda i, j: j,
    "outer inner": lambda i, j: (i + j) % len(FACTORS),
}


def draw_levels(names: list[str], rng: random.Random) -> dict[str, str]:
    """Return which vmaps map each argument; each of the two maps some."""
    while True:
        levels = {name: rng.choice(list(VERSIONS)) for name in names}
        if all(any(level in mapped for mapped in levels.values()) for level in ("outer", "inner")):
            return levels


def nested_batch(samples: list[Any], levels: str, rng: random.Random) -> tuple[Any, Any, Any]:
    """The batch of an argument, and its in_dims in both vmaps."""
    version = VERSIONS[levels]
    rows, inner, outer = [samples[version(i, 0)] for i in range(OUTER)], None, None
    if "inner" in levels:
        dim = rng.choice([0, -1])
        pairs = [stacked([samples[version(i, j)] for j in range(INNER)], dim) for i in range(OUTER)]
        rows, inner = [batch for batch, _ in pairs], pairs[0][1]
    if "outer" not in levels:
        return rows[0], outer, inner
    return *stacked(rows, rng.choice([0, -1])), inner


def check_nested(operation: Any, arguments: dict[str, Any], call: Any, rng: random.Random) -> bool:
    names = [name for name, value in arguments.items() if is_mapped(value)]
    fixed = {name: value for name, value in arguments.items() if name not in names}
    samples = {name: versions(arguments[name]) for name in names}
    levels = draw_levels(names, rng)

    def of_sample(i: int, j: int) -> list[Any]:
        return run(call, names, tuple(samples[n][VERSIONS[levels[n]](i, j)] for n in names), fixed)

    try:
        loops = [[of_sample(i, j) for j in range(INNER)] for i in range(OUTER)]
    except LOOPS_RAISE:
        return False
    if not all(isinstance(result, wg.Tensor) for result in loops[0][0]):
        return False
    batches, outer, inner = zip(*(nested_batch(samples[n], levels[n], rng) for n in names), strict=True)
    randomness = "same" if operation.draws else "error"
    each = wg.func.vmap(lambda *values: run(call, names, values, fixed), in_dims=inner, randomness=randomness)
    try:
        results = wg.func.vmap(each, in_dims=outer, randomness=randomness)(*batches)
    except RuntimeError as error:
        if may_refuse(operation, error):
            return True
        raise
    for k, result in enumerate(results):
        expected = wg.stack([wg.stack([one[k] for one in row]) for row in loops])
        wg.testing.assert_close(result, expected, equal_nan=True, msg=f"{levels} {outer} {inner}")
    return True


def held_nested(operation: Any, call: Any, samples: list[dict[str, Any]]) -> int:
    """Return how many pairs of vmaps were held to loops: for each sample two, mapped as a draw says."""
    rng = random.Random(zlib.crc32(str(operation).encode()))
    return sum(check_nested(operation, a, call, rng) for a in samples for _ in range(2))


@pytest.mark.parametrize("operation", [o for o in TESTED if not goes_by_strides(o) and o.form != "query"], ids=str)
def test_nested_batches_are_nested_loops(operation: Any) -> None:
    operation.unless_exempt("batched")
    assert held_nested(operation, operation, samples_mapped(operation)), "no sample could be compared"


@pytest.mark.parametrize("operation", [o for o in WRITTEN if not goes_by_strides(o)], ids=str)
def test_nested_batches_in_place_are_nested_loops(operation: Any) -> None:
    assert held_nested(operation, in_place(operation), samples_written(operation)), "no sample could be compared"
