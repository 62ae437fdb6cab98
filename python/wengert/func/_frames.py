"""The transforms that are running, as a stack of frames, and the tensors that live between them.

Every transform pushes a frame while it calls the user's function: `vmap` one with the size of its batch, the others
one that only says what kind of differentiation is going on. From the stack a transform learns what surrounds it:

* which batches are open. A tensor that differs from sample to sample is a `BatchedTensor`; differentiation happens
  below it, on the *physical* tensor, whose leading dimensions are the open batches from outermost to innermost.
  `physical` gives that tensor and `logical` makes the wrappers again. Since samples never mix, one engine pass over
  physical tensors gives the gradients of all samples.
* whether anybody outside may differentiate the results, which decides if a backward pass must be recorded.

The stack belongs to a thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Self

from wengert import _C, _randomness
from wengert.autograd._mode_context import Undone

from ._batched_tensor import BatchedTensor, move_to_front


class Frame(Undone):
    """One running transform."""

    kind = ""  # "reverse", "forward" or "vmap"

    def _open(self) -> Self:
        self.change(_stack, "frames", (*_stack.frames, self))
        return self

    def leave_inference_mode(self) -> None:
        """Switch inference mode off: what a transform runs is differentiated in it too."""
        if _C.is_inference_mode_enabled():
            self.enter(_C._InferenceMode(False))


class VmapFrame(Frame):
    """A batch: its size, what random operations do in it, and the level that marks its tensors."""

    kind = "vmap"

    def __init__(self, batch_size: int, randomness: str) -> None:
        self.batch_size = batch_size
        self.randomness = randomness
        self.level = _C._BatchLevel(batch_size, randomness)

    def _open(self) -> Self:
        self.change(_randomness.depth, "value", _randomness.depth.value + 1)
        self.enter(_C._OpenBatch(self.level))
        return super()._open()


class _Past(Frame):
    """What is remembered of a derivative: its frame knows nodes, which may own what remembers it."""

    def __init__(self, frame: Frame) -> None:
        self.kind = frame.kind


class Remembered:
    """The transforms that run now, for a block later: what a backward pass computes again finds its batches open."""

    def __init__(self) -> None:
        self._frames = tuple([frame if frame.kind == "vmap" else _Past(frame) for frame in _stack.frames])

    def again(self) -> _Again:
        """Return a block in which they run."""
        return _Again(self._frames)


class _Again(Undone):
    def __init__(self, frames: tuple[Any, ...]) -> None:
        self._frames = frames

    def _open(self) -> None:
        batches = [frame for frame in self._frames if frame.kind == "vmap"]
        for batch in batches:
            self.enter(_C._OpenBatch(batch.level))
        self.change(_randomness.depth, "value", len(batches))
        self.change(_stack, "frames", self._frames)


class OnlyBatches(Undone):
    """A block in which derivatives do not count as running transforms, only batches do."""

    def _open(self) -> None:
        self.change(_stack, "frames", open_batches())


class _Stack(threading.local):
    def __init__(self) -> None:
        self.frames: tuple[Any, ...] = ()


_stack = _Stack()


def is_transforming() -> bool:
    """Return whether any transform is running on this thread."""
    return bool(_stack.frames)


def is_within_reverse() -> bool:
    """Return whether a surrounding transform differentiates in reverse mode."""
    for frame in _stack.frames:  # noqa: SIM110  three times as fast as any(...), and asked by every pass
        if frame.kind == "reverse":
            return True
    return False


def open_batches() -> tuple[VmapFrame, ...]:
    """Return the frames of the vmaps that are running, outermost first."""
    frames = _stack.frames
    return tuple([frame for frame in frames if frame.kind == "vmap"]) if frames else ()


def frame_of_level(level: Any) -> Any:
    """Return the running vmap of a level, or None if it is over."""
    for frame in reversed(_stack.frames):
        if frame.kind == "vmap" and frame.level == level:
            return frame
    return None


def depth_of_level(level: Any) -> int:
    """Return the place of a running vmap among the transforms, from 1 for the outermost, or -1 if it is over."""
    frames = _stack.frames
    return next((i + 1 for i, f in enumerate(frames) if f.kind == "vmap" and f.level == level), -1)


def physical(tensor: Any, batches: Sequence[VmapFrame]) -> Any:
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


def logical(tensor: Any, batches: Sequence[VmapFrame]) -> Any:
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


def plain(tensor: Any) -> Any:
    """Return the plain tensor below all wrappers."""
    return _C._unbatched(tensor)
