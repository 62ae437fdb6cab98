"""Mapping a function over a batch of cotangents or tangents.

The function runs once, on a batch (src/ops/batching/batch.h): a pass of the engine computes with all cotangents at
once. Where something in it has no meaning for a batch, as a hook that looks at values, it runs once for each sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import wengert
from wengert import _C


def vmap(function: Callable[..., tuple[Any, ...]], batches: tuple[Any, ...]) -> tuple[Any, ...]:
    """Call `function` for each slice along dimension 0 of `batches` and stack its results.

    It takes one slice of each batch [n, ...] and returns a tuple; None stands for a batch that is absent, and for a
    result that all samples lack. It may be called once, or once for each slice.
    """
    sizes = {batch.shape[0] for batch in batches if batch is not None}
    if len(sizes) != 1:
        raise RuntimeError(f"[vmap] batches must share the size of dimension 0, but have sizes {sorted(sizes)}")
    size = sizes.pop()
    try:
        return _at_once(function, batches, size)
    except _C._NotBatchableError:
        return _one_by_one(function, batches, size)


def _at_once(function: Callable[..., Any], batches: tuple[Any, ...], size: int) -> tuple[Any, ...]:
    with _C._VmapFrame(size, "different") as frame:
        level = frame.level
        results = function(*(None if batch is None else _C._make_batched(batch, 0, level) for batch in batches))
        return tuple(None if result is None else _of_all(result, level) for result in results)


def _of_all(result: Any, level: Any) -> Any:
    whole = _C._expanded(result, level)
    return whole if type(result) is not wengert.Tensor else whole.clone()


def _one_by_one(function: Callable[..., Any], batches: tuple[Any, ...], size: int) -> tuple[Any, ...]:
    if not size:
        raise RuntimeError("[vmap] a batch of size 0 has no sample to take shapes from; skip the call instead")
    samples = [function(*(None if batch is None else batch[index] for batch in batches)) for index in range(size)]
    return tuple(stack_known(results) for results in zip(*samples, strict=True))


def stack_known(results: Sequence[Any]) -> Any:
    """Stack results, with zeros for None; None where there are only Nones."""
    known = [result for result in results if result is not None]
    if not known:
        return None
    return wengert.stack([wengert.zeros_like(known[0]) if result is None else result for result in results])
