"""Runs the hostile batches in processes of their own; see the package's essay."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SEEDS = int(os.environ.get("WENGERT_HOSTILE_SEEDS", "1"))
CASES = {"calls": 500, "rows": 500, "internals": 500}


@pytest.mark.parametrize("seed", range(1, 1 + SEEDS))
@pytest.mark.parametrize("module", CASES)
def test_no_call_brings_the_process_down(module, seed, tmp_path):
    run(module, seed, CASES[module], tmp_path)


def run(module, seed, count, tmp_path):
    notes = tmp_path / "case"
    command = [
        sys.executable,
        "-m",
        "tests.hostile.batch",
        module,
        str(seed),
        str(count),
        "--notes",
        str(notes),
    ]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, errors="replace", timeout=600, check=False)
    last = notes.read_text()
    assert done.returncode == 0, f"{module} {seed}: case {last} ended with {done.returncode}\n{done.stderr[-2000:]}"
    assert last.strip() == "the end"
