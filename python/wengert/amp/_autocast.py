"""`autocast`, a context manager and decorator."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec, Self, TypeVar

from wengert import _C

from . import _settings

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

_REDUCED = (_C.bfloat16, _C.float16)


def is_autocast_available(device_type: str) -> bool:
    """Return whether there is autocast for that type of device.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.amp.is_autocast_available("cpu")
    True
    """
    try:
        _C._get_autocast(device_type)
    except RuntimeError:
        return False
    return True


class autocast:  # PyTorch's name
    """Compute in 16 bits where that loses little: products and convolutions; losses and decompositions in float32.

    Inside, operations with a policy cast floating-point arguments of this type of device, other than float64 ones.
    Gradients have the dtypes of the tensors outside. Enter it for the forward pass and the loss, not for `backward`.

    Parameters
    ----------
    device_type : str
        Of the tensors concerned: ``"cpu"``, ``"sim"``.
    dtype : dtype, optional
        float16 or bfloat16; by default `get_autocast_dtype`.
    enabled : bool, default True
        With False, a block inside of another computes as usual.
    cache_enabled : bool, optional
        Whether the cast of a weight is kept until the outermost block is left.

    Examples
    --------
    >>> import wengert as wg
    >>> weight = wg.ones(2, 2, requires_grad=True)
    >>> with wg.autocast("cpu", dtype=wg.bfloat16):
    ...     y = wg.ones(1, 2) @ weight
    >>> y.dtype
    wengert.bfloat16
    >>> y.sum().backward()
    >>> weight.grad.dtype
    wengert.float32
    """

    def __init__(
        self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        current = _settings.get(device_type)  # an error where there is no such type
        self.device = device_type
        self.fast_dtype = current.dtype if dtype is None else dtype
        if enabled and device_type in _settings.ABSENT:
            warnings.warn(
                f"User provided device_type of '{device_type}', but there is no such device. Disabling autocast.",
                stacklevel=2,
            )
            enabled = False
        if enabled and self.fast_dtype not in _REDUCED:
            warnings.warn(
                f"In {device_type} autocast, but the target dtype {self.fast_dtype} is not supported. Disabling "
                "autocast: it takes bfloat16 or float16.",
                stacklevel=2,
            )
            enabled = False
        caches = current.caches if cache_enabled is None else cache_enabled
        self._settings = _settings.Settings(enabled, self.fast_dtype, caches)
        self._previous: list[_settings.Settings] = []

    def __enter__(self) -> Self:
        self._previous.append(_settings.get(self.device))
        _settings.put(self.device, self._settings)
        _settings.autocast_increment_nesting()
        return self

    def __exit__(self, *error: object) -> None:
        if _settings.autocast_decrement_nesting() == 0:
            _C.clear_autocast_cache()
        _settings.put(self.device, self._previous.pop())

    def __call__(self, function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
        @functools.wraps(function)
        def inside(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
            with self:
                return function(*args, **kwargs)

        return inside
