"""Compositions of the table that C++ defines, once more for batches.

A row's `compose:` or `batch:` formula may call a helper of src/ops/formulas/. If a function here has its name and
arguments, Python can evaluate the formula: the function is made of operations with batching rules, and sees samples.
What C++ checks first is checked by the operations that it is made of, or by the kernel where a rule calls that.
"""

from __future__ import annotations

from typing import Any

from . import arrangement, layers, losses, products, statistics

HELPERS: dict[str, Any] = {
    name: value
    for module in (arrangement, layers, losses, products, statistics)
    for name, value in vars(module).items()
    if callable(value) and getattr(value, "__module__", "") == module.__name__ and not name.startswith("_")
}
