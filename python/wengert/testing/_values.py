"""Comparing two arrays of one shape, and saying where they differ most."""

from __future__ import annotations

from typing import Any

import numpy as np


def compare_arrays(actual: np.ndarray, expected: np.ndarray, rtol: float, atol: float, equal_nan: bool) -> str | None:
    """Return None if ``|actual - expected| <= atol + rtol * |expected|`` everywhere, and what is wrong otherwise."""
    actual, expected = _widen(actual), _widen(expected)
    if actual.ndim == 0:
        return compare_numbers(actual.item(), expected.item(), rtol, atol, equal_nan)
    close = np.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan)
    if _exact(actual, expected) and rtol == 0 and atol == 0:
        close = actual == expected  # isclose computes in float64, which rounds large integers
    if close.all():
        return None
    wrong = int(close.size - np.count_nonzero(close))
    with np.errstate(all="ignore"):
        difference = np.abs(actual - expected)
        relative = difference / np.abs(expected)
    # What is close, such as two infinities, is no candidate for the greatest difference.
    difference = np.where(close, 0, difference)
    relative = np.where(close, 0, relative)
    exactly = rtol == 0 and atol == 0
    lines = [
        f"Tensor-likes are not {'equal' if exactly else 'close'}!",
        "",
        f"Mismatched elements: {wrong} / {close.size} ({wrong / close.size:.1%})",
        f"Greatest absolute difference: {_greatest(difference)}" + ("" if exactly else f" (up to {atol} allowed)"),
        f"Greatest relative difference: {_greatest(relative)}" + ("" if exactly else f" (up to {rtol} allowed)"),
    ]
    return "\n".join(lines)


def compare_numbers(actual: Any, expected: Any, rtol: float, atol: float, equal_nan: bool) -> str | None:
    """Compare two numbers of Python; otherwise as `compare_arrays`."""
    if actual == expected or bool(np.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan)):
        return None
    exactly = rtol == 0 and atol == 0
    difference = abs(actual - expected)
    relative = float("inf") if expected == 0 else difference / abs(expected)
    allowed = ("", "") if exactly else (f" (up to {atol} allowed)", f" (up to {rtol} allowed)")
    return (
        f"Scalars are not {'equal' if exactly else 'close'}!\n\nExpected {expected} but got {actual}.\n"
        f"Absolute difference: {difference}{allowed[0]}\nRelative difference: {relative}{allowed[1]}"
    )


def _greatest(values: np.ndarray) -> str:
    index = np.unravel_index(np.argmax(values), values.shape)  # argmax takes the first NaN, which is what to show
    return f"{values[index]} at index {tuple(int(i) for i in index)}"


def _widen(values: np.ndarray) -> np.ndarray:
    """Return an array whose differences neither wrap around nor lose digits."""
    if values.dtype == bool or np.issubdtype(values.dtype, np.integer):
        return values.astype(object if values.dtype == np.uint64 else np.int64)
    return values.astype(np.complex128 if np.iscomplexobj(values) else np.float64)


def _exact(actual: np.ndarray, expected: np.ndarray) -> bool:
    return all(values.dtype == object or np.issubdtype(values.dtype, np.integer) for values in (actual, expected))
