"""Switching modes off."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from wengert import _C


@contextlib.contextmanager
def no_dispatch() -> Iterator[None]:
    """Leave dispatch modes out of a block.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.utils._mode_utils import no_dispatch
    >>> from wengert.utils._python_dispatch import TorchDispatchMode
    >>> class Never(TorchDispatchMode):
    ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
    ...         raise AssertionError
    >>> with Never(), no_dispatch():
    ...     wg.ones(2).exp().shape
    Size([2])
    """
    modes = _C._dispatch_modes()
    for mode in modes:
        _C._pop_dispatch_mode(mode)
    try:
        yield
    finally:
        for mode in reversed(modes):
            _C._push_dispatch_mode(mode)
