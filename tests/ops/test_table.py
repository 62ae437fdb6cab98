"""The table as a whole: every row can be tested."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from codegen.table import load
from tests.ops.operations import OPERATIONS, Operation, cases
from tests.ops.samples import NoSamplesError, samples_of

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("operation", OPERATIONS, ids=repr)
def test_row_has_samples(operation: Operation) -> None:
    assert operation.samples()


@pytest.mark.parametrize("operation", [o for o in OPERATIONS if o.is_differentiable], ids=repr)
def test_differentiable_row_is_differentiated(operation: Operation) -> None:
    assert any(True for _ in cases(operation)), "no sample has a tensor that requires grad"


def test_row_without_samples_is_noticed() -> None:
    entry = {**OPERATIONS[0].entry, "samples": "no such generator"}
    with pytest.raises(NoSamplesError, match="no generator of samples 'no such generator'"):
        samples_of(entry)
    entry = {**OPERATIONS[0].entry, "samples": None, "arguments": [{"name": "dim", "type": "int[]", "default": None}]}
    with pytest.raises(NoSamplesError, match="what is 'dim'"):
        samples_of(entry)


def test_nodes_have_different_names() -> None:
    """Unless rows say so: several operations of ours are one of PyTorch's."""
    rows = [row for row in load(ROOT / "ops") if row.node]
    counts = Counter(row.node for row in rows)
    assert [row.name for row in rows if counts[row.node] > 1 and "node" not in row.keys] == []
    assert len({row.node_class for row in rows}) == len(rows)
