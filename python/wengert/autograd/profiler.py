"""Where time and memory go; see `wengert.autograd._profiler`."""

from ._profiler import (
    EventList,
    FunctionEvent,
    FunctionEventAvg,
    Interval,
    _format_time,
    _profiler_enabled,
    emit_itt,
    emit_nvtx,
    kineto_available,
    profile,
    record_function,
)

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
