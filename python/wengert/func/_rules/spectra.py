"""Fourier transforms over several dimensions: sizes without dimensions are those of the last ones."""

from __future__ import annotations

from typing import Any

from .._batch import Batch
from .._operations import Operation
from ._registry import rule
from .dims import dims


@rule
def spectrum(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """Name the dimensions, and shift them."""
    sizes = values.get("s")
    if sizes is not None and values.get("dim") is None:
        values = {**values, "dim": list(range(-len(sizes), 0))}
    return dims(op, values, batch)
