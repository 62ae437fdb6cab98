"""The example: training on several ranks is training in one process, bit for bit."""

import importlib.util
from pathlib import Path

import pytest

spec = importlib.util.spec_from_file_location("launch", __file__.replace("test_digits", "launch"))
launch = importlib.util.module_from_spec(spec)
spec.loader.exec_module(launch)

EXAMPLE = Path(__file__).parents[3] / "examples" / "distributed" / "data_parallel_digits.py"


@pytest.mark.parametrize("ranks", [2, 4])
def test_digits(ranks, tmp_path):
    launch.require_mpi()
    page = tmp_path / "timeline.html"
    code, output = launch.start(ranks, EXAMPLE, "--check", "--epochs", "2", "--limit", "400", "--trace", page)
    assert code == 0, output
    assert f"{ranks} ranks, 10 steps" in output
    assert "losses equal, weights equal" in output
    assert "beside the backward pass" in output
    assert "distributed::all_reduce" in page.read_text()
