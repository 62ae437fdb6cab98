"""The non-reentrant checkpoint: placeholders for saved tensors, and the run that fills them.

A `Frame` belongs to one call of `checkpoint`. While the function runs forward, `pack` gives each saved tensor a number
and keeps of it only what the comparison of the two runs needs (`determinism.Saved`). When backward unpacks number i and
its pass has no recomputation yet, the function runs again under hooks that keep what it saves, in the same order. Each
tensor is handed out once and dropped, so the memory of the region shrinks while backward passes through it.

Inside transforms of `wengert.func` the function sees samples and tangents, the hooks the plain tensors below them; the
second run has the transforms of the first.

A frame owns its arguments and nothing in front of them; it is owned by the placeholders. So it dies with its graph, by
counting alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from wengert import _C
from wengert._C import Tensor
from wengert.autograd import enable_grad
from wengert.autograd._custom_function.function import remembered_transforms
from wengert.autograd.graph import saved_tensors_hooks

from . import determinism
from .arguments import SavedArguments
from .debug import Decision
from .errors import CheckpointError, StopRecomputation
from .groups import active_group, current_pass
from .states import Surroundings


class set_checkpoint_early_stop(Decision):
    """Decide for the checkpoints made in a block whether a recomputation ends as soon as it has all it needs.

    Parameters
    ----------
    enable : bool
        Whether it does.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.utils.checkpoint import checkpoint, set_checkpoint_early_stop
    >>> def f(x):
    ...     y = x.exp().sin()
    ...     print("at the end")
    ...     return y
    >>> with set_checkpoint_early_stop(False):
    ...     y = checkpoint(f, wg.ones(2, requires_grad=True), use_reentrant=False)
    at the end
    >>> y.sum().backward()
    at the end
    """


class Recomputation:
    """What one pass, or one group of passes, has computed again."""

    def __init__(self) -> None:
        self.tensors: dict[int, tuple[Tensor, int]] = {}  # number -> tensor and its version then
        self.saved: list[determinism.Saved] = []


class Frame:
    """One checkpointed call."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        surroundings: Surroundings,
        early_stop: bool,
        compare: bool,
        recompute_context: Any,
    ) -> None:
        self._function = function
        self._arguments = SavedArguments((args, kwargs))
        self._transforms = remembered_transforms()
        self._surroundings = surroundings
        self._early_stop = early_stop
        self._compare = compare
        self._context = recompute_context
        self.saved: list[determinism.Saved] = []
        self.complete = False  # whether the first run is over
        self._passes: dict[Any, Recomputation] = {}
        self.on_error: Callable[[CheckpointError], CheckpointError] = lambda error: error

    # --- The first run
    def pack(self, tensor: Tensor) -> int:
        """Note a tensor that the first run saves, and let it go."""
        self.saved.append(determinism.Saved.of(tensor))
        return len(self.saved) - 1

    def hooks(self) -> Any:
        """Return the context for the first run."""
        return saved_tensors_hooks(self.pack, self.unpack)

    # --- The second
    def unpack(self, number: int) -> Tensor:
        """Hand out a tensor of the second run, running the function if this pass has not."""
        key = active_group() or _C._current_graph_task_id()
        known = self._passes.get(key)
        if known is None:
            for frame in self._waiting(key):
                key, known = frame._begin()
            assert known is not None
        if number not in known.tensors:
            raise CheckpointError(_unpacked_before(self.saved[number], in_group=active_group() is not None))
        tensor, version = known.tensors.pop(number)
        if _C._current_graph_task_id() == -1 and active_group() is None:
            self._forget(key)
        if tensor._version != version:
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace operation: the "
                f"tensor of shape {list(tensor.shape)} saved {self.saved[number].origin()} was at version {version} "
                f"when the recomputation of a checkpoint saved it, and is at version {tensor._version} at its end. "
                "Clone it in the checkpointed function before it is written."
            )
        return tensor

    def _waiting(self, key: Any) -> list[Frame]:
        """Return the frames that must run before this one has its arguments, outermost first, and this one.

        They would also run each other, but then the deepest recursion would be as deep as checkpoints are nested.
        """
        frames = [self]
        while key != -1:
            around = frames[-1]._arguments.unpack_hook()
            frame = getattr(around, "__self__", None)
            if not isinstance(frame, Frame) or key in frame._passes:
                break
            frames.append(frame)
        return frames[::-1]

    def _begin(self) -> tuple[Any, Recomputation]:
        key = current_pass(self._forget)
        known = self._passes[key] = Recomputation()
        try:
            self._recompute(known)
        except CheckpointError as error:
            self._forget(key)
            raise self.on_error(error) from None
        except BaseException:
            self._forget(key)
            raise
        return key, known

    def _forget(self, key: Any) -> None:
        self._passes.pop(key, None)

    def _recompute(self, known: Recomputation) -> None:
        complete = self.complete  # else a gradient is computed inside the function, and it has saved more by its end

        def keep(tensor: Tensor) -> Tensor:
            number = len(known.saved)
            with _C._WithoutDispatchModes():  # it is none of the program's operations
                alias = tensor.detach()
            if number >= len(self.saved):
                if complete:
                    raise CheckpointError(determinism.too_many(self.saved, determinism.Saved.of(tensor)))
                return alias
            known.saved.append(determinism.Saved.of(tensor))
            known.tensors[number] = (alias, tensor._version)
            if self._early_stop and number + 1 == len(self.saved):
                raise StopRecomputation
            return alias

        with (
            contextlib.suppress(StopRecomputation),
            self._transforms() if self._transforms else contextlib.nullcontext(),
            enable_grad(),
            self._arguments.fetched() as (args, kwargs),
            self._surroundings.restored(),
            self._context,
            _C._WatchedNames(),  # hooks of saved tensors know which operation saves
            saved_tensors_hooks(keep, _itself),
        ):
            self._function(*args, **kwargs)
        problem = determinism.difference(self.saved, known.saved, compare=self._compare)
        if problem:
            raise CheckpointError(problem)


def _itself(tensor: Tensor) -> Tensor:
    """Unpack in the recomputed graph: only a gradient computed inside the function does."""
    return tensor


def _unpacked_before(saved: determinism.Saved, *, in_group: bool) -> str:
    overlap = (
        "Performing two backward calls that overlap (i.e. require the same saved activation in order to compute "
        "gradients) is not allowed while under the wengert.utils.checkpoint.GraphExecGroup context. "
        if in_group
        else ""
    )
    return (
        "wengert.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. "
        f"{overlap}It is the one saved {saved.origin()}. "
        "If you are calling ctx.saved_tensors in backward, make sure to do so only once."
    )
