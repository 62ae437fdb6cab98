"""For functions that types with ``__torch_function__`` can override, as Wengert's own can be."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from wengert import _C
from wengert._C import Tensor

__all__ = [
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
]


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Tell whether one of the arguments overrides operations.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.overrides import handle_torch_function, has_torch_function
    >>> def double(x):
    ...     if has_torch_function((x,)):
    ...         return handle_torch_function(double, (x,), x)
    ...     return 2 * x
    >>> class Length:
    ...     @classmethod
    ...     def __torch_function__(cls, func, types, args=(), kwargs=None):
    ...         return func.__name__
    >>> double(Length())
    'double'
    """
    return bool(_C._has_torch_function(*relevant_args))


def has_torch_function_unary(argument: Any) -> bool:
    """Tell whether the argument overrides operations."""
    return bool(_C._has_torch_function(argument))


def has_torch_function_variadic(*arguments: Any) -> bool:
    """Tell whether one of the arguments overrides operations."""
    return bool(_C._has_torch_function(*arguments))


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """Let the overriding types among the arguments compute ``public_api(*args, **kwargs)``.

    Parameters
    ----------
    public_api : callable
        The function that was called.
    relevant_args : iterable
        The arguments that may override; those of `args` and `kwargs` are asked.
    *args, **kwargs
        What it was called with.

    Returns
    -------
    Any
        What the first ``__torch_function__`` returns that is not NotImplemented.

    Raises
    ------
    TypeError
        If all return NotImplemented.
    """
    return _C._call_override(public_api, args, kwargs)


def is_tensor_like(value: Any) -> bool:
    """Tell whether the value is a tensor, or of a type that overrides operations."""
    return type(value) is Tensor or hasattr(value, "__torch_function__")
