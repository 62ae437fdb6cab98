"""The summary of tests/ops: for each property, how many rows have it, and which are exempt for what reason."""

from __future__ import annotations

from collections import defaultdict
from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the matrix of properties and rows, by counts."""
    counts: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    reasons: dict[str, set[str]] = defaultdict(set)
    for outcome in ("passed", "failed", "skipped"):
        for report in terminalreporter.stats.get(outcome, []):
            path, _, test = report.nodeid.partition("::")
            name, bracket, row = test.partition("[")
            if "tests/ops/" not in path or "test_wrong" in path or not bracket or report.when == "teardown":
                continue
            counts[name.removeprefix("test_").replace("_", " ")][outcome].add(row.rstrip("]"))
            if outcome == "skipped":
                reasons[name].add(str(report.longrepr[2]).removeprefix("Skipped: "))
    if not counts:
        return
    terminalreporter.section("properties of the rows")
    width = max(map(len, counts))
    terminalreporter.write_line(f"{'property':{width}}  {'hold':>6} {'fail':>6} {'exempt':>6}")
    for name, found in sorted(counts.items()):
        numbers = " ".join(f"{len(found[outcome]):6}" for outcome in ("passed", "failed", "skipped"))
        terminalreporter.write_line(f"{name:{width}}  {numbers}")
    for name, why in sorted(reasons.items()):
        for reason in sorted(why):
            terminalreporter.write_line(f"exempt from {name.removeprefix('test_')}: {reason}")
