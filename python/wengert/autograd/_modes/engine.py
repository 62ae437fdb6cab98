"""Switches of how a backward pass runs, and of how views record."""

from __future__ import annotations

from wengert import _C

from .context import SwitchedAtOnce

is_multithreading_enabled = _C._is_multithreading_enabled
is_view_replay_enabled = _C._is_view_replay_enabled


class set_multithreading_enabled(SwitchedAtOnce):
    """Allow or forbid a backward pass to use other threads than its caller's.

    Parameters
    ----------
    mode : bool
        False runs whole passes started by this thread on this thread.

    Examples
    --------
    >>> import wengert as wg
    >>> with wg.autograd.set_multithreading_enabled(False):
    ...     wg.autograd.is_multithreading_enabled()
    False
    """

    _flag = "set_multithreading_enabled"


class enforce_grad_layout_policy(SwitchedAtOnce):
    """Keep, or waive, the rule that ``.grad`` has the memory layout of its leaf.

    Parameters
    ----------
    enable : bool, default True
        False lets a leaf adopt its first gradient in the layout in which it arrives.
    """

    _flag = "enforce_grad_layout_policy"

    def __init__(self, enable: bool = True) -> None:
        super().__init__(enable)


class _force_original_view_tracking(SwitchedAtOnce):
    """Regenerate the grad_fn of a view by replaying its chain of view operations, rather than by one as_strided."""

    _flag = "_force_original_view_tracking"
