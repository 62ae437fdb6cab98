"""What may be written in place between an operation and its gradient: all that PyTorch allows, for every row.

Where a row needs more than PyTorch's node keeps, `unlike_pytorch: {overwriting: why}` says so, and must hold.
"""

from __future__ import annotations

from typing import Any

import pytest

import wengert as wg
from tests.differential.rows_in_pytorch import ROWS, RefusedError, torch, unless_refused
from tests.differential.test_table import pairs
from tests.ops.operations import Case, Operation

DIFFERENTIABLE = [o for o in ROWS if o.is_differentiable]


def tensors_of(package: Any, c: Case, wanted: set[int]) -> tuple[list[Any], list[Any], dict[str, Any]]:
    """(leaves, copies of them that may be written, arguments made of those); `wanted` require grad."""
    values = {n: list(v) if isinstance(v, list) else v for n, v in c.values.items()}
    leaves, copies = [], []
    for k, (name, i) in enumerate(c.paths):
        leaves.append((values[name] if i is None else values[name][i]).detach().clone().requires_grad_(k in wanted))
        copies.append(leaves[-1].clone())
        if i is None:
            values[name] = copies[-1]
        else:
            values[name][i] = copies[-1]
    return [leaf for leaf in leaves if leaf.requires_grad], copies, values


def gradient_after_writing(package: Any, c: Case, wanted: set[int], target: int | None) -> Any:
    """Whether there is a gradient after argument `target`, or the result, was written; None if that is no question."""
    leaves, copies, values = tensors_of(package, c, wanted)
    output = c.operation(values)
    results = [o for o in (output if isinstance(output, (tuple, list)) else (output,)) if o.requires_grad]
    if not results or (target is None and results[0]._is_view()):
        return None
    try:
        with package.no_grad():
            (results[0] if target is None else copies[target]).add_(1)
        package.autograd.grad(results[0], leaves, package.ones_like(results[0]), allow_unused=True)
    except RuntimeError as error:  # PyTorch's reasons are its own
        if package is wg and "modified by an inplace operation" not in str(error):
            raise
        return False
    return True


def refusals(operation: Operation) -> list[str]:
    """Where PyTorch has a gradient and Wengert does not."""
    found = []
    for ours, theirs in pairs(operation):
        count = len(ours.paths)
        choices = [set(range(count)), *({k} for k in range(count) if 1 < count < 4)]
        for wanted in choices:
            for target in (None, *range(count)):
                try:
                    allowed = unless_refused(gradient_after_writing, torch, theirs, wanted, target)
                except RefusedError:
                    if "refused" not in operation.entry["unlike_pytorch"]:
                        raise
                    continue
                if allowed and gradient_after_writing(wg, ours, wanted, target) is False:
                    written = "the result" if target is None else ours.paths[target][0]
                    found.append(f"{written} written, gradients of {sorted(ours.paths[k][0] for k in wanted)}")
    return found


@pytest.mark.parametrize("operation", DIFFERENTIABLE, ids=repr)
@pytest.mark.filterwarnings("ignore")
def test_row(operation: Operation) -> None:
    found = refusals(operation)
    assert bool(found) == ("overwriting" in operation.entry["unlike_pytorch"]), found
