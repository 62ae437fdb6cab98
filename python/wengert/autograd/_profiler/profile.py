"""`profile`: the context manager that measures, and what can be asked of it afterwards."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from wengert import _C

from .collect import collect
from .events import FunctionEventAvg
from .lists import EventList


class profile:
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
        self._running: Any = None
        self._function_events: EventList | None = None

    def __enter__(self) -> profile | None:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant; make a new one for each block")
        self.entered = True
        self._running = _C._profile_start(self.record_shapes, self.profile_memory, self.with_stack)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.enabled:
            return
        running, self._running = self._running, None
        self._function_events = collect(
            _C._profile_stop(running), with_flops=self.with_flops, profile_memory=self.profile_memory
        )

    @property
    def function_events(self) -> EventList:
        """All events, in the order in which they began."""
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

    def export_chrome_trace(self, path: str) -> None:
        """Write a file for chrome://tracing or Perfetto."""
        self.function_events.export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write Python stacks with the time spent in each; needs ``with_stack=True``."""
        if not self.with_stack:
            raise RuntimeError("export_stacks() requires with_stack=True")
        self.function_events.export_stacks(path, metric)

    def __str__(self) -> str:
        return "<unfinished profile>" if self._function_events is None else self.table()

    def __repr__(self) -> str:
        return "<unfinished profile>" if self._function_events is None else repr(self._function_events)


def _profiler_enabled() -> bool:
    """Return whether a profile runs on this thread."""
    return bool(_C._is_profiling())
