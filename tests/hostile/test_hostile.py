"""Runs the hostile batches in processes of their own; see the package's essay."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SEEDS = int(os.environ.get("WENGERT_HOSTILE_SEEDS", "1"))
CASES = {"calls": 500, "rows": 500, "internals": 500}
SHARES = 4  # of the cases of `integers`


@pytest.mark.parametrize("seed", range(1, 1 + SEEDS))
@pytest.mark.parametrize("module", CASES)
def test_no_call_brings_the_process_down(module, seed, tmp_path):
    run(module, seed, CASES[module], tmp_path)


@pytest.mark.parametrize("share", range(1, 1 + min(SEEDS, SHARES)))
def test_no_integer_brings_the_process_down(share, tmp_path):
    """The shares together are everything; a case has a few seconds."""
    run("integers", share, SHARES, tmp_path, WENGERT_HOSTILE_SECONDS="5")


def run(module, seed, count, tmp_path, **environment):
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
    done = subprocess.run(
        command, cwd=root, env=os.environ | environment, capture_output=True, text=True, errors="replace", timeout=600,
        check=False,
    )  # fmt: skip
    last = notes.read_text()
    assert done.returncode == 0, f"{module} {seed}: case {last} ended with {done.returncode}\n{done.stderr[-2000:]}"
    assert last.strip() == "the end"
