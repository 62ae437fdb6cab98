"""The functions that are timed: one row of the table on one set of arguments, by Wengert and by PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import wengert as wg
from benchmarks.sweep.growth import LAYOUTS, arrays_in, grown
from benchmarks.sweep.layers import LAYERS
from tests.differential.rows_in_pytorch import TorchOperation, spellings, to_torch, torch, torch_function
from tests.ops.operations import Case, Operation, case
from tests.ops.samples import Sample

Step = Callable[[], Any]
SINGLE = {"f": np.float32, "c": np.complex64}


class NotMeasuredError(Exception):
    """The row has nothing to time, for the reason given."""


def layouts_of(operation: Operation) -> tuple[str, ...]:
    """Which layouts tell something about the row."""
    if operation.entry["samples"] in LAYERS or operation.elementwise:
        return ("grown",)
    return tuple(LAYOUTS)


def arguments_of(operation: Operation, layout: str, elements: int) -> Iterator[Sample]:
    """Samples of the row, grown; usually the first is accepted by both packages."""
    rng = np.random.default_rng(0)
    made = LAYERS.get(operation.entry["samples"])
    if made:
        yield Sample(made(rng, elements))
        return
    samples = operation.samples()
    for sample in samples:
        arguments = grown(sample.arguments, layout, elements, rng)
        if arguments is not None:
            yield replace(sample, arguments=arguments, unique=None)


def in_dtype(sample: Sample, single: bool) -> Sample:
    """The sample in float32, or as it is."""

    def one(value: Any) -> Any:
        if isinstance(value, list):
            return [one(v) for v in value]
        narrow = single and isinstance(value, np.ndarray) and value.dtype.kind in SINGLE
        return value.astype(SINGLE[value.dtype.kind]) if narrow else value

    return replace(sample, arguments={name: one(value) for name, value in sample.arguments.items()})


def contestants(operation: Operation, sample: Sample) -> dict[str, tuple[Step, Step | None]]:
    """By package, the forward pass and, where the row has gradients, the backward pass.

    Raises
    ------
    NotMeasuredError
        One of them refuses the arguments, or they return other shapes.
    """
    if not arrays_in(sample.arguments) and operation.takes_tensors:
        raise NotMeasuredError("no tensors")
    ours = case(operation, sample)
    values = {name: to_torch(value) for name, value in ours.values.items()}
    theirs = replace(ours, operation=TorchOperation(operation.entry), values=values)
    try:
        calls = {"wengert": own_call(ours), "torch": pytorch_call(theirs)}
        shapes = [[tuple(r.shape) for r in tensors(call(ours_or.values))]
                  for call, ours_or in zip(calls.values(), (ours, theirs), strict=True)]  # fmt: skip
    except Exception as error:  # whatever a row may say to arguments that were not made for it
        raise NotMeasuredError(f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}") from error
    if shapes[0] != shapes[1]:
        raise NotMeasuredError(f"results {shapes[0]} instead of {shapes[1]}")
    steps = {}
    for name, c in (("wengert", ours), ("torch", theirs)):
        call, prepared = calls[name], c.values
        backward = backward_of(wg if name == "wengert" else torch, c, call)
        steps[name] = ((lambda call=call, prepared=prepared: call(prepared)), backward)
    if any(backward is None for _, backward in steps.values()):
        steps = {name: (forward, None) for name, (forward, _) in steps.items()}
    return steps


def own_call(c: Case) -> Callable[[dict[str, Any]], Any]:
    """The row's function, without what the tests do around it."""
    operation, function = c.operation, c.operation.unseeded

    def call(values: dict[str, Any]) -> Any:
        positional, keywords = operation.split(values)
        return function(*positional, **keywords)

    return call


def pytorch_call(c: Case) -> Callable[[dict[str, Any]], Any]:
    """PyTorch's function, with the first spelling of the arguments that it takes."""
    refusal: Exception | None = None
    function = torch_function(c.operation)
    for number, (positional, keywords) in enumerate(spellings(c.operation, c.values)):
        try:
            function(*positional, **keywords)
        except TypeError as error:
            refusal = refusal or error
            continue

        def call(values: dict[str, Any], number: int = number) -> Any:
            for place, (positional, keywords) in enumerate(spellings(c.operation, values)):
                if place == number:
                    return function(*positional, **keywords)
            raise AssertionError

        return call
    raise NotMeasuredError(f"PyTorch: {refusal}")


def tensors(results: Any) -> list[Any]:
    """All tensors of a result."""
    if isinstance(results, (tuple, list)):
        return [t for r in results for t in tensors(r)]
    return [results] if hasattr(results, "requires_grad") else []


def backward_of(package: Any, c: Case, call: Callable[[dict[str, Any]], Any]) -> Step | None:
    """The backward pass from all results to all arguments; None where there is none."""
    if not (c.operation.is_differentiable and c.paths) or c.operation.writes_only:
        return None
    leaves = c.leaves()
    try:
        results = [r for r in tensors(call(c.with_tensors(leaves))) if r.requires_grad]
        if not results:
            return None
        cotangents = [package.ones_like(r) for r in results]

        def step() -> Any:
            return package.autograd.grad(results, leaves, cotangents, retain_graph=True, allow_unused=True)

        step()
    except Exception:
        return None
    return step
