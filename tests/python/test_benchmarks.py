"""What the benchmarks report."""

import json
from itertools import groupby

import numpy as np
import pytest

from benchmarks import installation, measure, report
from benchmarks.agreement import require_agreement
from benchmarks.workloads import WORKLOADS

SAMPLES = measure.Samples({"wengert": [0.2, 0.1, 0.3], "torch": [2.0, 2.0, 4.0]}, scale=1e-3)


def test_samples_compare_best_with_best_and_round_with_round():
    assert SAMPLES.best("torch") == pytest.approx(2e-3)
    assert SAMPLES.ratio() == pytest.approx(0.05)
    assert SAMPLES.spread() == pytest.approx((0.0625, 0.0875))


def test_contenders_take_turns():
    calls = []
    steps = {name: lambda name=name: calls.append(name) for name in "ab"}
    times = measure.alternate(steps, seconds=0.0)
    rounds = measure.ROUNDS[0]
    assert len(times["a"]) == len(times["b"]) == rounds
    # Warming and the estimate: ab ab. Then a bb aa bb ... : neighbouring rounds meet in one turn.
    assert "".join(name for name, _ in groupby(calls)) == "abab" + ("ab" * rounds)[: rounds + 1]


@pytest.mark.parametrize(("budget", "verdict"), [(0.04, "  over"), (0.06, "")])
def test_rows_say_whether_the_budget_is_kept(budget, verdict):
    row = report.Row("some_step", "s", SAMPLES, budget, relative=True)
    assert row.within_budget == (not verdict)
    assert row.line().endswith(f"{budget}{verdict}")
    assert len(row.line().removesuffix("  over")) == len(report.header())


def test_absolute_budgets():
    assert report.Row("import", "s", SAMPLES, 1.1e-4, relative=False).within_budget
    assert not report.Row("import", "s", SAMPLES, 0.9e-4, relative=False).within_budget


@pytest.mark.parametrize(("value", "text"), [(2.1e-6, "2.1 us"), (0.06, "60 ms"), (1.5, "1.5 s"), (4e-8, "40 ns")])
def test_prefixes(value, text):
    assert report.with_prefix(value, "s") == text


def test_json_holds_every_round(tmp_path):
    path = tmp_path / "rows.json"
    report.write_json([report.Row("some_step", "s", SAMPLES, 0.06, relative=True)], path)
    (row,) = json.loads(path.read_text())["rows"]
    assert row["rounds"]["wengert"] == pytest.approx([2e-4, 1e-4, 3e-4])
    assert row["within_budget"]


def test_disagreement_is_named():
    results = {"torch": [np.ones(2), np.zeros(2)], "wengert": [np.ones(2), np.array([0.0, 1.0])]}
    with pytest.raises(AssertionError, match="result 1 of wengert differs"):
        require_agreement(results, 1e-4)


def test_names_are_unique():
    names = [workload.name for workload in WORKLOADS] + list(installation.ROWS)
    assert len(set(names)) == len(names)


def test_installed_files_are_counted_once():
    paths = [path for path, _ in installation.installed_files("numpy")]
    assert len(set(paths)) == len(paths) > 100
    assert not any(path.suffix == ".pyc" for path in paths)
