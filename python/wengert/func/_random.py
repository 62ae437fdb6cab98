"""Random operations inside vmap, by its `randomness`: refused, drawn for each sample, or drawn once for all.

Surrounding vmaps are asked from the innermost outwards. "different" draws one larger tensor where the function draws a
tensor of given shape, and in a loop over the samples elsewhere. "same" draws once where no argument differs between
samples; where one does, every sample starts from the same state of the generator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import wengert
from wengert._C import Tensor

from ._batch import Batch, tensors_in
from ._batched_tensor import BatchedTensor
from ._frames import open_batches

_ERROR = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
    "'different' randomness "
    "flags on vmap or perform the randomness operation out of vmap"
)
_UNBATCHED = (
    "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same randomness. "
    "Write into a tensor that is mapped, or draw out of place."
)
_OF_SIZE = {"rand", "randn"}
_SIZE_LAST = {"randint", "normal"}  # after bounds, or mean and deviation; normal of tensors has none
_OF_SHAPE = {"rand_like", "randn_like", "randint_like", "bernoulli", "dropout", "alpha_dropout"}


def draw(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a compiled random function inside the vmaps of this thread."""
    if function.__name__.endswith("dropout") and not _is_random(args, kwargs):
        return function(*args, **kwargs)
    return _draw(function, args, kwargs, open_batches())


def _is_random(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether a dropout drops anything: its arguments are input, p, training."""
    p = kwargs.get("p", args[1] if len(args) > 1 else 0.5)
    training = kwargs.get("training", args[2] if len(args) > 2 else True)
    return bool(training) and p != 0


def _draw(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frames: Sequence[Any]) -> Any:
    if not frames:
        return function(*args, **kwargs)
    *outer, frame = frames
    if frame.randomness == "error":
        raise RuntimeError(_ERROR)
    batch = Batch(frame.level)
    mapped = [tensor for tensor in tensors_in((*args, *kwargs.values())) if batch.has(tensor)]
    in_place = function.__name__.endswith("_")
    if frame.randomness == "same":
        if not mapped:
            return _draw(function, args, kwargs, outer)
        if in_place:
            return _fill_alike(function, args, kwargs, batch, outer)
        return _loop(function, args, kwargs, batch, outer, restart=True)
    if in_place:
        if not batch.has(args[0]):
            raise RuntimeError(_UNBATCHED)
        others = [batch.aligned(value, args[0].ndim) for value in args[1:]]
        _draw(function, (batch.front(args[0]), *others), kwargs, outer)
        return args[0]
    if function.__name__ in _OF_SIZE:
        size = kwargs.pop("size", args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args)
        return batch.wrap(_draw(function, ((batch.size, *size),), kwargs, outer))
    if function.__name__ in _SIZE_LAST and not mapped:
        size = kwargs.get("size", args[-1] if args else None)
        if isinstance(size, (list, tuple)):
            if "size" in kwargs:
                kwargs = {**kwargs, "size": (batch.size, *size)}
            else:
                args = (*args[:-1], (batch.size, *size))
            return batch.wrap(_draw(function, args, kwargs, outer))
    if function.__name__ in _OF_SHAPE and args and all(tensor is args[0] for tensor in mapped):
        value = batch.expanded(args[0])
        value = value if batch.has(args[0]) else value.contiguous()
        return batch.wrap(_draw(function, (value, *args[1:]), kwargs, outer))
    return _loop(function, args, kwargs, batch, outer, restart=False)


def _loop(
    function: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    batch: Batch,
    outer: Sequence[Any],
    restart: bool,
) -> Any:
    generator = kwargs.get("generator") or wengert.default_generator
    state = generator.get_state()
    results = []
    for index in range(batch.size):
        if restart:
            generator.set_state(state)
        named = {key: batch.sample(value, index) for key, value in kwargs.items()}
        results.append(_draw(function, batch.sample(args, index), named, outer))
    return BatchedTensor.wrap(wengert.stack(results), 0, batch.level)


def _fill_alike(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch, outer: Sequence[Any]
) -> Any:
    """Fill one sample and copy it to all."""
    target = args[0]
    if not batch.has(target):
        raise RuntimeError(_UNBATCHED)
    if any(isinstance(value, Tensor) for value in (*args[1:], *kwargs.values())):
        generator = kwargs.get("generator") or wengert.default_generator
        state = generator.get_state()
        for index in range(batch.size):
            generator.set_state(state)
            _draw(function, batch.sample(args, index), kwargs, outer)
        return target
    value = batch.front(target)
    with wengert.no_grad():
        one = wengert.empty_like(value.select(0, 0))
        _draw(function, (one, *args[1:]), kwargs, outer)
    value.copy_(one)
    return target
