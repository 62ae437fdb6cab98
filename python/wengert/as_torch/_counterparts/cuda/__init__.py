"""``torch.cuda``, as on a machine without GPU."""

from __future__ import annotations

import contextlib
from typing import Any


def is_initialized() -> bool:
    """Return False."""
    return False


def is_current_stream_capturing() -> bool:
    """Return False."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return False."""
    return False


def empty_cache() -> None:
    """Do nothing."""


def max_memory_allocated(device: Any = None) -> int:
    """Return 0."""
    return 0


memory_allocated = memory_reserved = max_memory_reserved = max_memory_allocated


def reset_peak_memory_stats(device: Any = None) -> None:
    """Do nothing."""


def device(device: Any) -> contextlib.AbstractContextManager[None]:
    """Return a context that changes nothing."""
    return contextlib.nullcontext()
