"""The profiler with steps: it can wait, warm up, measure some steps of a loop, and hand over what it found."""

from __future__ import annotations

import enum
import os
import time
from collections.abc import Callable, Iterable
from typing import Any, Self

from .._modes.context import Undone
from .lists import EventList
from .profile import profile as measure


class ProfilerActivity(enum.Enum):
    """What can be measured; only CPU is."""

    CPU = 0
    CUDA = 1


class ProfilerAction(enum.Enum):
    """What to do in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0
) -> Callable[[int], ProfilerAction]:
    """Return a function from the number of a step to what is done in it.

    Parameters
    ----------
    wait, warmup, active : int
        How many steps of a cycle are passed over, measured and dropped, measured and kept.
    repeat : int
        After how many cycles to stop; 0 means never.
    skip_first : int
        How many steps go before the first cycle.

    Examples
    --------
    >>> from wengert.profiler import schedule
    >>> plan = schedule(wait=1, warmup=0, active=2)
    >>> [plan(step).name for step in range(4)]
    ['NONE', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise ValueError(
            "[schedule] wait, warmup, repeat and skip_first must not be negative and active must be positive, got "
            f"wait={wait}, warmup={warmup}, active={active}, repeat={repeat}, skip_first={skip_first}"
        )
    length = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < skip_first:
            return ProfilerAction.NONE
        cycle, step = divmod(step - skip_first, length)
        if (repeat and cycle >= repeat) or step < wait:
            return ProfilerAction.NONE
        if step < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if step < length - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def _always(step: int) -> ProfilerAction:
    return ProfilerAction.RECORD


class profile(Undone):
    """Measure a block, or chosen steps of a loop in it.

    Parameters
    ----------
    activities : iterable of ProfilerActivity, optional
        Only the CPU is measured.
    schedule : callable, optional
        From the number of a step to a `ProfilerAction`; see `schedule`. By default everything is measured.
    on_trace_ready : callable, optional
        Called with this object whenever measured steps are complete.
    record_shapes, profile_memory, with_stack, with_flops : bool
        As in `wengert.autograd.profiler.profile`.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.profiler import profile
    >>> with profile() as prof:
    ...     y = wg.ones(3).exp()
    >>> [event.name for event in prof.events()]
    ['aten::ones', 'aten::exp']
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[Any], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        **other_options: Any,
    ) -> None:
        self._plan = schedule or _always
        self._on_trace_ready = on_trace_ready
        self._options: dict[str, Any] = {
            "record_shapes": record_shapes,
            "profile_memory": profile_memory,
            "with_stack": with_stack,
            "with_flops": with_flops,
        }
        self.step_num = 0
        self._measuring: measure | None = None
        self.profiler: measure | None = None  # the last one that ended

    def start(self) -> None:
        """Begin with the first step."""
        self._enter(self._plan(self.step_num))

    def stop(self) -> None:
        """End the last step."""
        was_measuring = self._measuring is not None
        self._leave()
        if was_measuring and self._on_trace_ready:
            self._on_trace_ready(self)

    def step(self) -> None:
        """End a step and begin the next."""
        before = self._plan(self.step_num)
        self.step_num += 1
        after = self._plan(self.step_num)
        if before is ProfilerAction.RECORD_AND_SAVE:
            self._leave()
            if self._on_trace_ready:
                self._on_trace_ready(self)
        elif before is ProfilerAction.WARMUP or after in (ProfilerAction.NONE, ProfilerAction.WARMUP):
            self._leave()
        self._enter(after)

    def _enter(self, action: ProfilerAction) -> None:
        if self._measuring is None and action is not ProfilerAction.NONE:
            self._measuring = measure(**self._options)
            self._measuring.measure_until(self)

    def _leave(self) -> None:
        if self._measuring is not None:
            self._measuring.stop()
            self.profiler, self._measuring = self._measuring, None

    def _open(self) -> Self:
        self.undo(self.stop)  # last: before it, what is being measured ends
        self.start()
        return self

    def _finished(self) -> measure:
        if self.profiler is None:
            raise RuntimeError("Profiler didn't finish running; no measured step is complete yet")
        return self.profiler

    def events(self) -> EventList:
        """Return the events of the last measured steps."""
        return self._finished().function_events

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> EventList:
        """Return the averages by name; see `EventList.key_averages`."""
        return self._finished().key_averages(group_by_input_shape, group_by_stack_n)

    def export_timeline(self, path: str, title: str = "Profile") -> None:
        """Write a page that shows what ran when, for any browser; see `EventList.export_timeline`."""
        self._finished().export_timeline(path, title)

    def export_chrome_trace(self, path: str) -> None:
        """Write a file for chrome://tracing or Perfetto."""
        self._finished().export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write Python stacks with the time spent in each; needs ``with_stack=True``."""
        self._finished().export_stacks(path, metric)


def tensorboard_trace_handler(dir_name: str, worker_name: str | None = None) -> Callable[[profile], None]:
    """Return an `on_trace_ready` that writes each trace to its own file in a folder."""

    def write(prof: profile) -> None:
        os.makedirs(dir_name, exist_ok=True)
        name = worker_name or f"worker_{os.getpid()}"
        prof.export_chrome_trace(os.path.join(dir_name, f"{name}.{time.time_ns()}.pt.trace.json"))

    return write
