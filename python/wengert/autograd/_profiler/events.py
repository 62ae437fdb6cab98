"""One event, and the average of many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, InitVar, dataclass, field
from typing import Any, Self

from .units import format_time


class Interval:
    """A stretch of time, in microseconds.

    Attributes
    ----------
    start, end : float
        Its bounds.
    """

    def __init__(self, start: float, end: float) -> None:
        self.start, self.end = start, end

    def elapsed_us(self) -> float:
        """Return its length."""
        return self.end - self.start

    def __repr__(self) -> str:
        return f"Interval({self.start}, {self.end})"


class _Measures:
    """What events and averages share. Times are in microseconds; no device but the CPU takes any."""

    count: int
    cpu_time_total: Any
    self_cpu_time_total: Any

    device_time = device_time_total = self_device_time_total = 0.0
    cuda_time = cuda_time_total = 0.0
    device_memory_usage = self_device_memory_usage = 0
    device_type = "CPU"
    use_device: str | None = None
    is_async = is_remote = is_legacy = False
    node_id = -1
    overload_name = ""

    @property
    def cpu_time(self) -> float:
        return float(self.cpu_time_total / self.count) if self.count else 0.0

    @property
    def cpu_time_str(self) -> str:
        return format_time(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        return format_time(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        return format_time(self.self_cpu_time_total)


@dataclass(eq=False, repr=False)
class FunctionEvent(_Measures):
    """One call of an operation, one evaluation of a node, or one named stretch of the program.

    Attributes
    ----------
    name : str
        ``aten::mul``, ``MulBackward0``, ``autograd::engine::evaluate_function: MulBackward0``, or the user's name.
    time_range : Interval
        When it ran.
    thread, fwd_thread : int
        The thread it ran on, and for a node that on which the forward operation did.
    sequence_nr : int
        The same for a forward operation and the node that it made; -1 where there is no node.
    cpu_children, cpu_parent : list of FunctionEvent, FunctionEvent or None
        The events directly inside and outside of it, on its thread.
    input_shapes, concrete_inputs : list
        With ``record_shapes``: the shape of each tensor argument, the value of each other one.
    stack : list of str
        With ``with_stack``: the Python frames it was called from, the innermost first.
    cpu_memory_usage : int
        With ``profile_memory``: bytes taken less bytes given back.
    flops : int or None
        With ``with_flops``: arithmetic operations, for products, convolutions, sums and products of elements.
    """

    id: int
    name: str
    thread: int
    start_us: InitVar[float]
    end_us: InitVar[float]
    _: KW_ONLY
    node_id: int = -1
    fwd_thread: int = 0
    input_shapes: list[Any] = field(default_factory=list)
    concrete_inputs: list[Any] = field(default_factory=list)
    stack: list[str] = field(default_factory=list)
    scope: int = 0
    cpu_memory_usage: int = 0
    sequence_nr: int = -1
    flops: int | None = None
    is_user_annotation: bool = False
    cpu_children: list[FunctionEvent] = field(default_factory=list, init=False)
    cpu_parent: FunctionEvent | None = field(default=None, init=False)
    kernels: list[Any] = field(default_factory=list, init=False)

    count = 1

    def __post_init__(self, start_us: float, end_us: float) -> None:
        self.key = self.trace_name = self.name
        self.time_range = Interval(start_us, end_us)

    def append_cpu_child(self, child: FunctionEvent) -> None:
        """Put an event inside this one."""
        self.cpu_children.append(child)
        child.cpu_parent = self

    @property
    def cpu_time_total(self) -> float:
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent id={self.id} name={self.name} thread={self.thread} cpu_time={self.cpu_time_str} "
            f"start_us={self.time_range.start} end_us={self.time_range.end} "
            f"cpu_children={[child.id for child in self.cpu_children]} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage} seq_nr={self.sequence_nr}>"
        )


class FunctionEventAvg(_Measures):
    """The sum over events of one name (and shape, or stack); ``cpu_time`` is the average of one."""

    def __init__(self) -> None:
        self.key: str | None = None
        self.count = 0
        self.cpu_time_total = 0.0
        self.self_cpu_time_total = 0.0
        self.cpu_memory_usage = 0
        self.self_cpu_memory_usage = 0
        self.flops = 0
        self.input_shapes: Any = None
        self.stack: Sequence[str] = []
        self.scope: int | None = None
        self.sequence_nr = -1
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None
        self.is_user_annotation = False

    def add(self, other: Any) -> Self:
        """Add an event, or an average of the same name."""
        if self.key is None:
            self.key = other.key
            self.input_shapes, self.stack, self.scope = other.input_shapes, other.stack, other.scope
            self.cpu_parent = other.cpu_parent
            self.is_user_annotation = other.is_user_annotation
        self.count += other.count
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        self.flops += other.flops or 0
        return self

    __iadd__ = add

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str} count={self.count} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage}>"
        )
