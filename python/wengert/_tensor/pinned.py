"""Pinned memory, which no device here needs: copies to one have read the source when they return."""

from __future__ import annotations

from typing import Any


def pin_memory(self: Any, device: Any = None) -> Any:
    """Return the tensor itself: all memory of the CPU is as good as pinned.

    Raises
    ------
    RuntimeError
        If it is a tensor of another device.
    """
    if not self.is_cpu:
        raise RuntimeError(f"cannot pin '{self.device}': only dense CPU tensors can be pinned; use x.cpu() before")
    return self


def is_pinned(self: Any, device: Any = None) -> bool:
    """Return False: no memory is locked for the sake of a device."""
    return False


METHODS = (pin_memory, is_pinned)
