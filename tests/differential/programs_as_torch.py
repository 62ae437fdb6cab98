"""Runs a program written for PyTorch on PyTorch and on Wengert, each in a process of its own, and compares the numbers.

Programs print the numbers of one tensor a line (`programs/common.py`).
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
WENGERT = ["-m", "wengert.as_torch"]


def programs(folder):
    """Return the names of the programs in a folder beside this file."""
    return sorted(path.stem for path in (FOLDER / folder).glob("*.py") if path.stem != "common")


def run(folder, name, options=()):
    """Return what a program prints, one array a line."""
    paths = [str(FOLDER / "programs"), *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [sys.executable, *options, str(FOLDER / folder / f"{name}.py")]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(paths),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    return [np.array([float(number) for number in line.split()]) for line in done.stdout.splitlines()]


def assert_same_numbers(folder, name, tolerance=1e-9):
    """Compare what a program prints on the two packages, in relation to the largest number of each line."""
    theirs, ours = run(folder, name), run(folder, name, WENGERT)
    assert len(theirs) > 0
    for line, (wanted, found) in enumerate(zip(theirs, ours, strict=True)):
        scale = max(np.abs(wanted).max(initial=0), 1e-3)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * scale, err_msg=f"line {line}")
