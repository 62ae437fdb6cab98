"""Layers that have a batch of their own: samples become more of it.

What holds weights must be the same for all samples, else the loop runs.
"""

from __future__ import annotations

from typing import Any

import wengert
from wengert._C import Tensor

from .._batch import Batch, NoRuleError
from .._operations import Operation, tensors_in
from ._registry import rule
from .elementwise import elementwise


def _joined(value: Any, dim: int, batch: Batch) -> Any:
    """Return a tensor whose dimension `dim` runs over samples and over the batch that they have."""
    moved = batch.expanded(value).movedim(0, dim)
    return moved.flatten(dim, dim + 1)


def _parted(value: Any, dim: int, batch: Batch) -> Any:
    """Undo `_joined` on a result."""
    return batch.wrap(value.unflatten(dim, [batch.size, -1]).movedim(dim, 0))


def _same_for_all(values: Any, batch: Batch) -> None:
    if any(batch.has(tensor) for tensor in tensors_in(values)):
        raise NoRuleError


@rule
def recurrent(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """Networks [steps, batch, features] and cells [batch, features]."""
    tensor, states = values["input"], values["hx"]
    moving = ("input", "hx")
    _same_for_all([v for n, value in values.items() if n not in moving for v in _items(value)], batch)
    is_cell = tensor.ndim == 2
    dim = 0 if is_cell or values["batch_first"] else 1
    of_states = 0 if is_cell else 1
    several = isinstance(states, (list, tuple))
    joined = [_joined(state, of_states, batch) for state in _items(states)]
    new = {**values, "input": _joined(tensor, dim, batch), "hx": joined if several else joined[0]}
    results = op.call(new)
    if isinstance(results, Tensor):
        return _parted(results, 0, batch)
    first, *last = results
    return (_parted(first, dim, batch), *(_parted(state, of_states, batch) for state in last))


def _items(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


@rule
def bags(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """Bags of equal length."""
    if values["input"].ndim != 2:
        raise NoRuleError
    moving = [n for n in ("input", "per_sample_weights") if isinstance(values.get(n), Tensor)]
    _same_for_all([value for name, value in values.items() if name not in moving], batch)
    return _parted(op.call({**values, **{name: _joined(values[name], 0, batch) for name in moving}}), 0, batch)


@rule
def sequences(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """Losses of sequences: one for each of them, reduced for each sample."""
    log_probs, targets = values["log_probs"], values["targets"]
    lengths = [values["input_lengths"], values["target_lengths"]]
    _same_for_all(lengths, batch)
    if log_probs.ndim != 3 or targets.ndim != 2:
        raise NoRuleError
    counts = [list(n.tolist()) if isinstance(n, Tensor) else list(n) for n in lengths]
    new = {
        **values,
        "log_probs": _joined(log_probs, 1, batch),
        "targets": _joined(targets, 0, batch),
        "input_lengths": counts[0] * batch.size,
        "target_lengths": counts[1] * batch.size,
        "reduction": "none",
    }
    from .._operations import operations

    losses: Any = operations()["ctc_loss"].call(new).unflatten(0, [batch.size, -1])
    reduction = op.get(values, "reduction")
    if reduction == "mean":
        return batch.wrap((losses / wengert.tensor([max(n, 1) for n in counts[1]])).mean(1))
    return batch.wrap(losses.sum(1) if reduction == "sum" else losses)


@rule
def images(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """Tensors with a batch of images each."""
    joined = {a.name: _joined(values[a.name], 0, batch) for a in op.tensors}
    return _parted(op.call({**values, **joined}), 0, batch)


@rule
def searched(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """Places in sorted lines: one for all samples, one for each, or several."""
    sequence, wanted, sorter = values["sorted_sequence"], values["self"], values.get("sorter")
    if sequence.ndim == 1 and not batch.has(sequence) and not batch.has(sorter):
        return batch.wrap(op.call({**values, "self": batch.front(wanted)}))
    new = {**values, "sorted_sequence": batch.expanded(sequence), "self": batch.expanded(wanted)}
    if sorter is not None:
        new["sorter"] = batch.expanded(sorter)
    if sequence.ndim == 1:
        new["self"] = new["self"].reshape(batch.size, wanted.numel())
    return batch.wrap(op.call(new).reshape(batch.size, *wanted.shape))


@rule
def labelled(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """One more dimension behind the others; its size must be given, since samples could differ in it."""
    if op.get(values, "num_classes") < 0:
        raise NoRuleError
    return batch.wrap(op.call({**values, "self": batch.front(values["self"])}))


@rule
def members(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """Elements of each sample in one set for all, or in sets of their own, which are sorted and searched."""
    if batch.has(values["test_elements"]):
        return _among(values["elements"], values["test_elements"].reshape(-1), op.get(values, "invert"))
    rest = {name: value for name, value in values.items() if name not in ("elements", "test_elements")}
    return elementwise(
        lambda elements: op.call({"elements": elements, "test_elements": values["test_elements"], **rest}),
        (values["elements"],),
        {},
        batch,
    )


def _among(elements: Any, tests: Any, invert: bool) -> Any:
    if not tests.numel() or not isinstance(elements, Tensor):
        raise NoRuleError
    dtype = wengert.result_type(elements, tests)
    elements, tests = elements.to(dtype), tests.to(dtype).sort()[0]
    place = wengert.searchsorted(tests, elements).clamp_max(tests.numel() - 1)
    found = tests.gather(0, place.reshape(-1)).reshape(elements.shape) == elements
    return ~found if invert else found


@rule
def metadata(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """Questions about shape and memory: those of one sample have the answer for all."""
    return op.call({name: batch.sample(value, 0) for name, value in values.items()})
