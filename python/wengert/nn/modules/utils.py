"""Sizes as tuples, under the names that programs import from PyTorch's module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._layers.sizes import repeated

__all__: list[str] = []


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    def parse(x: Any) -> tuple[Any, ...]:
        return repeated(x, n)

    parse.__name__ = name
    return parse


_single, _pair, _triple, _quadruple = (
    _ntuple(n, f"_{name}") for n, name in enumerate(("single", "pair", "triple", "quadruple"), 1)
)
