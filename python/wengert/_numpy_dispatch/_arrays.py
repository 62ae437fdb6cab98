"""NumPy's own functions, on the memory of tensors whose derivatives nobody asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert._C import Tensor


def run_on_arrays(function: Callable[..., Any], args: Any, kwargs: dict[str, Any], refusal: TypeError) -> Any:
    """Call a function with arrays in the place of tensors; raise `refusal` where that would lose a derivative."""
    out = kwargs.get("out")
    outputs = out if isinstance(out, tuple) else (out,)
    arrays = None if any(isinstance(value, Tensor) for value in outputs) else as_arrays((args, kwargs))
    if arrays is None:
        raise refusal
    return function(*arrays[0], **arrays[1])


def run_without_derivative(function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Call a function whose results are places, truths or facts with arrays in the place of tensors."""
    arrays = _as_array((args, kwargs), lambda tensor: tensor.detach().numpy())
    return function(*arrays[0], **arrays[1])


# Functions that have no derivative, whatever they are given.
WITHOUT_DERIVATIVE = {
    getattr(np, name)
    for name in (
        "argpartition", "array_equiv", "can_cast", "common_type", "diag_indices_from", "digitize", "flatnonzero",
        "iscomplex", "isin",
        "isneginf", "isposinf", "isreal", "lexsort", "may_share_memory", "min_scalar_type", "nanargmax", "nanargmin",
        "result_type", "shares_memory", "tril_indices_from", "triu_indices_from",
    )
}  # fmt: skip


def as_arrays(value: Any) -> Any:
    """Return a value with arrays in the place of tensors, also inside lists and dicts; None if one has derivatives."""
    try:
        return _as_array(value, Tensor.numpy)
    except RuntimeError:  # a tensor requires grad, has a tangent, or is one sample of a batch
        return None


def _as_array(value: Any, array_of: Callable[[Any], Any]) -> Any:
    if isinstance(value, Tensor):
        return array_of(value)
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_as_array(item, array_of) for item in value)
    if isinstance(value, dict):
        return {key: _as_array(item, array_of) for key, item in value.items()}
    return value
