"""The programs of tests/differential without PyTorch: they show what PyTorch showed when it was last asked."""

import pytest

import wengert
from tests.differential.observation import all_programs, observe, recorded, require_same

PROGRAMS = all_programs()
RECORDED = recorded()


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_shows_what_is_recorded(name):
    assert name in RECORDED, "new: run python -m tests.differential"
    require_same(observe(PROGRAMS[name], wengert), RECORDED[name], "recorded")


def test_record_has_no_other_programs():
    assert set(RECORDED) == set(PROGRAMS)
