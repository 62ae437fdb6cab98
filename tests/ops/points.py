"""Points at which elementwise derivatives are held against references: zeros, kinks, subnormals, tails, infinities."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .reference import is_expensive

MAGNITUDES = (
    0.0,
    5e-324,
    1e-160,
    1e-8,
    1e-4,
    0.1,
    0.5,
    0.75,
    1.0,
    1.0 + 1e-9,
    2.0,
    3.0,
    6.0,
    20.0,
    37.43,
    40.0,
    300.0,
    700.0,
    1e5,
    1e155,
    math.inf,
)
# Where references are too expensive at the ends of the range.
MODERATE = {"special": (1e-8, 20)}


@dataclass(frozen=True)
class Point:
    argument: str
    x: float
    values: tuple[tuple[str, Any], ...]  # of the other arguments


def range_of(domain: Any, argument: str) -> tuple[float, float]:
    chosen = domain.get(argument) if isinstance(domain, Mapping) else domain
    low, high = chosen or (-2, 2)
    return low, high


def other_value(entry: Mapping[str, Any], argument: Mapping[str, Any]) -> Any:
    if argument["default"] is not None:
        value = {"True": True, "False": False}.get(argument["default"])
        return float(argument["default"]) if value is None else value
    if argument["type"] == "int":
        return 1
    if argument["type"] == "bool":
        return True
    low, high = range_of(entry["domain"], argument["name"])
    return 0.375 * low + 0.625 * high


def other_values(entry: Mapping[str, Any], argument: str) -> dict[str, Any]:
    """All but `argument`, and the one that says how results are reduced: there is only one of them."""
    return {
        a["name"]: other_value(entry, a) for a in entry["arguments"] if a["name"] not in (argument, entry["reduces"])
    }


def magnitudes(entry: Mapping[str, Any]) -> list[float]:
    if is_expensive(entry["formulas"]["kernel"]):
        return [0.5, 1.0, 2.0, 5.0]
    least, greatest = MODERATE.get(entry["family"], (0, math.inf))
    return [m for m in MAGNITUDES if m in (0, math.inf) or least <= m <= greatest]


def points(entry: Mapping[str, Any]) -> Iterator[Point]:
    """Each differentiable argument in turn, the others in the middle of their domain; ties of two arguments too."""
    for argument in entry["arguments"]:
        name = argument["name"]
        if f"d_{name}" not in entry["formulas"]:
            continue
        values = other_values(entry, name)
        for magnitude in magnitudes(entry):
            for x in {magnitude, -magnitude}:
                yield Point(name, x, tuple(values.items()))
        for tie in {v for v in values.values() if isinstance(v, float)}:
            yield Point(name, tie, tuple(values.items()))
