"""Seeds and states of the default generator."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from wengert._C import default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state

__all__ = ["default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]


@contextlib.contextmanager
def fork_rng(devices: object = None, enabled: bool = True) -> Iterator[None]:
    """Restore the state of the default generator at the end of a block.

    Examples
    --------
    >>> import wengert as wg
    >>> with wg.random.fork_rng():
    ...     a = wg.rand(1)
    >>> bool(a == wg.rand(1))
    True
    """
    state = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)
