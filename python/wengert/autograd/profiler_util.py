"""What profiles are made of; see `wengert.autograd._profiler`."""

from .profiler import EventList, FunctionEvent, FunctionEventAvg, Interval, _format_time

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "Interval", "_format_time"]
