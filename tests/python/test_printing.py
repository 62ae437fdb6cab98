"""Printing: printed_tensors.txt holds what PyTorch 2.13 prints for the same tensors."""

import math
import re
from pathlib import Path

import pytest

import wengert as wg

# Blank lines belong to the output, so the file is cut at the prompts only.
CASES = [
    case.rstrip("\n").split("\n", 1)
    for case in re.split(r"^>>> ", Path(__file__).with_name("printed_tensors.txt").read_text(), flags=re.MULTILINE)[1:]
]


@pytest.mark.parametrize(("expression", "expected"), CASES)
def test_repr(expression, expected):
    assert repr(eval(expression, {"wg": wg, "math": math})) == expected


def test_printoptions_change_and_return():
    try:
        wg.set_printoptions(precision=2, sci_mode=True)
        assert repr(wg.tensor([1.5])) == "tensor([1.50e+00])"
        wg.set_printoptions(profile="short")
        assert repr(wg.tensor([1.12345])) == "tensor([1.12])"
        wg.set_printoptions(edgeitems=1, threshold=3)
        assert repr(wg.arange(9)) == "tensor([0,  ..., 8])"
    finally:
        wg.set_printoptions(profile="default")
    assert repr(wg.tensor([1.12345])) == "tensor([1.1235])"


def test_non_leaf_shows_its_node():
    x = wg.tensor([1.0], requires_grad=True)
    assert repr(x * 2) == "tensor([2.], grad_fn=<MulBackward0>)"


def test_suffix_starts_a_new_line_when_the_last_one_is_full():
    x = wg.arange(14.0, requires_grad=True) + 0.5
    assert repr(x).endswith(",\n       grad_fn=<AddBackward0>)")


def test_format_of_numbers_and_of_tensors():
    assert f"{wg.tensor(1.25):.1f}" == "1.2"
    assert f"{wg.tensor([1.0, 2.0])}" == "tensor([1., 2.])"
