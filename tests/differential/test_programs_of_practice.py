"""Thirteen complete programs of practice compute the same losses and parameters on PyTorch and on Wengert."""

import pytest

from tests.differential.programs_as_torch import assert_same_numbers, programs

pytest.importorskip("torch")


@pytest.mark.parametrize("name", programs("programs"))
def test_program(name):
    pytest.importorskip("sklearn")  # has the data
    assert_same_numbers("programs", name)
