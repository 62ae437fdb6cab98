"""Every compiled copy of the loops is right, not only that which this processor would choose.

A processor that lacks an instruction set runs the best one that it has instead.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_cpp import cpp_tests

ROOT = Path(__file__).resolve().parents[1]
INSTRUCTION_SETS = ("v2", "v3", "v4")  # cmake/isa.cmake; other processors than x86-64 have but one
VALUES = ("tests/ops/test_references.py", "tests/ops/test_values.py")


@pytest.mark.parametrize("instruction_set", INSTRUCTION_SETS)
def test_cpp(instruction_set):
    result = cpp_tests(WENGERT_ISA=instruction_set)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("instruction_set", INSTRUCTION_SETS)
def test_values(instruction_set):
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *VALUES],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "WENGERT_ISA": instruction_set},
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_an_unknown_one_is_an_error():
    result = subprocess.run(
        [sys.executable, "-c", "import wengert"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "WENGERT_ISA": "avx9"},
    )
    assert result.returncode != 0
    assert "WENGERT_ISA=avx9 names no instruction set of this build; use one of" in result.stderr
