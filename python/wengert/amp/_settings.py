"""What autocast is set to on this thread, for each type of device."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from wengert import _C

# Types of device that PyTorch has and this package does not: asked for, they are off.
ABSENT = ("cuda", "hpu", "ipu", "maia", "mps", "mtia", "xla", "xpu")


class Settings(NamedTuple):
    """Of one type of device."""

    enabled: bool
    dtype: Any
    caches: bool


def capture() -> dict[str, Settings]:
    """Return the settings of all types of devices."""
    return {device_type: get(device_type) for device_type in _C._device_types()}


class _Nesting(threading.local):
    depth = 0


_nesting = _Nesting()


def get(device_type: str) -> Settings:
    """Return the settings of a type of device."""
    if device_type in ABSENT:
        return Settings(False, _C.float16, get("cpu").caches)
    return Settings(*_C._get_autocast(device_type))


def put(device_type: str, settings: Settings) -> None:
    """Change the settings of a type of device."""
    if device_type not in ABSENT:
        _C._set_autocast(device_type, *settings)


def is_autocast_enabled(device_type: str = "cpu") -> bool:
    """Return whether operations on tensors of that type of device cast their arguments.

    Examples
    --------
    >>> import wengert as wg
    >>> with wg.autocast("cpu"):
    ...     wg.is_autocast_enabled("cpu")
    True
    """
    return get(device_type).enabled


def set_autocast_enabled(device_type: str, enabled: bool) -> None:
    """Switch autocast on or off for tensors of that type of device, on this thread; `autocast` does so for a block."""
    put(device_type, get(device_type)._replace(enabled=enabled))


def get_autocast_dtype(device_type: str) -> Any:
    """Return the dtype that operations with the policy "lower" are computed in: bfloat16 on the CPU, else float16."""
    return get(device_type).dtype


def set_autocast_dtype(device_type: str, dtype: Any) -> None:
    """Set the dtype that operations with the policy "lower" are computed in, on this thread."""
    put(device_type, get(device_type)._replace(dtype=dtype))


def is_autocast_cache_enabled() -> bool:
    """Return whether casts of weights are kept until the outermost block is left."""
    return get("cpu").caches


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Say whether casts of weights are kept, on this thread."""
    put("cpu", get("cpu")._replace(caches=enabled))


def autocast_increment_nesting() -> int:
    """Enter one more block; returns how many there are now."""
    _nesting.depth += 1
    return _nesting.depth


def autocast_decrement_nesting() -> int:
    """Leave a block; returns how many are left."""
    _nesting.depth -= 1
    return _nesting.depth
