"""Where rules register themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

RULES: dict[str, Callable[..., Any]] = {}
HANDLERS: dict[Any, Callable[..., Any]] = {}


def rule(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function a rule that rows can name."""
    RULES[function.__name__] = function
    return function


def handles(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function the handler of functions and methods that are no rows."""

    def register(handler: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            HANDLERS[function] = handler
        return handler

    return register
