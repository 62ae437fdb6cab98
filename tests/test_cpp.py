"""Runs the C++ tests that the build left behind; `nox -s test_cpp` builds and runs them without Python."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def cpp_tests(**environment):
    """Run them with more in the environment."""
    builds = [ROOT / "build", ROOT / "build" / "test", ROOT / "build" / "editable"]
    binaries = [path for build in builds if (path := build / "wengert_cpp_tests").exists()]
    if not binaries:
        pytest.skip("the C++ tests are built only where doctest's header is installed")
    newest = max(binaries, key=lambda path: path.stat().st_mtime)
    return subprocess.run([newest, "--no-colors"], capture_output=True, text=True, env={**os.environ, **environment})


def test_cpp():
    result = cpp_tests()
    assert result.returncode == 0, result.stdout + result.stderr
