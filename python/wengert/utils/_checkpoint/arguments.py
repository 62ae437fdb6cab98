"""The arguments of a checkpointed function, kept as a node would keep them.

So the hooks of a checkpoint around this one see them: an inner checkpoint's arguments are placeholders of the outer
one, and nothing of the inside stays alive. Samples of a batch are kept as their whole batch. Tangents are kept beside
their primals: the dual level they belong to may be over when the function runs again, and is then opened once more,
since the first run also saved what the derivatives of tangents need.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert import _C
from wengert._C import Tensor
from wengert.autograd import _forward_ad
from wengert.autograd._modes.context import Block


class SavedArguments:
    """Trees of plain containers, with tensors among the leaves."""

    def __init__(self, arguments: Any) -> None:
        self._levels = _forward_ad._current_dual_level() + 1
        self._first: _Saved | None = None
        self._saved = _map_leaves(arguments, self._save)

    def _save(self, value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        saved = _saved(value, self._levels - 1)
        self._first = self._first or saved
        return saved

    def unpack_hook(self) -> Any:
        """Return what hands out the first tensor: a hook of a checkpoint around this one, or None."""
        return None if self._first is None else self._first.unpack_hook()

    def fetched(self) -> Block:
        """Return a block whose value are the arguments, and in which their dual levels are open."""
        return Block(self._fetch)

    def _fetch(self, block: Block) -> Any:
        while _forward_ad._current_dual_level() + 1 < self._levels:
            block.enter(_forward_ad.dual_level())
        return _map_leaves(self._saved, lambda value: value.get() if isinstance(value, _Saved) else value)


def _saved(tensor: Tensor, level: int) -> _Saved:
    if hasattr(tensor, "_batch_dim"):
        return _SavedSample(tensor, level)
    while level >= 0:
        primal, tangent = _forward_ad.unpack_dual(tensor, level=level)
        level -= 1
        if tangent is not None:
            return _SavedDual(_saved(primal, level), _saved(tangent, level), level + 1)
    return _Saved(tensor)


class _Saved:
    """A tensor, kept as a node keeps one: the tensor itself where no hooks want it, as it may be of a subclass."""

    def __init__(self, tensor: Tensor) -> None:
        self._saved = _C._autograd._make_saved_tensor(tensor, False)

    def get(self) -> Any:
        return self._saved.unpack()

    def unpack_hook(self) -> Any:
        return self._saved.unpack_hook


class _SavedDual(_Saved):
    """A primal with its tangent."""

    def __init__(self, primal: _Saved, tangent: _Saved, level: int) -> None:
        self._parts = primal, tangent
        self._level = level

    def unpack_hook(self) -> Any:
        return self._parts[0].unpack_hook()

    def get(self) -> Any:
        primal, tangent = (part.get() for part in self._parts)
        return _forward_ad.make_dual(primal, tangent, level=self._level)


class _SavedSample(_Saved):
    """A sample of a batch of `wengert.func.vmap`."""

    def __init__(self, sample: Any, level: int) -> None:
        self._batch = _saved(sample._value, level)
        self._wrap = type(sample).wrap
        self._place = sample._batch_dim, sample._level

    def unpack_hook(self) -> Any:
        return self._batch.unpack_hook()

    def get(self) -> Any:
        return self._wrap(self._batch.get(), *self._place)


def _map_leaves(value: Any, change: Callable[[Any], Any]) -> Any:
    """Apply `change` to the leaves of plain containers; others are leaves."""
    if type(value) in (tuple, list):
        return type(value)(_map_leaves(item, change) for item in value)
    if type(value) is dict:
        return {key: _map_leaves(item, change) for key, item in value.items()}
    return change(value)
