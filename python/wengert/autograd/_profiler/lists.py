"""What can be asked of many events."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from .events import FunctionEventAvg
from .export import chrome_trace, write_stacks
from .table import Columns, format_table
from .timeline import timeline_page


class EventList(list):  # type: ignore[type-arg]
    """A list of events or of averages.

    Parameters
    ----------
    events : iterable
        `FunctionEvent` or `FunctionEventAvg` objects.
    profile_memory, with_flops : bool
        Whether tables have columns for memory and for operation counts.
    """

    supported_export_stacks_metrics = ("self_cpu_time_total",)

    def __init__(self, events: Iterable[Any] = (), *, profile_memory: bool = False, with_flops: bool = False) -> None:
        super().__init__(events)
        self._profile_memory, self._with_flops = profile_memory, with_flops

    def _build_tree(self) -> None:
        """Find each event's parent: of those on its thread that contain it, the innermost."""
        threads = defaultdict(list)
        for event in self:
            threads[event.thread].append(event)
        for events in threads.values():
            # At the same start the longer one is outside; of two with equal times, the one that was opened first.
            events.sort(key=lambda event: (event.time_range.start, -event.time_range.end, event.id))
            open_events: list[Any] = []
            for event in events:
                while open_events and not _contains(open_events[-1], event):
                    open_events.pop()
                if open_events:
                    open_events[-1].append_cpu_child(event)
                open_events.append(event)

    _populate_cpu_children = _build_tree  # its older name

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds in which anything ran."""
        return float(sum(event.self_cpu_time_total for event in self))

    def key_averages(
        self,
        group_by_input_shapes: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """Return one average for each name.

        Parameters
        ----------
        group_by_input_shapes : bool
            Whether calls with arguments of other shapes count as others.
        group_by_stack_n : int
            How many of the innermost Python frames must agree.
        """
        averages: dict[Any, FunctionEventAvg] = {}
        for event in self:
            key: tuple[Any, ...] = (event.key, event.is_user_annotation)
            if group_by_input_shapes:
                key += (str(event.input_shapes),)
            if group_by_stack_n > 0:
                key += tuple(event.stack[:group_by_stack_n])
            averages.setdefault(key, FunctionEventAvg()).add(event)
        for average in averages.values():
            average.stack = average.stack[:group_by_stack_n]
            if not group_by_input_shapes:
                average.input_shapes = ""
        return EventList(averages.values(), profile_memory=self._profile_memory, with_flops=self._with_flops)

    def total_average(self) -> FunctionEventAvg:
        """Return the sum over all events."""
        total = FunctionEventAvg()
        for event in self:
            total.add(event)
            total.key = None
        total.key = "Total"
        return total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """Return a table.

        Parameters
        ----------
        sort_by : str, optional
            An attribute of the events, such as ``"self_cpu_time_total"``; the largest first.
        row_limit : int
            How many rows at most.
        max_src_column_width, max_name_column_width, max_shapes_column_width : int
            How wide columns get.
        header : str, optional
            A line above.
        top_level_events_only : bool
            Whether events inside of others are left out.
        time_unit : {"s", "ms", "us"}, optional
            The unit of all times; by default each has the one that suits it.

        Raises
        ------
        AttributeError
            If the events have no attribute `sort_by`.
        """
        columns = Columns(
            name_width=max_name_column_width,
            shapes_width=max_shapes_column_width,
            source_width=max_src_column_width,
            memory=self._profile_memory,
            flops=self._with_flops,
            time_unit=time_unit,
        )
        rows = list(self)
        if sort_by is not None:
            rows.sort(key=lambda event: getattr(event, sort_by), reverse=True)
        if top_level_events_only:
            rows = [event for event in rows if event.cpu_parent is None]
        return format_table(
            rows[:row_limit], columns, self.self_cpu_time_total, header=header, top_level=top_level_events_only
        )

    def export_timeline(self, path: str, title: str = "Profile") -> None:
        """Write a page that shows what ran when, for any browser: one file, which needs no network.

        Parameters
        ----------
        path : str
            Where to write it.
        title : str, default "Profile"
            What stands at its top.
        """
        timeline_page(self, path, title)

    def export_chrome_trace(self, path: str) -> None:
        """Write a file for chrome://tracing or Perfetto."""
        chrome_trace(self, path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write Python stacks with the time spent in each, for flame graphs (needs ``with_stack``).

        Raises
        ------
        ValueError
            If `metric` is not among `supported_export_stacks_metrics`.
        """
        if metric not in self.supported_export_stacks_metrics:
            raise ValueError(f"metric should be one of: {self.supported_export_stacks_metrics}, got {metric!r}")
        write_stacks(self, path, metric)

    def __str__(self) -> str:
        return self.table()


def _contains(outer: Any, inner: Any) -> bool:
    return bool(inner.time_range.end <= outer.time_range.end and inner.time_range.start < outer.time_range.end) or (
        inner.time_range.start == inner.time_range.end == outer.time_range.end
    )
