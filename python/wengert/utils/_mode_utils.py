"""Switching modes off."""

from __future__ import annotations

from wengert import _C
from wengert.autograd._modes.context import ModeContext


class no_dispatch(ModeContext, _C._WithoutDispatchModes):
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
