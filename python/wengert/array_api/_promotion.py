"""Types of several arrays and numbers, by the standard's rule.

Arrays take part in promotion whether or not they have dimensions, and a Python number takes the type of the arrays
unless it is of a higher kind. `operands` brings the arguments of an operation into the type that comes out of this.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert
from wengert import Tensor


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The type that arrays, types and Python numbers have in common.

    Parameters
    ----------
    *arrays_and_dtypes : Tensor, dtype or number
        At least one of them a tensor or a type.

    Returns
    -------
    dtype

    Raises
    ------
    ValueError
        If there is no tensor and no type among the arguments.

    Examples
    --------
    >>> import wengert as wg
    >>> import wengert.array_api as xp
    >>> xp.result_type(wg.ones(2), wg.float64, 2.0)
    wengert.float64
    """
    dtypes = [getattr(value, "dtype", value) for value in arrays_and_dtypes if not isinstance(value, _NUMBERS)]
    if not dtypes:
        raise ValueError("[result_type] at least one tensor or dtype is needed, to say which type a number has")
    result = dtypes[0]
    for dtype in dtypes[1:]:
        result = wengert.promote_types(result, dtype)
    numbers = [value for value in arrays_and_dtypes if isinstance(value, _NUMBERS)]
    of_result: Any = wengert.zeros(1, dtype=result) if numbers else None
    for number in numbers:
        result = wengert.promote_types(result, wengert.result_type(of_result, number))
    return result


_NUMBERS = (bool, int, float, complex)


def operands(*values: Any) -> tuple[Any, ...]:
    """Return values as tensors of their common type; None stays."""
    first = values[0]
    if isinstance(first, Tensor) and all(isinstance(v, Tensor) and v.dtype is first.dtype for v in values):
        return values
    given = [value for value in values if value is not None]
    dtype = result_type(*given)
    device = next(value.device for value in given if isinstance(value, Tensor))
    return tuple(value if value is None else _converted(value, dtype, device) for value in values)


def _converted(value: Any, dtype: Any, device: Any) -> Any:
    if isinstance(value, Tensor):
        return value if value.dtype == dtype else value.to(dtype)
    return wengert.full((), value, dtype=dtype, device=device)


def named(function: Callable[..., Any], name: str, own: str = "") -> Callable[..., Any]:
    """Return a function of this namespace under its name, with a line that says what it is."""
    function.__name__ = function.__qualname__ = name
    function.__module__ = "wengert.array_api"
    function.__doc__ = f"`wengert.{own or name}` by the rules of the array API standard."
    return function
