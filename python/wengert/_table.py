"""What the table of operations says, by node and by name: the one reader of what the generator exports of it."""

from __future__ import annotations

import functools
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wengert import _C

Row = dict[str, Any]


@functools.cache
def rows() -> tuple[Row, ...]:
    """Return all rows of the table, as the build exports them."""
    path = Path(str(_C.__file__)).with_name("_op_table.json.gz")
    try:
        return tuple(json.loads(gzip.decompress(path.read_bytes())))
    except FileNotFoundError:
        raise FileNotFoundError(f"{path} is missing: it is written by the build, install the package again") from None


@functools.cache
def rows_by_name() -> dict[str, Row]:
    """Return the rows by their names in C++, which are unique."""
    return {row["name"]: row for row in rows()}


def function_of(row: Row) -> Callable[..., Any]:
    """Return the function that runs the operation of a row, or the method if there is only that."""
    where, name = row["python"]["namespace"], row["python"]["name"]
    if "function" not in row["methods"]:
        return getattr(_C.Tensor, name)  # type: ignore[no-any-return]
    module = getattr(_C, "_" + where.replace(".", "_")) if where else _C
    return getattr(module, name)  # type: ignore[no-any-return]


def row_of(node: Any) -> Row | None:
    """Return the row that made a node; None for nodes that are not of the table."""
    return rows_by_name().get(node._operation)
