"""Version counters: how autograd knows that a saved tensor has changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wengert import _C
from wengert._C import Tensor

from .._modes.context import ModeContext, Undone


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Tell autograd that one tensor, or each of several, has been written to by means it does not see.

    Inference tensors have no version and are passed over.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.zeros(2)
    >>> wg.autograd.graph.increment_version(x)
    >>> x._version
    1
    """
    _C._increment_version((tensor,) if isinstance(tensor, Tensor) else tensor)


class _unsafe_preserve_version_counter(ModeContext, Undone):
    """Hide the changes made inside from autograd. Gradients are wrong unless the old values come back in time."""

    def __init__(self, tensors: Any) -> None:
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tensors
        if not isinstance(self.tensors, tuple):
            raise AssertionError(f"Expected tensors to be a tuple, but got {type(tensors).__name__}")
        self.prev_versions = tuple(tensor._version for tensor in self.tensors)

    def clone(self) -> _unsafe_preserve_version_counter:
        return type(self)(self.tensors)

    def _open(self) -> None:
        self.undo(_C._autograd._unsafe_set_version_counter, self.tensors, self.prev_versions)
