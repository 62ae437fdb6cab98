"""The sweep over the table: arguments grow as they should, and tiny ones are measured."""

import json

import numpy as np
import pytest

from benchmarks.sweep import command
from benchmarks.sweep.growth import array_like, grown
from benchmarks.sweep.measured import Measured, summary

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("layout", "shapes"), [("grown", [(20, 30), (30,)]), ("rows", [(9, 64), (64,)]), ("batch", [(100, 2, 3), (3,)])]
)
def test_dimensions_that_agree_grow_alike(layout, shapes):
    arguments = {"self": np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]), "weight": np.array([0.1, 0.2, 0.3]), "dim": 1}
    made = grown(arguments, layout, 600, RNG)
    assert [made["self"].shape, made["weight"].shape] == shapes
    assert made["dim"] == 1
    assert 0.1 <= made["self"].min() <= made["self"].max() <= 0.6


def test_matrices_keep_their_structure():
    small = np.array([[2.5, 0.5], [0.5, 3.5]])
    made = array_like(RNG, "self", small, (10, 10))
    assert np.array_equal(made, made.T)
    assert np.linalg.eigvalsh(made).min() > 0
    lower = array_like(RNG, "self", np.tril(small), (9, 9))
    assert np.array_equal(lower, np.tril(lower))


def test_a_tiny_sweep(tmp_path, capsys):
    path = tmp_path / "sweep.json"
    arguments = ["--only", "sum$", "numel$", "--sizes", "100", "--seconds", "0.001", "--json", str(path)]
    assert command.main(arguments) == 0
    document = json.loads(path.read_text())
    found = {(m["row"], m["layout"], m["dtype"], m["direction"]) for m in document["measured"]}
    assert ("sum", "grown", "float32", "backward") in found
    assert ("sum", "rows", "float64", "forward") in found
    assert all(m["wengert"] > 0 and m["torch"] > 0 for m in document["measured"])
    assert "numel" in document["reasons"]
    assert "behind" in capsys.readouterr().out


def test_the_summary_counts_what_is_behind():
    fast, slow = (Measured("sum", "grown", 100, "float32", "forward", t, 1.0, "") for t in (0.5, 1.2))
    assert summary([fast, slow]).splitlines()[-1].split() == ["100", "forward", "2", "1", "1"]
