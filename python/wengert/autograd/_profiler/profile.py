"""`profile`: the context manager that measures, and what can be asked of it afterwards."""

from __future__ import annotations

from typing import Any

from wengert import _C

from .._modes.context import Undone
from .collect import collect
from .events import FunctionEventAvg
from .lists import EventList


class profile(Undone):
    """Measure what runs in a block: operations, nodes of backward passes, and stretches named by `record_function`.

    Parameters
    ----------
    enabled : bool, default True
        False makes the block run unmeasured.
    use_device : str, optional
        Accepted; only the CPU is measured.
    record_shapes : bool, default False
        Whether events know the shapes of their arguments.
    with_flops : bool, default False
        Whether arithmetic operations are counted for products, convolutions, sums and products of elements.
    profile_memory : bool, default False
        Whether events know how much memory they took and gave back.
    with_stack : bool, default False
        Whether events know the Python frames they were called from.
    use_cpu : bool, default True
        Whether the CPU is measured; it must be.

    Raises
    ------
    RuntimeError
        If it is entered twice.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.autograd.profiler import profile
    >>> x = wg.ones(3, requires_grad=True)
    >>> with profile(record_shapes=True) as prof:
    ...     y = (x * 2).exp()
    >>> [(event.name, event.input_shapes) for event in prof.function_events]
    [('aten::mul', [[3], []]), ('aten::exp', [[3]])]
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        **other_options: Any,
    ) -> None:
        if not use_cpu:
            raise ValueError("[profile] only the CPU can be measured, but use_cpu=False was given")
        self.enabled = enabled
        self.use_device = use_device
        self.record_shapes = record_shapes or with_flops
        self.with_flops = with_flops
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.entered = False
        self._measurement = _C._profile_make(self.record_shapes, profile_memory, with_stack)
        self._recorded: Any = None  # what it found, as soon as it has ended
        self._function_events: EventList | None = None

    def _open(self) -> profile | None:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant; make a new one for each block")
        self.entered = True
        self.measure_until(self)
        return self

    def measure_until(self, context: Undone) -> None:
        """Measure until `context` ends or `stop` is called."""
        context.undo(_C._profile_stop, self._measurement, self)
        _C._profile_start(self._measurement)

    def stop(self) -> None:
        """End the measurement, if it runs."""
        _C._profile_stop(self._measurement, self)

    @property
    def function_events(self) -> EventList:
        """All events, in the order in which they began."""
        if self._recorded is not None:
            self._function_events = collect(
                self._recorded, with_flops=self.with_flops, profile_memory=self.profile_memory
            )
            self._recorded = None
        if self._function_events is None:
            raise RuntimeError("Profiler didn't finish running; leave its block first")
        return self._function_events

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Return the averages by name; see `EventList.key_averages`."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:
        """Return all events as a table; see `EventList.table`."""
        return self.function_events.table(
            sort_by,
            row_limit,
            max_src_column_width,
            max_name_column_width,
            max_shapes_column_width,
            header,
            top_level_events_only,
        )

    def total_average(self) -> FunctionEventAvg:
        """Return the sum over all events."""
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds in which anything ran."""
        return self.function_events.self_cpu_time_total

    def export_timeline(self, path: str, title: str = "Profile") -> None:
        """Write a page that shows what ran when, for any browser; see `EventList.export_timeline`."""
        self.function_events.export_timeline(path, title)

    def export_chrome_trace(self, path: str) -> None:
        """Write a file for chrome://tracing or Perfetto."""
        self.function_events.export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write Python stacks with the time spent in each; needs ``with_stack=True``."""
        if not self.with_stack:
            raise RuntimeError("export_stacks() requires with_stack=True")
        self.function_events.export_stacks(path, metric)

    def __str__(self) -> str:
        return self.table() if self._has_ended else "<unfinished profile>"

    def __repr__(self) -> str:
        return repr(self.function_events) if self._has_ended else "<unfinished profile>"

    @property
    def _has_ended(self) -> bool:
        return self._recorded is not None or self._function_events is not None


def _profiler_enabled() -> bool:
    """Return whether a profile runs on this thread."""
    return bool(_C._is_profiling())
