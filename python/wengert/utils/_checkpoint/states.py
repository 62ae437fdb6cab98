"""The state around a checkpointed function that its second run must find again: random numbers, autocast."""

from __future__ import annotations

from typing import Any

from wengert import _C, random
from wengert.amp import _settings, autocast
from wengert.autograd._modes.context import Block


class DefaultDeviceType:
    """The type of device whose random state is kept where no argument lives on a device other than the CPU.

    Examples
    --------
    >>> from wengert.utils.checkpoint import DefaultDeviceType
    >>> DefaultDeviceType.get_device_type()
    'cuda'
    """

    _current = "cuda"

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Set the type, for example ``"sim"``."""
        DefaultDeviceType._current = device

    @staticmethod
    def get_device_type() -> str:
        """Return the type."""
        return DefaultDeviceType._current


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """Return the devices other than the CPU that hold tensors of `args`, and the state of each one's random numbers.

    Only the CPU draws random numbers, so no device has a state of its own and both lists are empty.
    """
    return [], []


def set_device_states(devices: list[int], states: list[Any], *, device_type: str | None = None) -> None:
    """Restore what `get_device_states` returned."""
    if devices or states:
        raise RuntimeError(
            f"[set_device_states] got states of the {device_type or DefaultDeviceType.get_device_type()} devices "
            f"{devices}, but only the CPU draws random numbers; use wengert.set_rng_state"
        )


class Surroundings:
    """The state when a checkpointed function ran first."""

    def __init__(self, preserve_rng_state: bool) -> None:
        self._random = _C.get_rng_state() if preserve_rng_state else None
        self._autocast = _settings.capture()

    def restored(self) -> Block:
        """Make it that of a block; the random numbers of the program outside of the block go on undisturbed."""
        return Block(self._restore)

    def _restore(self, block: Block) -> None:
        for device_type, settings in self._autocast.items():
            if settings != _settings.get(device_type):
                block.enter(autocast(device_type, settings.dtype, settings.enabled, settings.caches))
        if self._random is not None:
            block.enter(random.fork_rng())
            _C.set_rng_state(self._random)
