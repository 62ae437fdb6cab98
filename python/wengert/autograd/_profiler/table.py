"""Events as a table of fixed-width text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .units import TIMES, format_bytes, format_share, format_time, scale_flops

GAP = "  "
NUMBER_WIDTH = 12
FRAMES = "Source Location"


@dataclass(frozen=True)
class Columns:
    """Which columns a table has, and how wide they may get."""

    name_width: int
    shapes_width: int
    source_width: int
    memory: bool
    flops: bool
    time_unit: str | None


@dataclass(frozen=True)
class _Column:
    title: str
    width: int
    text: Callable[[Any], str]
    left: bool = False

    def cell(self, text: str) -> str:
        return text.ljust(self.width) if self.left else text.rjust(self.width)


def shortened(text: str, width: int) -> str:
    """Return the end of a text that is too wide, after dots."""
    return text if len(text) <= width or width < 4 else "..." + text[-(width - 3) :]


def format_table(
    events: Sequence[Any], wanted: Columns, total_time: float, *, header: str | None, top_level: bool
) -> str:
    """Return the table of `events`; shares are of `total_time`, the time of all events."""
    if not events:
        return ""
    columns = _columns(events, wanted, total_time)
    rule = GAP.join("-" * column.width for column in columns) + GAP
    lines = []
    if header is not None:
        lines += ["=" * len(rule), header]
    if top_level:
        lines += ["=" * len(rule), "This report only display top-level ops statistics"]
    lines += [rule, GAP.join(column.cell(column.title) for column in columns) + GAP, rule]
    for event in events:
        lines.append(GAP.join(column.cell(column.text(event)) for column in columns) + GAP)
        lines += _further_frames(event, columns)
    lines += [rule, f"Self CPU time total: {format_time(total_time)}", ""]
    return "\n".join(lines)


def _columns(events: Sequence[Any], wanted: Columns, total_time: float) -> list[_Column]:
    def time(value: float) -> str:
        if wanted.time_unit is None:
            return format_time(value)
        return f"{value / TIMES[wanted.time_unit]:.3f}{wanted.time_unit}"

    def number(title: str, text: Callable[[Any], str]) -> _Column:
        return _Column(title, max(NUMBER_WIDTH, len(title)), text)

    def wide(title: str, text: Callable[[Any], str], left: bool = False) -> _Column:
        return _Column(title, max(NUMBER_WIDTH, len(title), *(len(text(event)) for event in events)), text, left)

    name_width = min(wanted.name_width, max(len(event.key) for event in events) + 4)
    columns = [
        _Column("Name", max(name_width, 4), lambda event: shortened(event.key, wanted.name_width)),
        number("Self CPU %", lambda event: format_share(event.self_cpu_time_total, total_time)),
        number("Self CPU", lambda event: time(event.self_cpu_time_total)),
        number("CPU total %", lambda event: format_share(event.cpu_time_total, total_time)),
        number("CPU total", lambda event: time(event.cpu_time_total)),
        number("CPU time avg", lambda event: time(event.cpu_time)),
    ]
    if wanted.memory:
        columns += [
            number("CPU Mem", lambda event: format_bytes(event.cpu_memory_usage)),
            number("Self CPU Mem", lambda event: format_bytes(event.self_cpu_memory_usage)),
        ]
    columns.append(number("# of Calls", lambda event: str(event.count)))
    if any(event.input_shapes for event in events):
        columns.append(
            wide("Input Shapes", lambda event: shortened(str(event.input_shapes or []), wanted.shapes_width))
        )
    if any(event.stack for event in events):
        columns.append(
            wide(FRAMES, lambda event: shortened(event.stack[0], wanted.source_width) if event.stack else "", left=True)
        )
    if wanted.flops:
        unit, size = scale_flops(max((event.flops or 0) for event in events))
        columns.append(number(f"Total {unit}", lambda event: f"{event.flops / size:.3f}" if event.flops else "--"))
    return columns


def _further_frames(event: Any, columns: Sequence[_Column]) -> list[str]:
    """Return a line for each frame of the stack after the first, under the first."""
    if len(event.stack) < 2:
        return []
    at = next(i for i, column in enumerate(columns) if column.title == FRAMES)
    before = GAP.join(" " * column.width for column in columns[:at]) + GAP
    return [(before + shortened(frame, columns[at].width)).rstrip() for frame in event.stack[1:]]
