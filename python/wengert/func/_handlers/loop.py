"""The rule for everything without a rule: once for each sample, results stacked."""

from __future__ import annotations

from typing import Any

import wengert
from wengert import _C
from wengert._C import Tensor

from .._batched_tensor import BatchedTensor, NotBatchableError
from .batch import Batch, rebuilt


def loop(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch) -> Any:
    """Call `func` on each sample and stack what it returns."""
    name = getattr(func, "__name__", repr(func))
    if batch.size == 0:
        raise RuntimeError(f"[vmap] {name} has no batching rule, and an empty batch has no sample to run it on")
    in_place = name.endswith("_") and not name.startswith("__")
    if in_place and args and isinstance(args[0], Tensor):
        _C._ensure_batched(args[0], batch.level)
    results = [
        func(*batch.sample(args, index), **{key: batch.sample(value, index) for key, value in kwargs.items()})
        for index in range(batch.size)
    ]
    if results[0] is NotImplemented:
        return NotImplemented
    if any(value is results[0] for value in args) or (in_place and args and batch.has(args[0])):
        return args[0]  # an in-place operation, which wrote through views
    return _stacked(name, results, batch)


def _stacked(name: str, results: list[Any], batch: Batch) -> Any:
    first = results[0]
    if isinstance(first, Tensor):
        shapes = {tuple(result.shape) for result in results}
        if len(shapes) > 1:
            raise NotBatchableError(
                "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
                f"{name}, whose results have shapes {sorted(shapes)}."
            )
        return BatchedTensor.wrap(wengert.stack(results), 0, batch.level)
    if isinstance(first, (list, tuple)):
        items = [_stacked(name, list(column), batch) for column in zip(*results, strict=True)]
        return rebuilt(first, items)
    if first is None:
        return None
    return _C._refuse_value(name)
