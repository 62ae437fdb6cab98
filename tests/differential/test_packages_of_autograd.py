"""Packages that others wrote for HIPS autograd compute the same numbers on Wengert.

`nox -s differential` installs them.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PROGRAMS = Path(__file__).parent / "autograd_packages"
NEEDED = {"lifelines_survival": "lifelines", "gamma_functions": "autograd_gamma", "pyerrors_propagation": "pyerrors"}


def numbers(*command):
    run = subprocess.run(
        [sys.executable, "-W", "ignore", *command],
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_every_program_is_listed():
    assert {path.stem for path in PROGRAMS.glob("*.py")} == set(NEEDED)


@pytest.mark.parametrize("name", NEEDED)
def test_package(name):
    if importlib.util.find_spec(NEEDED[name]) is None:
        pytest.skip(f"not installed: {NEEDED[name]}")
    program = str(PROGRAMS / f"{name}.py")
    want, got = numbers(program), numbers("-m", "wengert.as_autograd", program)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-7)
