"""Methods for what is not there: programs get the reason and the remedy, instead of AttributeError."""

from __future__ import annotations

from typing import Any, NoReturn


def cuda(self: Any, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> NoReturn:
    """Raise RuntimeError: there is no CUDA device."""
    raise RuntimeError(
        "[cuda] Wengert was built without CUDA; devices are the CPU, meta and sim (wengert.sim): leave the call out."
    )


METHODS = (cuda,)
