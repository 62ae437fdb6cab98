"""Memory that is kept for later."""

from __future__ import annotations

from . import _C


def empty_cache() -> None:
    """Give memory that is kept for later tensors and graphs back to the system.

    Memory of what is freed is used again for what comes next, because fresh memory is slow. What nobody wanted for ten
    seconds is given back when something else is freed, and no program is made to hold much more than it used at once.
    So this function is for programs that go on without tensors, or wait, after they used many. The environment variable
    ``WENGERT_CACHE_BYTES`` bounds what is kept for all threads: bytes, or ``500K``, ``64M``, ``2G`` (at first 1 GiB);
    ``0`` keeps none. Up to 8 MiB that another thread keeps for itself are not given back before it ends.

    PyTorch's function of this name, for the memory of a device, is ``torch.accelerator.empty_cache``.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.empty_cache()
    """
    _C._empty_cache()
