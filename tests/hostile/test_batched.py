"""Nothing takes the first sample of a batch for all of them; see `batched`."""

import os

import pytest

import wengert as wg
from wengert import _C

from . import batched
from .callables import functions

SEEDS = int(os.environ.get("WENGERT_HOSTILE_SEEDS", "1"))
FUNCTIONS = functions()

# What functions under test switch, with what tells how it was.
SWITCHES = [
    (_C._set_debug_mode, _C._is_debug_mode),
    (_C._set_strict_singular, _C._is_strict_singular),
    (_C._set_fwd_grad_enabled, _C._is_fwd_grad_enabled),
    (_C._set_grad_enabled, wg.is_grad_enabled),
    (_C._set_grad_layout_enforcement_enabled, _C._is_grad_layout_enforcement_enabled),
    (_C._set_multithreading_enabled, _C._is_multithreading_enabled),
    (_C._set_view_replay_enabled, _C._is_view_replay_enabled),
    (_C._set_num_threads, _C._get_num_threads),
    (wg.set_default_dtype, wg.get_default_dtype),
    (wg.set_warn_always, wg.is_warn_always_enabled),
]


@pytest.fixture(autouse=True)
def modes_as_before():
    """Undo what a call has switched: other tests run in this process."""
    anomaly = wg.is_anomaly_enabled(), wg.is_anomaly_check_nan_enabled()
    before = [(switch, ask()) for switch, ask in SWITCHES]
    yield
    wg.set_anomaly_enabled(*anomaly)
    for switch, value in before:
        switch(value)


@pytest.mark.parametrize("seed", range(1, 1 + min(SEEDS, batched.EVERYTHING)))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_call_reads_the_first_sample_alone(name, seed):
    found = batched.differences(name, FUNCTIONS[name], seed)
    assert not found, "\n".join(found[:5])
