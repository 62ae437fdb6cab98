"""The transforms that are running, as a stack of frames, and the tensors that live between them.

Every transform is a block around the user's function, a frame (src/python/func/frames.h). From the frames around it a
transform learns what surrounds it:

* which batches are open. A tensor that differs from sample to sample is a `BatchedTensor`; differentiation happens
  below it, on the *physical* tensor, whose leading dimensions are the open batches from outermost to innermost.
  `physical` gives that tensor and `logical` makes the wrappers again. Since samples never mix, one engine pass over
  physical tensors gives the gradients of all samples.
* whether anybody outside may differentiate the results, which decides if a backward pass must be recorded.

The stack belongs to a thread.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from wengert import _C

from ._batched_tensor import BatchedTensor, move_to_front

VmapFrame = _C._VmapFrame
is_transforming = _C._is_transforming
is_within_reverse = _C._is_within_reverse
open_batches = _C._open_batches
running_frames = _C._running_frames
plain = _C._unbatched  # the plain tensor below all wrappers


def remembered() -> Callable[[], Any]:
    """Return what makes blocks in which the transforms of now run: a pass that computes again finds batches open."""
    return functools.partial(_C._FramesAgain, _C._remembered_frames())


def only_batches() -> Any:
    """Return a block in which derivatives do not count as running transforms, only batches do."""
    return _C._FramesAgain(open_batches())


def physical(tensor: Any, batches: Sequence[Any]) -> Any:
    """Return the plain tensor of shape ``(*batch sizes, *tensor.shape)``; expanded over batches it is the same in.

    A batch that was opened later than these stays one.
    """
    if batches and isinstance(tensor, BatchedTensor) and tensor._level > batches[-1].level:
        whole = physical(tensor._value, batches)
        return BatchedTensor.wrap(whole, tensor._batch_dim + len(batches), tensor._level)
    for position in reversed(range(len(batches))):
        frame = batches[position]
        if isinstance(tensor, BatchedTensor) and tensor._level == frame.level:
            tensor = move_to_front(tensor._value, tensor._batch_dim)
        else:
            tensor = tensor.expand(frame.batch_size, *tensor.shape)
    return tensor


def logical(tensor: Any, batches: Sequence[Any]) -> Any:
    """Return the tensor of one sample; the inverse of `physical`."""
    if batches and isinstance(tensor, BatchedTensor):
        sample = logical(tensor._value.movedim(tensor._batch_dim, len(batches)), batches)
        return BatchedTensor.wrap(sample, 0, tensor._level)
    for frame in batches:
        tensor = BatchedTensor.wrap(tensor, 0, frame.level)
    return tensor


def levels_of(tensor: Any) -> set[Any]:
    """Return the levels of the batches that a tensor differs in."""
    levels: set[Any] = set()
    while isinstance(tensor, BatchedTensor):
        levels.add(tensor._level)
        tensor = tensor._value
    return levels


def map_physical(function: Callable[[Any], Any], tensor: Any) -> Any:
    """Apply a function that keeps the shape to the plain tensor below all wrappers, and wrap its result as it was."""
    if isinstance(tensor, BatchedTensor):
        return BatchedTensor.wrap(map_physical(function, tensor._value), tensor._batch_dim, tensor._level)
    return function(tensor)
