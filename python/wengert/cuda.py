"""For programs that ask whether there is a GPU: there is none here."""

from __future__ import annotations

from typing import NoReturn

__all__ = ["current_device", "device_count", "is_available", "manual_seed", "manual_seed_all", "synchronize"]


def is_available() -> bool:
    """Return False: devices are the CPU, meta and sim (`wengert.sim`).

    Examples
    --------
    >>> import wengert as wg
    >>> "cuda" if wg.cuda.is_available() else "cpu"
    'cpu'
    """
    return False


def device_count() -> int:
    """Return 0."""
    return 0


def current_device() -> NoReturn:
    """Raise RuntimeError: there is no CUDA device."""
    raise RuntimeError("[cuda] Wengert was built without CUDA; devices are the CPU, meta and sim (wengert.sim)")


def manual_seed(seed: int) -> None:
    """Do nothing: there is no generator to seed. `wengert.manual_seed` seeds those of the devices that are here."""


def manual_seed_all(seed: int) -> None:
    """Do nothing; see `manual_seed`."""


def synchronize(device: object = None) -> None:
    """Do nothing: there is no device to wait for. `wengert.sim.synchronize` waits for one of sim."""
