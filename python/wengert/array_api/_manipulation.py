"""Shapes, and putting arrays together."""

from __future__ import annotations

from typing import Any

import wengert
from wengert import Tensor

from ._promotion import operands

__all__ = [
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "expand_dims", "flip", "moveaxis", "permute_dims",
    "repeat", "reshape", "roll", "squeeze", "stack", "tile", "unstack",
]  # fmt: skip


def broadcast_arrays(*arrays: Any) -> tuple[Any, ...]:
    """`wengert.broadcast_tensors`."""
    return tuple(wengert.broadcast_tensors(*arrays)) if arrays else ()


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """`wengert.broadcast_shapes`."""
    return tuple(wengert.broadcast_shapes(*shapes))


def broadcast_to(x: Any, /, shape: tuple[int, ...]) -> Any:
    """`wengert.broadcast_to`."""
    return wengert.broadcast_to(x, shape)


def concat(arrays: Any, /, *, axis: int | None = 0) -> Any:
    """`wengert.cat` of arrays in their common type; of their elements in a row where `axis` is None."""
    values = operands(*arrays)
    if axis is None:
        return wengert.cat([value.reshape(-1) for value in values], 0)
    return wengert.cat(values, axis)


def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    """`wengert.stack` of arrays in their common type."""
    return wengert.stack(operands(*arrays), axis)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """The parts of an array along an axis, each a view of its own that may be written."""
    return tuple(wengert.select(x, axis, place) for place in range(x.shape[axis]))


def expand_dims(x: Any, /, axis: int | tuple[int, ...]) -> Any:
    """`wengert.unsqueeze`, at one place of the result or several."""
    if isinstance(axis, int):
        return wengert.unsqueeze(x, axis)
    ndim = x.ndim + len(axis)
    for place in sorted(place % ndim for place in axis):
        x = wengert.unsqueeze(x, place)
    return x


def squeeze(x: Any, /, axis: int | tuple[int, ...]) -> Any:
    """`wengert.squeeze` of axes whose length is 1."""
    axes = (axis,) if isinstance(axis, int) else axis
    long = [place for place in axes if x.shape[place] != 1]
    if long:
        raise ValueError(f"[squeeze] axes {long} of {tuple(x.shape)} are not of length 1; leave them out")
    return wengert.squeeze(x, axes)


def flip(x: Any, /, *, axis: int | tuple[int, ...] | None = None) -> Any:
    """`wengert.flip`, of all axes where `axis` is None."""
    return wengert.flip(x, tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else axis)


def moveaxis(x: Any, source: int | tuple[int, ...], destination: int | tuple[int, ...], /) -> Any:
    """`wengert.movedim`."""
    return wengert.movedim(x, source, destination)


def permute_dims(x: Any, /, axes: tuple[int, ...]) -> Any:
    """`wengert.permute`."""
    return wengert.permute(x, axes)


def reshape(x: Any, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Any:
    """`wengert.reshape`; a view or an error where ``copy=False``, never a view where ``copy=True``."""
    if copy is False:
        return x.view(shape)
    return wengert.reshape(wengert.clone(x) if copy else x, shape)


def repeat(x: Any, repeats: int | Tensor, /, *, axis: int | None = None) -> Any:
    """`wengert.repeat_interleave`."""
    return wengert.repeat_interleave(x, repeats, axis)


def roll(x: Any, /, shift: int | tuple[int, ...], *, axis: int | tuple[int, ...] | None = None) -> Any:
    """`wengert.roll`, of the elements in a row where `axis` is None."""
    if axis is None:
        return wengert.roll(x, shift)
    axes, shifts = ((value,) if isinstance(value, int) else value for value in (axis, shift))
    return wengert.roll(x, shifts * len(axes) if len(shifts) == 1 else shifts, axes)


def tile(x: Any, repetitions: tuple[int, ...], /) -> Any:
    """`wengert.tile`."""
    return wengert.tile(x, repetitions)
