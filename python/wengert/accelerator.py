"""The accelerator of this process, whichever it is: names of `torch.accelerator`. Here it is ``sim``."""

from __future__ import annotations

from . import sim
from ._C import device
from .sim import (
    current_stream,
    device_count,
    empty_cache,
    is_available,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_stats,
    reset_peak_memory_stats,
    set_stream,
    synchronize,
)

__all__ = [
    "current_accelerator", "current_device_index", "current_stream", "device_count", "device_index", "empty_cache",
    "get_memory_info", "is_available", "max_memory_allocated", "max_memory_reserved", "memory_allocated",
    "memory_reserved", "memory_stats", "reset_peak_memory_stats", "set_device_index", "set_stream", "synchronize",
]  # fmt: skip

current_device_index = sim.current_device
set_device_index = sim.set_device
get_memory_info = sim.mem_get_info


def current_accelerator(check_available: bool = False) -> device | None:
    """Return the type of the accelerator, without a number.

    Parameters
    ----------
    check_available : bool, default False
        Whether to return None where there is no device of the type.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.accelerator.current_accelerator().type
    'sim'
    """
    return None if check_available and not is_available() else device("sim")


class device_index(sim.device):
    """Let the accelerator be one of its devices for the length of a block; None changes nothing."""

    def __init__(self, device: int | None) -> None:
        super().__init__(device)
