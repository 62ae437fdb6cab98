"""PyTorch's newer names of the profiler; the profiler itself is `wengert.autograd.profiler`."""

from .autograd._profiler.scheduled import ProfilerAction, ProfilerActivity, profile, schedule, tensorboard_trace_handler
from .autograd.profiler import kineto_available, record_function

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "tensorboard_trace_handler",
]
