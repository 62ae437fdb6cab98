"""Where handlers register themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

HANDLERS: dict[Any, Callable[..., Any]] = {}


def handles(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function the handler of functions and methods."""

    def register(handler: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            HANDLERS[function] = handler
        return handler

    return register
