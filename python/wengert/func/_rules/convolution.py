"""Convolutions and normalisations: the batch joins the samples or the channels.

With one weight for all, inputs of all samples are one larger batch of images. With a weight for each sample the batch
joins the channels, and every sample is a group of its own.
"""

from __future__ import annotations

from typing import Any

from .._batch import Batch
from .._operations import Operation, rebuilt
from ._registry import rule


@rule
def convolved(op: Operation, values: dict[str, Any], batch: Batch, numbers: tuple[int, ...]) -> Any:
    """Convolution over so many dimensions of images as the number says."""
    (spatial,) = numbers
    image, weight = values["input"], values["weight"]
    bias: Any = values.get("bias")
    if image.ndim == spatial + 1:
        result = convolved(op, {**values, "input": image.unsqueeze(0)}, batch, numbers)
        return result.squeeze(0)
    if batch.has(bias):
        result = op.call({**values, "bias": None})
        return result + bias.reshape(-1, *[1] * spatial)
    if not batch.has(weight):
        value = batch.front(image)
        result = op.call({**values, "input": value.flatten(0, 1)})
        return batch.wrap(result.reshape(batch.size, value.shape[1], *result.shape[1:]))
    transposed = "output_padding" in op.by_name
    groups = op.get(values, "groups")
    kernels = batch.front(weight).flatten(0, 1)
    stacked = batch.expanded(image).movedim(0, 1).flatten(1, 2)  # [N, B * C, ...]
    result = op.call({**values, "input": stacked, "weight": kernels, "bias": None, "groups": groups * batch.size})
    channels = weight.shape[1] * groups if transposed else weight.shape[0]
    result = batch.wrap(result.reshape(result.shape[0], batch.size, channels, *result.shape[2:]).movedim(1, 0))
    return result if bias is None else result + bias.reshape(-1, *[1] * spatial)


@rule
def normalized(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """layer_norm and rms_norm: over the last dimensions; a weight or bias for each sample is applied afterwards."""
    scales = {name: values.get(name) for name in ("weight", "bias")}
    if not any(batch.has(scale) for scale in scales.values()):
        return batch.wrap(op.call({**values, "input": batch.front(values["input"])}))
    without = {name: value for name, value in values.items() if name not in scales}
    results = op.call(
        {**without, **{name: None for name in scales if op.by_name.get(name) and op.by_name[name].required}}
    )
    result, *others = results if isinstance(results, tuple) else (results,)
    result = result if scales["weight"] is None else result * scales["weight"]
    result = result if scales["bias"] is None else result + scales["bias"]
    return rebuilt(results, [result, *others]) if others else result


@rule
def normalized_groups(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """group_norm: the batch joins the images; a weight or bias for each sample is applied afterwards."""
    image = values["input"]
    scales = {name: values.get(name) for name in ("weight", "bias")}
    own = [name for name, scale in scales.items() if batch.has(scale)]
    later = list(scales) if "weight" in own else own
    value = batch.expanded(image)
    results = op.call({**values, "input": value.flatten(0, 1), **dict.fromkeys(later)})
    result, *others = (batch.wrap(r.reshape(batch.size, value.shape[1], *r.shape[1:])) for r in results)
    for name in later:
        scale = scales[name]
        if scale is not None:
            scale = scale.reshape(-1, *[1] * (image.ndim - 2))
            result = result * scale if name == "weight" else result + scale
    return rebuilt(results, [result, *others])


@rule
def normalized_channels(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """batch_norm: statistics of each sample, so that the batch joins the channels.

    Raises
    ------
    RuntimeError
        If running statistics that all samples share would be updated with those of each.
    """
    image = values["input"]
    running = [values.get(name) for name in ("running_mean", "running_var")]
    if op.get(values, "training") and any(r is not None and not batch.has(r) for r in running):
        raise RuntimeError(
            "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in "
            "place, were not batched. Use functional_call with batched buffers, evaluation mode, or "
            "replace_all_batch_norm_modules_."
        )
    value = batch.expanded(image).movedim(0, 1).flatten(1, 2)  # [N, B * C, ...]
    new = {**values, "input": value}
    for name in ("weight", "bias", "running_mean", "running_var"):
        if values.get(name) is not None:
            new[name] = batch.expanded(values[name]).flatten(0, 1)
    results = op.call(new)
    if op.get(values, "training"):
        for name, buffer in zip(("running_mean", "running_var"), running, strict=True):
            if buffer is not None:
                buffer.copy_(batch.wrap(new[name].reshape(batch.size, -1)))
    result, *others = results if isinstance(results, tuple) else (results,)
    parted = batch.wrap(result.reshape(result.shape[0], batch.size, -1, *result.shape[2:]).movedim(1, 0))
    statistics = [batch.wrap(other.reshape(batch.size, -1)) for other in others]
    return rebuilt(results, [parted, *statistics]) if others else parted
