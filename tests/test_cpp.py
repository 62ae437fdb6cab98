"""Runs the C++ tests that the build left behind; `nox -s test_cpp` builds and runs them without Python."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def test_cpp():
    builds = [ROOT / "build", ROOT / "build" / "test", ROOT / "build" / "editable"]
    binaries = [path for build in builds if (path := build / "wengert_cpp_tests").exists()]
    if not binaries:
        pytest.skip("the C++ tests are built only where doctest's header is installed")
    newest = max(binaries, key=lambda path: path.stat().st_mtime)
    result = subprocess.run([newest, "--no-colors"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
