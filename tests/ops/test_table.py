"""The table as a whole: every row can be tested."""

from __future__ import annotations

import pytest

from tests.ops.operations import OPERATIONS, Operation, cases
from tests.ops.samples import NoSamplesError, samples_of


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
