"""Passes of the engine inside vmap: `autograd.grad` of samples.

The engine computes on plain tensors. Where all inputs are batches, samples do not mix and one pass gives the gradients
of all. An input that all samples share has a gradient for each of them, so there it takes a pass a sample.
"""

from __future__ import annotations

from typing import Any, NoReturn

import wengert
from wengert import _C
from wengert.autograd._backward.arguments import as_gradients, as_roots, as_targets
from wengert.autograd._backward.entry import backward, grad
from wengert.autograd._batching import stack_known

from .._batched_tensor import BatchedTensor
from .batch import Batch
from .dispatch import handles


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
    outputs = as_roots(args[0])
    targets, keys = as_targets(args[1], "grad()")
    options = dict(kwargs)
    given = as_gradients(options.pop("grad_outputs"), len(outputs))
    cotangents = _C._root_gradients(outputs, given, options["is_grads_batched"])
    if not options["is_grads_batched"] and all(map(batch.has, targets)):
        results = _one_pass(outputs, targets, cotangents, options, batch)
    else:
        results = _pass_a_sample(outputs, targets, cotangents, options, batch)
    return tuple(results) if keys is None else dict(zip(keys, results, strict=True))


def _one_pass(outputs: Any, targets: Any, cotangents: Any, options: Any, batch: Batch) -> list[Any]:
    with wengert.enable_grad():
        roots = [batch.expanded(output) for output in outputs]
    leaves = [target._value for target in targets]
    results = grad(roots, leaves, [None if c is None else batch.expanded(c) for c in cotangents], **options)
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
    columns = [
        stack_known([_sample_of(row, target, index, batch) for index, row in enumerate(column)])
        for target, column in zip(targets, zip(*rows, strict=True), strict=True)
    ]
    return [None if column is None else batch.wrap(column) for column in columns]


def _sample_of(gradient: Any, target: Any, index: int, batch: Batch) -> Any:
    """Return the part of a gradient that belongs to a sample: of a batch, the others are zero."""
    if gradient is None or not batch.has(target):
        return gradient
    dim = gradient.ndim - target._value.ndim + target._batch_dim  # batched cotangents come in front
    return gradient.select(dim, index)
