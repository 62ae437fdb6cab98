"""Checks of hyperparameters, shared by the rules."""


def require(condition, name, value):
    """Raise the ValueError that names a hyperparameter and its unusable value."""
    if not condition:
        raise ValueError(f"Invalid {name}: {value}")
