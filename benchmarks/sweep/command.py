"""``python -m benchmarks sweep``: choose rows, time them, print what is slowest beside PyTorch."""

from __future__ import annotations

import argparse
import json
import re
import resource
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter, thread_time
from typing import Any

from tqdm import tqdm

import wengert as wg
from benchmarks.measure import alternate
from benchmarks.sweep.contest import NotMeasuredError, arguments_of, contestants, in_dtype, layouts_of
from benchmarks.sweep.growth import arrays_in
from benchmarks.sweep.measured import COLUMNS, Measured, summary
from tests.differential.rows_in_pytorch import ROWS, torch
from tests.ops.operations import OPERATIONS, Operation

SIZES = (1_000, 100_000, 4_000_000)
LONGEST = 0.6  # seconds a call: no larger size is tried where it would take longer
MEMORY = 8 << 30  # bytes: what needs more is refused, like other arguments that a row does not take


def measure_row(operation: Operation, options: argparse.Namespace) -> Iterator[Measured]:
    """Yield the measurements of a row.

    Raises
    ------
    NotMeasuredError
        There is none; the reason is that of the first attempt.
    """
    if operation.form == "query":
        raise NotMeasuredError("answers a question without looking at elements")
    if operation not in ROWS:
        raise NotMeasuredError("PyTorch has no function of this name")
    reasons: list[str] = []
    count = 0
    for layout in (name for name in layouts_of(operation) if name in options.layouts):
        slowest, before = 0.0, 1
        for elements in sorted(options.sizes):
            if slowest * elements / before > LONGEST:
                break
            for dtype in options.dtypes:
                try:
                    found = list(measure(operation, layout, elements, dtype, options))
                except (NotMeasuredError, MemoryError) as refusal:
                    reasons.append(str(refusal))
                    continue
                yield from found
                count += len(found)
                slowest = max([slowest, *(max(m.wengert, m.torch) for m in found)])
            before = elements
    if not count:
        raise NotMeasuredError(reasons[0] if reasons else "no layout")


def measure(operation: Operation, layout: str, elements: int, dtype: str, options: Any) -> Iterator[Measured]:
    """Yield forward and backward pass of the first sample that both packages accept."""
    refusal = NotMeasuredError("no samples grow")
    for number, sample in enumerate(arguments_of(operation, layout, elements)):
        sample = in_dtype(sample, dtype == "float32")
        try:
            steps = contestants(operation, sample)
        except NotMeasuredError as error:
            refusal = error if number == 0 else refusal
            continue
        shapes = " ".join(str(list(a.shape)).replace(" ", "") for a in arrays_in(sample.arguments))
        measured = False
        clock = thread_time if options.threads == 1 else perf_counter
        for place, direction in enumerate(("forward", "backward")):
            if direction not in options.passes or any(pair[place] is None for pair in steps.values()):
                continue
            chosen = {name: pair[place] for name, pair in steps.items()}
            if any(seconds_of(step) > LONGEST for step in chosen.values()):
                refusal = NotMeasuredError(f"takes longer than {LONGEST} s, {direction}")
                continue
            times = alternate(chosen, options.seconds, clock, options.seconds / 20)
            measured = True
            best = {name: min(rounds) for name, rounds in times.items()}
            yield Measured(repr(operation), layout, elements, dtype, direction, **best, shapes=shapes)
        if measured:
            return
        break
    raise refusal


def seconds_of(step: Callable[[], Any]) -> float:
    """Return the time of one call."""
    start = perf_counter()
    step()
    return perf_counter() - start


@contextmanager
def limited_memory() -> Iterator[None]:
    """Let allocations fail that go beyond `MEMORY`, in both packages."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks sweep", description=__doc__)
    add = parser.add_argument
    add(
        "--only",
        nargs="+",
        metavar="REGEX",
        default=[""],
        help="rows whose names these describe, from the first letter",
    )
    add("--family", nargs="+", metavar="NAME", help="rows of these files of ops/")
    add("--not-elementwise", action="store_true", help="leave out rows with `kernel:`")
    add("--sizes", nargs="+", type=int, default=SIZES, help="elements of the largest argument")
    add("--dtypes", nargs="+", choices=("float32", "float64"), default=("float32", "float64"))
    add("--layouts", nargs="+", choices=("grown", "rows", "batch"), default=("grown", "rows", "batch"))
    add("--passes", nargs="+", choices=("forward", "backward"), default=("forward", "backward"))
    add("--threads", type=int, default=1, help="of both packages; one is timed by its processor time")
    add("--seconds", type=float, default=0.1, help="about how long to measure each pass")
    add("--worst", type=int, default=60, help="how many lines to print")
    add("--json", metavar="PATH", help="write all measurements, and the rows without any, there")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    options = parse(arguments)
    for package in (wg, torch):
        package.set_num_threads(options.threads)
    pattern = re.compile("|".join(f"(?:{only})" for only in options.only))
    chosen = [
        o
        for o in OPERATIONS
        if pattern.match(o.name)
        and o.python["namespace"] != "private"
        and (not options.family or o.family in options.family)
        and not (options.not_elementwise and o.elementwise)
    ]
    measured: list[Measured] = []
    reasons: dict[str, str] = {}
    warnings.simplefilter("ignore")
    progress = tqdm(chosen, file=sys.stderr, mininterval=1)
    with limited_memory():
        for operation in progress:
            progress.set_postfix_str(operation.name)
            try:
                measured += measure_row(operation, options)
            except NotMeasuredError as reason:
                reasons[operation.name] = str(reason)
    measured.sort(key=lambda m: -m.ratio)
    print(COLUMNS, *(m.line() for m in measured[: options.worst]), sep="\n")
    print(f"\n{len(reasons)} rows without a measurement:")
    print(*(f"  {name}: {reason[:120]}" for name, reason in sorted(reasons.items())), sep="\n")
    print("\n" + summary(measured))
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"measured": [m.as_dict() for m in measured], "reasons": reasons}, file, indent=1)
    return 0
