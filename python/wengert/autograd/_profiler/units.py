"""Times, shares and bytes as text."""

from __future__ import annotations

TIMES = {"s": 1e6, "ms": 1e3, "us": 1.0}


def format_time(microseconds: float) -> str:
    """Return a time in the unit that suits it: ``1.500ms``."""
    unit = next((unit for unit, size in TIMES.items() if microseconds >= size), "us")
    return f"{microseconds / TIMES[unit]:.3f}{unit}"


def format_share(part: float, whole: float) -> str:
    """Return a part of a whole in percent."""
    return f"{100 * part / whole:.2f}%" if whole else "NaN"


def format_bytes(count: int) -> str:
    """Return an amount of memory: ``2.00 KB``."""
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if abs(count) >= size:
            return f"{count / size:.2f} {unit}"
    return f"{count} B"


def scale_flops(largest: float) -> tuple[str, float]:
    """Return the unit for a column of operation counts, and its size."""
    units = (("TFLOPs", 1e12), ("GFLOPs", 1e9), ("MFLOPs", 1e6), ("KFLOPs", 1e3))
    return next((unit for unit in units if largest >= unit[1]), ("FLOPs", 1.0))
