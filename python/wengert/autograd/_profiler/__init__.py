"""The profiler: what ran when, for how long, and with how much memory.

The core writes down events while a profile is active (src/python/watch/profile.h); nothing is measured, and nothing
costs, while none is. `collect` turns what it wrote into `FunctionEvent` objects, `events` has those and the averages,
`lists` what can be asked of many, `table` and `export` how they are shown. Start with `profile`.
"""

from .devices import emit_itt, emit_nvtx, kineto_available
from .events import FunctionEvent, FunctionEventAvg, Interval
from .lists import EventList
from .profile import _profiler_enabled, profile
from .record import record_function
from .units import format_time as _format_time

__all__ = [
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "Interval",
    "_format_time",
    "_profiler_enabled",
    "emit_itt",
    "emit_nvtx",
    "kineto_available",
    "profile",
    "record_function",
]
