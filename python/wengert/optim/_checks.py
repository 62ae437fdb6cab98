"""Checks of hyperparameters, shared by the rules."""

from typing import Any


def require(condition: bool, name: str, value: Any) -> None:
    """Raise the ValueError that names a hyperparameter and its unusable value."""
    if not condition:
        raise ValueError(f"Invalid {name}: {value}")
