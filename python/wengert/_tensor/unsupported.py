"""Methods for what is not there: programs get the reason and the remedy, instead of AttributeError."""

from __future__ import annotations

from typing import Any, NoReturn


def cuda(self: Any, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> NoReturn:
    """Raise RuntimeError: there is no CUDA device."""
    raise RuntimeError(
        "[cuda] Wengert was built without CUDA; devices are the CPU, meta and sim (wengert.sim): leave the call out."
    )


def half(self: Any, memory_format: Any = None) -> NoReturn:
    """Raise RuntimeError: there is no float16."""
    raise RuntimeError("[half] float16 is not supported; use float32, by .float(), or float64, by .double().")


def bfloat16(self: Any, memory_format: Any = None) -> NoReturn:
    """Raise RuntimeError: there is no bfloat16."""
    raise RuntimeError("[bfloat16] bfloat16 is not supported; use float32, by .float(), or float64, by .double().")


METHODS = (cuda, half, bfloat16)
