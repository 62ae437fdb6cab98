"""The transforms that are running, as a stack of frames, and the tensors that live between them.

Every transform is a block around the user's function, a frame (src/python/func/frames.h). From the frames around it a
transform learns what surrounds it:

* which batches are open. A tensor that differs from sample to sample is a `BatchedTensor`; differentiation happens
  below it, on the *physical* tensor, which has the open batches in front (src/ops/batching/physical.h). Since samples
  never mix, one engine pass over physical tensors gives the gradients of all samples.
* whether anybody outside may differentiate the results, which decides if a backward pass must be recorded.

The stack belongs to a thread.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from wengert import _C
from wengert._C import Tensor
from wengert.utils._pytree import tree_map_only

from ._batched_tensor import BatchedTensor

VmapFrame = _C._VmapFrame
ForwardFrame = _C._ForwardFrame  # src/python/func/forward.cpp
is_transforming = _C._is_transforming
open_batches = _C._open_batches
running_frames = _C._running_frames
plain = _C._unbatched  # the plain tensor below all wrappers


class ReverseFrame(_C._ReverseFrame):
    """A call of the user's function whose results will be differentiated with respect to the aliases it is given.

    src/python/func/reverse.cpp says what it does: aliases of primals, passes that stop at them, and what is recorded.
    ``with ReverseFrame() as frame:`` is around the call; ``frame.gradients(outputs, cotangents, keep_graph)`` may come
    later, and often. A frame `inside` another one knows the other's aliases as its own.
    """

    __slots__ = ()

    def release(self, tree: Any) -> Any:
        """Return what leaves the frame: detached, unless somebody outside tracks it."""
        if tree is None:
            return None
        return self.released(tree) if isinstance(tree, Tensor) else tree_map_only(Tensor, self.released, tree)


def remembered() -> Callable[[], Any]:
    """Return what makes blocks in which the transforms of now run: a pass that computes again finds batches open."""
    return functools.partial(_C._FramesAgain, _C._remembered_frames())


def only_batches() -> Any:
    """Return a block in which derivatives do not count as running transforms, only batches do."""
    return _C._FramesAgain(open_batches())


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
