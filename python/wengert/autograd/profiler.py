"""Where time and memory go; see `wengert.autograd._profiler`."""

from ._profiler.devices import emit_itt, emit_nvtx, kineto_available
from ._profiler.events import FunctionEvent, FunctionEventAvg, Interval
from ._profiler.lists import EventList
from ._profiler.profile import _profiler_enabled, profile
from ._profiler.record import record_function
from ._profiler.units import format_time as _format_time

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
