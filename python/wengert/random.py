"""Seeds and states of the default generator."""

from __future__ import annotations

from typing import Any

from wengert._C import default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state
from wengert.autograd._modes.context import ModeContext, Undone

__all__ = ["default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]


class fork_rng(ModeContext, Undone):
    """Restore the state of the default generator at the end of a block.

    Parameters
    ----------
    devices : object, optional
        Accepted; only the CPU draws random numbers.
    enabled : bool, default True
        Whether anything is restored.

    Examples
    --------
    >>> import wengert as wg
    >>> with wg.random.fork_rng():
    ...     a = wg.rand(1)
    >>> bool(a == wg.rand(1))
    True
    """

    def __init__(self, devices: object = None, enabled: bool = True) -> None:
        self.devices, self.enabled = devices, enabled

    def clone(self) -> Any:
        return type(self)(self.devices, self.enabled)

    def _open(self) -> None:
        if self.enabled:
            self.undo(set_rng_state, get_rng_state())
