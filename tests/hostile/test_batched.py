"""Nothing takes the first sample of a batch for all of them; see `batched`."""

import os

import pytest

from . import batched
from .callables import functions

SEEDS = int(os.environ.get("WENGERT_HOSTILE_SEEDS", "1"))
FUNCTIONS = functions()


@pytest.mark.parametrize("seed", range(1, 1 + min(SEEDS, batched.EVERYTHING)))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_call_reads_the_first_sample_alone(name, seed):
    found = batched.differences(name, FUNCTIONS[name], seed)
    assert not found, "\n".join(found[:5])
