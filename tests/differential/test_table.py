"""Every row of the table that PyTorch has under the same name, on the samples of tests/ops: values, gradients, nodes.

What is meant to differ stands in the row, with the reason: `unlike_pytorch: {gradient: ...}`, and must differ. So does
what PyTorch refuses (`refused: no derivative`): a sample that raises there is a difference like any other.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.differential.rows_in_pytorch import ROWS, RefusedError, TorchOperation, to_torch, torch, unless_refused
from tests.ops.operations import OPERATIONS, Case, Operation, case
from wengert._tensor.arrays import as_array

NO_NODE = ("NoneType", "NotImplemented")


def pairs(operation: Operation) -> Iterator[tuple[Case, Case]]:
    """Each sample as a case of Wengert's and one of PyTorch's."""
    for is_complex in (False, True) if operation.allows_complex else (False,):
        for sample in operation.samples(is_complex=is_complex):
            ours = case(operation, sample)
            values = {n: to_torch(v) for n, v in ours.values.items()}
            yield ours, replace(ours, operation=TorchOperation(operation.entry), values=values)


def called(c: Case) -> tuple[list[Any], tuple[Any, ...]]:
    """(leaves, all results)"""
    xs = c.leaves()
    output = c.operation(c.with_tensors(xs))
    return xs, tuple(output) if isinstance(output, (tuple, list)) else (output,)


def array(value: Any) -> np.ndarray:
    if isinstance(value, torch.Tensor):
        value = value.detach().resolve_conj().resolve_neg()
        return (value.float() if value.dtype == torch.bfloat16 else value).numpy(force=True)
    return as_array(value) if isinstance(value, wg.Tensor) else np.asarray(value)


def difference(what: str, ours: Any, theirs: Any, determined: bool = True) -> list[tuple[str, str]]:
    if isinstance(theirs, torch.dtype):
        return [] if str(ours) == str(theirs).replace("torch", "wengert") else [(what, f"{ours} instead of {theirs}")]
    x, y = array(ours), array(theirs)
    if x.shape != y.shape or x.dtype != y.dtype:
        return [(what, f"{x.dtype} {x.shape} instead of {y.dtype} {y.shape}")]
    digits = {"rtol": 1e-6, "atol": 2e-7} if x.dtype == np.float32 else {"rtol": 1e-9, "atol": 1e-11}
    if determined and not np.allclose(x, y, **digits, equal_nan=True):
        return [(what, f"{x.tolist()} instead of {y.tolist()}")]
    return []


def node_differences(operation: Operation, ours: Any, theirs: Any) -> list[tuple[str, str]]:
    x, y = type(getattr(ours, "grad_fn", None)).__name__, type(getattr(theirs, "grad_fn", None)).__name__
    if x == y or y in NO_NODE:
        return []
    # What a composition ends with is nobody's business, unless PyTorch names a node after it.
    named_after = y.partition("Backward")[0].lower() == operation.python["name"].replace("_", "").lower()
    return [("node", f"{x} instead of {y}")] if operation.form != "compose" or named_after else []


def differences(ours: Case, theirs: Case) -> list[tuple[str, str]]:
    """(what, how) for all that is not the same."""
    operation = ours.operation
    their_leaves, their_results = unless_refused(called, theirs)
    our_leaves, our_results = called(ours)
    if len(our_results) != len(their_results):
        return [("value", f"{len(our_results)} results instead of {len(their_results)}")]
    wrong = [d for x, y in zip(our_results, their_results, strict=True) for d in node_differences(operation, x, y)]
    unique = ours.sample.unique
    determined = not operation.draws and "value" not in operation.exempt
    if unique is None:
        results = zip(our_results, their_results, strict=True)
        wrong += [d for x, y in results for d in difference("value", x, y, determined)]
    if not (operation.is_differentiable and ours.paths):
        return wrong
    xs, ys = operation.results(our_results), operation.results(their_results)
    if unique:
        xs, ys = unique(xs), unique(ys)
        wrong += [d for x, y in zip(xs, ys, strict=True) for d in difference("value", x, y)]
    both = [(x, y) for x, y in zip(xs, ys, strict=True) if y.requires_grad and y.numel()]
    ys_with_grad = [y for _, y in both]
    xs_with_grad = [x for x, _ in both if x.requires_grad]
    if not ys_with_grad or any(w == "value" for w, _ in wrong):
        return wrong
    cotangents = [
        np.cos(np.arange(y.numel()) + 1.0 + k).reshape(tuple(y.shape)).astype(array(y).dtype)
        for k, y in enumerate(ys_with_grad)
    ]
    their_cotangents = [torch.from_numpy(g) for g in cotangents]
    gradients = functools.partial(torch.autograd.grad, allow_unused=True)
    expected = unless_refused(gradients, ys_with_grad, their_leaves, their_cotangents)
    actual: Any = [None] * len(our_leaves)
    if len(xs_with_grad) == len(ys_with_grad):
        actual = wg.autograd.grad(xs_with_grad, our_leaves, [wg.tensor(g) for g in cotangents], allow_unused=True)
    for (name, _), x, y in zip(ours.paths, actual, expected, strict=True):
        if x is not None and y is not None:
            if name in ours.sample.hermitian:
                x, y = ((g + g.transpose(-2, -1).conj()) / 2 for g in (x, y))
            wrong += difference("gradient", x, y, determined)
        elif any(g is not None and array(g).any() for g in (x, y)):
            wrong.append(("gradient", f"of {name}: {x} instead of {y}"))
    return wrong


@pytest.mark.parametrize("operation", ROWS, ids=repr)
@pytest.mark.filterwarnings("ignore")
def test_row(operation: Operation) -> None:
    wrong = []
    for ours, theirs in pairs(operation):
        try:
            wrong += differences(ours, theirs)
        except RefusedError as refusal:
            wrong.append(("refused", str(refusal)))
    meant = set(operation.entry["unlike_pytorch"]) - {"overwriting"}  # test_overwriting.py
    assert not [w for w in wrong if w[0] not in meant], wrong
    assert meant == {what for what, _ in wrong}, "what `unlike_pytorch` says does not show"


def test_most_rows_are_compared() -> None:
    public = [o for o in OPERATIONS if o.python["namespace"] != "private"]
    assert len(ROWS) > 0.95 * len(public), sorted({repr(o) for o in public} - {repr(o) for o in ROWS})
