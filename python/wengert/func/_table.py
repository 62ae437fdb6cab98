"""What the table of operations says, by node and by name, for code that reasons about functions."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from wengert import _C

Row = dict[str, Any]


@functools.cache
def rows() -> tuple[Row, ...]:
    """Return all rows of the table, as the build exports them."""
    path = Path(str(_C.__file__)).with_name("_op_table.json")
    return tuple(json.loads(path.read_text()))


@functools.cache
def rows_of_nodes() -> dict[str, tuple[Row, ...]]:
    """Return the rows of each node name; several operations may share one."""
    found: dict[str, tuple[Row, ...]] = {}
    for row in rows():
        if row["node"]:
            found[row["node"]] = (*found.get(row["node"], ()), row)
    return found
