"""Times, shares and bytes as text."""

from __future__ import annotations


def format_time(microseconds: float) -> str:
    """Return a time in the unit that suits it: ``1.500ms``."""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3f}{unit}"
    return f"{microseconds:.3f}us"


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
    for unit, size in (("TFLOPs", 1e12), ("GFLOPs", 1e9), ("MFLOPs", 1e6), ("KFLOPs", 1e3)):
        if largest >= size:
            return unit, size
    return "FLOPs", 1.0
