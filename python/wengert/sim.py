"""Devices made of threads: ``sim:0``, ``sim:1``. Names and meanings are those of `torch.cuda`.

A sim device is slow, and behaves as an accelerator does: the host cannot touch its memory, work is queued on streams
and done later, and nothing but events orders streams. So whether a program orders its work is found where there is no
hardware: `check_races` reports accesses that nothing orders, `set_delays` lets streams be late.

    >>> import wengert as wg
    >>> x = wg.ones(3, device="sim", requires_grad=True)
    >>> side = wg.sim.Stream()
    >>> side.wait_stream(wg.sim.current_stream())
    >>> with wg.sim.stream(side):
    ...     y = (x * x).sum()
    >>> wg.sim.current_stream().wait_stream(side)
    >>> y.record_stream(wg.sim.current_stream())
    >>> y.backward()
    >>> x.grad.cpu()
    tensor([2., 2., 2.])
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from . import _C
from ._C import Event, OutOfMemoryError, Stream, manual_seed
from .autograd._modes.context import Undone

__all__ = [
    "DeviceProperties", "Event", "OutOfMemoryError", "Stream", "StreamContext", "check_races", "current_device",
    "current_stream", "default_stream", "device", "device_count", "device_of", "empty_cache", "forget_races",
    "get_device_name", "get_device_properties", "init", "is_available", "is_initialized", "lose_wait", "manual_seed",
    "manual_seed_all", "max_memory_allocated", "max_memory_reserved", "mem_get_info", "memory_allocated",
    "memory_reserved", "memory_stats", "race_check", "races", "reset_peak_memory_stats", "set_delays", "set_device",
    "set_per_process_memory_fraction", "set_stream", "stream", "synchronize", "waits",
]  # fmt: skip

_core: Any = _C._sim
manual_seed_all = manual_seed


# --- Devices


def device_count() -> int:
    """Return the number of devices: what ``WENGERT_SIM_DEVICES`` says, or 2."""
    return int(_core._device_count())


def is_available() -> bool:
    """Return whether there is a device."""
    return device_count() > 0


def init() -> None:
    """Do nothing: devices begin with their first use."""


def is_initialized() -> bool:
    """Return True: there is nothing to initialise."""
    return True


def current_device() -> int:
    """Return the number of the device that ``"sim"`` means on this thread."""
    return int(_core._current_device())


def set_device(device: Any) -> None:
    """Let ``"sim"`` mean this device on this thread."""
    _core._set_device(device)


class device(Undone):
    """Let ``"sim"`` mean a device for the length of a block.

    Parameters
    ----------
    device : wengert.device, str, int or None
        The device; None changes nothing.

    Examples
    --------
    >>> import wengert as wg
    >>> with wg.sim.device(1):
    ...     wg.zeros(1, device="sim").device
    device(type='sim', index=1)
    """

    def __init__(self, device: Any) -> None:
        self.device = device

    def _open(self) -> None:
        if self.device is not None:
            self.undo(set_device, current_device())
            set_device(self.device)


class device_of(device):
    """Let ``"sim"`` mean the device of a tensor for the length of a block; one of the CPU changes nothing."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.device if obj.device.type == "sim" else None)


class DeviceProperties(NamedTuple):
    """What a device is: its name, memory in bytes, and how much it does at once."""

    name: str
    total_memory: int
    multi_processor_count: int


def get_device_properties(device: Any = None) -> DeviceProperties:
    """Return what a device is."""
    return DeviceProperties("Wengert sim", _core._memory(device)["total"], 1)


def get_device_name(device: Any = None) -> str:
    """Return the name of a device."""
    return get_device_properties(device).name


def synchronize(device: Any = None) -> None:
    """Wait until all work of a device is done; raise what it has raised.

    Parameters
    ----------
    device : wengert.device, str, int or None
        The device; None for the current one.
    """
    _core._synchronize(device)


# --- Streams


def current_stream(device: Any = None) -> Stream:
    """Return the stream that gets what this thread asks of a device."""
    stream: Stream = _core._current_stream(device)
    return stream


def default_stream(device: Any = None) -> Stream:
    """Return the stream that is current where no other one was set. It waits for no other, and no other for it."""
    stream: Stream = _core._default_stream(device)
    return stream


def set_stream(stream: Stream | None) -> None:
    """Make a stream current on this thread, and its device; None changes nothing."""
    if stream is not None:
        _core._set_stream(stream)


class StreamContext(Undone):
    """Make a stream and its device current for the length of a block; None changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def _open(self) -> None:
        if self.stream is not None:
            self.undo(set_device, current_device())
            with device(self.stream.device):
                self.undo(set_stream, current_stream())
            set_stream(self.stream)


def stream(stream: Stream | None) -> StreamContext:
    """Return a context in which a stream is current."""
    return StreamContext(stream)


def set_delays(seed: int, max_microseconds: int) -> None:
    """Let streams be late: before each piece of work each sleeps for a random time.

    Parameters
    ----------
    seed : int
        What the times are drawn from, for each stream in the same way whatever others do.
    max_microseconds : int
        The longest time; 0 for none.
    """
    _core._set_delays(seed, max_microseconds)


# --- Faults


def lose_wait(n: int | str | None) -> None:
    """Lose a wait, to see whether somebody finds that it is missing.

    Counted are the waits of streams for events that order something new, from this call on.

    Parameters
    ----------
    n : int, "all" or None
        The number of the wait that is lost, 0 for the next one; None for none.
    """
    _core._lose_wait(-1 if n is None else -2 if n == "all" else n)


def waits() -> int:
    """Return how many waits there were since `lose_wait` was called."""
    return int(_core._waits())


# --- The checker


class check_races(Undone):
    """Say what happens when two pieces of work access one memory, one of them writes, and nothing orders them.

    It is found when the second is asked for, in every run, whether or not it goes wrong. As a context manager, for the
    length of the block.

    Parameters
    ----------
    mode : {'raise', 'collect', None}
        ``'raise'``: a RuntimeError that names both; ``'collect'``: it is kept for `races`; None: nothing is looked for.
        At first ``'raise'`` where the environment says ``WENGERT_SIM_CHECK=1``, else None.
    """

    def __init__(self, mode: str | None) -> None:
        self._before, self._mode = race_check(), mode
        _core._check_races(mode)

    def _open(self) -> None:
        self.undo(_core._check_races, self._before)
        _core._check_races(self._mode)


def race_check() -> str | None:
    """Return what `check_races` was told last."""
    mode: str | None = _core._race_mode()
    return mode


def races() -> list[str]:
    """Return the races that were found since the beginning, or since `forget_races`."""
    return list(_core._races())


def forget_races() -> None:
    """Empty the list of `races`."""
    _core._forget_races()


# --- Memory


def memory_stats(device: Any = None) -> dict[str, int]:
    """Return counts of a device's memory, in bytes.

    ``allocated_bytes`` is the memory of tensors; ``active_bytes`` includes that of dead ones which streams still use;
    ``reserved_bytes`` includes what is kept for reuse. Of each there are ``all.current``, ``all.peak``,
    ``all.allocated`` and ``all.freed``.
    """
    now = _core._memory(device)
    out = {
        f"{kind}.all.{name}": value
        for kind in ("allocated_bytes", "active_bytes", "reserved_bytes")
        for name, value in zip(("current", "peak", "allocated", "freed"), now[kind], strict=True)
    }
    return out | {name: now[name] for name in ("num_alloc_retries", "num_ooms")}


def memory_allocated(device: Any = None) -> int:
    """Return the bytes of tensors, each rounded up to 512."""
    return memory_stats(device)["allocated_bytes.all.current"]


def max_memory_allocated(device: Any = None) -> int:
    """Return the most bytes of tensors at one time, since the beginning or `reset_peak_memory_stats`."""
    return memory_stats(device)["allocated_bytes.all.peak"]


def memory_reserved(device: Any = None) -> int:
    """Return the bytes of tensors, and those that are kept for reuse."""
    return memory_stats(device)["reserved_bytes.all.current"]


def max_memory_reserved(device: Any = None) -> int:
    """Return the most bytes that were reserved at one time."""
    return memory_stats(device)["reserved_bytes.all.peak"]


def reset_peak_memory_stats(device: Any = None) -> None:
    """Begin anew with the peaks."""
    _core._reset_peak(device)


def empty_cache() -> None:
    """Give back all memory that no tensor has. Waits for the devices."""
    _core._empty_cache()


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Return the bytes that are free and those that there are."""
    now = _core._memory(device)
    return now["limit"] - now["reserved_bytes"][0], now["total"]


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Limit the memory of a device, so that it ends earlier.

    Parameters
    ----------
    fraction : float
        The part of all memory that may be reserved, from 0 to 1.
    device : wengert.device, str, int or None
        The device; None for the current one.
    """
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    _core._set_memory_limit(device, int(fraction * _core._memory(device)["total"]))


def __dir__() -> Iterable[str]:
    return __all__
