"""Mapping a function over a batch of cotangents or tangents.

A loop: one call a sample, results stacked. The nodes of a recorded graph compute on plain tensors, so a batch of
cotangents (unlike a batch of tangents, see `wengert.func.vmap`) cannot pass through them at once. The loop gives every
function that runs on one sample the meaning of batched gradients, whatever operations it uses, at the price of one pass
a sample.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert


def vmap(function: Callable[..., tuple[Any, ...]], batches: tuple[Any, ...]) -> tuple[Any, ...]:
    """Call `function` once for each slice along dimension 0 of `batches` and stack its results.

    Parameters
    ----------
    function : callable
        Takes one slice of each batch (None where the batch is None), returns a tuple of Tensor or None.
    batches : tuple of Tensor or None
        Shapes ``(n, ...)``, all of the same n.

    Returns
    -------
    tuple of Tensor or None
        Shapes ``(n, ...)``; None where every sample gave None.
    """
    sizes = {batch.shape[0] for batch in batches if batch is not None}
    if len(sizes) != 1:
        raise RuntimeError(f"[vmap] batches must share the size of dimension 0, but have sizes {sorted(sizes)}")
    samples = [
        function(*(None if batch is None else batch[index] for batch in batches)) for index in range(sizes.pop())
    ]
    if not samples:
        raise RuntimeError("[vmap] a batch of size 0 has no sample to take shapes from; skip the call instead")
    return tuple(_stack(results) for results in zip(*samples, strict=True))


def _stack(results: tuple[Any, ...]) -> Any:
    known = [result for result in results if result is not None]
    if not known:
        return None
    return wengert.stack([wengert.zeros_like(known[0]) if result is None else result for result in results])
