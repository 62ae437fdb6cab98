"""Batching rules, by kind of operation.

``RULES`` holds the rules that rows name: functions of an operation, its arguments by name, and the batch.
``HANDLERS`` holds the rules of functions that are no rows of the table: functions of the Python function that was
called, its arguments as they came, and the batch. Both return samples (wrapped results).
"""

from ._registry import HANDLERS, RULES

__all__ = ["HANDLERS", "RULES"]

from . import (  # noqa: F401
    conversion,
    convolution,
    dims,
    elementwise,
    folding,
    indexing,
    joining,
    passes,
    products,
    shapes,
    spectra,
    tangents,
)
