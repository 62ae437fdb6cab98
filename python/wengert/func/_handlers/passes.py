"""Passes of the engine inside vmap: `autograd.grad` of samples.

The engine computes on plain tensors. Where all inputs are batches, samples do not mix and one pass gives the gradients
of all. An input that all samples share has a gradient for each of them, so there it takes a pass a sample.
"""

from __future__ import annotations

from typing import Any, NoReturn

import wengert
from wengert.autograd._backward import backward, grad

from .._batch import Batch
from .._batched_tensor import BatchedTensor
from .._dispatch import handles


@handles(backward, getattr(wengert.Tensor, "backward"))  # noqa: B009
def refuse_backward(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch) -> NoReturn:
    """Raise RuntimeError: leaves have one gradient, samples many."""
    raise RuntimeError(
        "backward() called inside a functorch transform. This is not supported inside vmap, where every sample has a "
        "gradient of its own: use wengert.func.grad or wengert.func.vjp, or call backward() outside of vmap."
    )


@handles(grad)
def gradients(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch) -> Any:
    """Return the gradients of samples, as batches."""
    outputs, inputs = (_as_list(value) for value in args)
    given = kwargs["grad_outputs"]
    cotangents = [_cotangent(o, c) for o, c in zip(outputs, _as_list(given, len(outputs)), strict=True)]
    keys = list(inputs) if isinstance(inputs, dict) else None
    targets = list(inputs.values()) if isinstance(inputs, dict) else inputs
    options = {key: value for key, value in kwargs.items() if key != "grad_outputs"}
    if not options["is_grads_batched"] and all(map(batch.has, targets)):
        results = _one_pass(outputs, targets, cotangents, options, batch)
    else:
        results = _pass_a_sample(outputs, targets, cotangents, options, batch)
    return tuple(results) if keys is None else dict(zip(keys, results, strict=True))


def _as_list(value: Any, count: int = 1) -> Any:
    if value is None:
        return [None] * count
    return value if isinstance(value, dict) else list(value) if isinstance(value, (list, tuple)) else [value]


def _cotangent(output: Any, cotangent: Any) -> Any:
    if cotangent is not None:
        return cotangent
    if not isinstance(output, wengert.Tensor) or output.numel() != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs; pass grad_outputs")
    return wengert.ones_like(output)


def _one_pass(outputs: Any, targets: Any, cotangents: Any, options: Any, batch: Batch) -> list[Any]:
    with wengert.enable_grad():
        roots = [batch.expanded(output) for output in outputs]
    leaves = [target._value for target in targets]
    results = grad(roots, leaves, [batch.expanded(c) for c in cotangents], **options)
    return [
        None if result is None else BatchedTensor.wrap(result, target._batch_dim, batch.level)
        for result, target in zip(results, targets, strict=True)
    ]


def _pass_a_sample(outputs: Any, targets: Any, cotangents: Any, options: Any, batch: Batch) -> list[Any]:
    leaves = [target._value if batch.has(target) else target for target in targets]
    retain = options.pop("retain_graph")
    rows = []
    for index in range(batch.size):
        with wengert.enable_grad():
            roots = [batch.sample(output, index) for output in outputs]
        keep = retain if index == batch.size - 1 else True
        rows.append(grad(roots, leaves, [batch.sample(c, index) for c in cotangents], retain_graph=keep, **options))
    if not rows:
        raise RuntimeError("[vmap] an empty batch has no sample to run autograd.grad on")
    return [
        _stacked([_sample_of(row, target, index, batch) for index, row in enumerate(column)], batch)
        for target, column in zip(targets, zip(*rows, strict=True), strict=True)
    ]


def _sample_of(gradient: Any, target: Any, index: int, batch: Batch) -> Any:
    """Return the part of a gradient that belongs to a sample: of a batch, the others are zero."""
    if gradient is None or not batch.has(target):
        return gradient
    dim = gradient.ndim - target._value.ndim + target._batch_dim  # batched cotangents come in front
    return gradient.select(dim, index)


def _stacked(samples: list[Any], batch: Batch) -> Any:
    known = [sample for sample in samples if sample is not None]
    if not known:
        return None
    return batch.wrap(wengert.stack([wengert.zeros_like(known[0]) if s is None else s for s in samples]))
