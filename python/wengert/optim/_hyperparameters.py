"""Hyperparameters: how a rule declares them, and what each name may be, stated once for all rules."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec

from wengert._C import Tensor

Group = dict[str, Any]
_Arguments = ParamSpec("_Arguments")


def declared(init: Callable[_Arguments, None]) -> Callable[_Arguments, None]:
    """Make the constructor of a rule from one that names the hyperparameters, after ``params``, with their defaults.

    ``_set_up`` gets them as a dictionary. The body is left with checks that only this rule has.
    """
    signature = inspect.signature(init)

    @functools.wraps(init)
    def wrapper(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> None:
        init(*args, **kwargs)  # which refuses what does not fit, as every function does
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given: Group = dict(bound.arguments)
        optimizer, params = given.pop("self"), given.pop("params")
        optimizer._set_up(params, given)

    return wrapper


def require(condition: bool, name: str, value: Any) -> None:
    """Raise the ValueError that names a hyperparameter and its unusable value."""
    if not condition:
        raise ValueError(f"Invalid {name}: {value}")


def _not_negative(value: Any) -> bool:
    return bool(value >= 0)


# Hyperparameter -> what messages call it, and what it must satisfy. NaN satisfies nothing.
_CONDITIONS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "lr": ("learning rate", _not_negative),
    "eps": ("epsilon value", _not_negative),
    "momentum": ("momentum value", _not_negative),
    "weight_decay": ("weight_decay value", _not_negative),
    "lr_decay": ("lr_decay value", _not_negative),
    "momentum_decay": ("momentum_decay value", _not_negative),
    "initial_accumulator_value": ("initial_accumulator_value value", _not_negative),
    "rho": ("rho value", lambda value: bool(0 <= value <= 1)),
}


def check(defaults: Group) -> None:
    """Raise ValueError for a hyperparameter out of its range, RuntimeError for a pair that excludes each other."""
    if isinstance(defaults["lr"], Tensor) and defaults["lr"].numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    for name, (words, condition) in _CONDITIONS.items():
        if name in defaults:
            require(condition(defaults[name]), words, defaults[name])
    for index, beta in enumerate(defaults.get("betas", ())):
        if isinstance(beta, Tensor) and beta.numel() != 1:
            raise ValueError(f"Tensor betas[{index}] must be 1-element")
        require(bool(0 <= beta < 1), f"beta parameter at index {index}", beta)
    if defaults.get("fused"):
        if defaults["differentiable"]:
            raise RuntimeError("`fused` does not support `differentiable`")
        if defaults["foreach"]:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
