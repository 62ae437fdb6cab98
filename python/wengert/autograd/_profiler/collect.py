"""From what the core wrote down to events."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any

from .events import FunctionEvent
from .flops import count_flops
from .lists import EventList


class Kind(enum.IntEnum):
    """As in src/python/watch/profile.h."""

    OPERATION = 0
    EVALUATION = 1
    BODY = 2
    STRETCH = 3
    MEMORY = 4


SCOPES = {Kind.OPERATION: 0, Kind.EVALUATION: 0, Kind.BODY: 1, Kind.STRETCH: 7, Kind.MEMORY: 0}


def collect(raw: Iterable[tuple[Any, ...]], *, with_flops: bool, profile_memory: bool) -> EventList:
    """Return the events of a profile, in the order in which they began, with their tree."""
    events = EventList(profile_memory=profile_memory, with_flops=with_flops)
    origin = None
    for kind, name, start, end, thread, fwd_thread, sequence_nr, memory, shapes, concrete, stack in raw:
        origin = start if origin is None else origin
        event = FunctionEvent(
            len(events) + 1,
            name,
            thread,
            (start - origin) / 1000,
            (end - origin) / 1000,
            fwd_thread=fwd_thread,
            input_shapes=shapes or [],
            concrete_inputs=concrete or [],
            stack=_frames(stack),
            scope=SCOPES[kind],
            cpu_memory_usage=memory if profile_memory else 0,
            sequence_nr=sequence_nr,
            flops=count_flops(name, shapes, concrete) if with_flops and shapes else 0,
            is_user_annotation=kind == Kind.STRETCH,
        )
        events.append(event)
    events._build_tree()
    return events


def _frames(stack: Any) -> list[str]:
    """Return ``file(line): function`` of each frame, the innermost first."""
    return [f"{file}({line}): {function}" for file, line, function, _ in reversed(stack or ())]
