"""Events as files for other programs."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def chrome_trace(events: Iterable[Any], path: str) -> None:
    """Write the trace format of chrome://tracing; forward operations are linked to their nodes by arrows."""
    process = os.getpid()
    entries: list[dict[str, Any]] = []
    forward: dict[tuple[int, int], Any] = {}
    for event in events:
        place = {"pid": process, "tid": event.thread}
        entries.append(
            {
                "ph": "X",
                "cat": "user_annotation" if event.is_user_annotation else "cpu_op",
                "name": event.name,
                "ts": event.time_range.start,
                "dur": event.time_range.elapsed_us(),
                "args": {
                    "External id": event.id,
                    "Sequence number": event.sequence_nr,
                    "Fwd thread id": event.fwd_thread,
                    "Input Dims": event.input_shapes,
                    "Concrete Inputs": ["" if value is None else str(value) for value in event.concrete_inputs],
                    "Call stack": ";".join(event.stack),
                    "Bytes": event.cpu_memory_usage,
                },
                **place,
            }
        )
        if event.sequence_nr < 0:
            continue
        if not event.fwd_thread:
            forward[event.thread, event.sequence_nr] = event  # the innermost: the one that made the node
        elif event.scope == 1 and (source := forward.get((event.fwd_thread, event.sequence_nr))):
            link = {"cat": "fwdbwd", "name": "fwdbwd", "id": event.id, "pid": process}
            entries.append({"ph": "s", "ts": source.time_range.start, "tid": source.thread, **link})
            entries.append({"ph": "f", "bp": "e", "ts": event.time_range.start, "tid": event.thread, **link})
    trace = {"schemaVersion": 1, "displayTimeUnit": "ms", "traceEvents": entries, "traceName": str(path)}
    Path(path).write_text(json.dumps(trace))


def write_stacks(events: Iterable[Any], path: str, metric: str) -> None:
    """Write a line for each stack: its frames from the outside in, separated by semicolons, and whole microseconds."""
    spaces = str.maketrans(" ;\t\n", "____")
    times: Counter[str] = Counter()
    for event in events:
        if event.stack:
            times[";".join(frame.translate(spaces) for frame in reversed(event.stack))] += int(getattr(event, metric))
    Path(path).write_text("".join(f"{stack} {time}\n" for stack, time in times.items() if time > 0))
