"""Sizes that are given as one number for all dimensions of space, or one for each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def repeated(value: Any, n: int) -> tuple[Any, ...]:
    """Return `n` values: those of an iterable, or one value `n` times."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * n


def both_sides(value: Any, n: int) -> tuple[Any, ...]:
    """Return what is padded before and after each of `n` dimensions."""
    return repeated(value, 2 * n)
