"""float16 and bfloat16 beside PyTorch: the rows that it has in them on the CPU, and every row under autocast."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.differential.rows_in_pytorch import ROWS, RefusedError, TorchOperation, to_torch, torch, unless_refused
from tests.ops.operations import Case, Operation, case
from tests.ops.test_reduced_floats import EPSILON, stored_as, tensors_of

pytestmark = pytest.mark.filterwarnings("ignore")

THEIRS = {wg.float16: torch.float16, wg.bfloat16: torch.bfloat16}
COMPARED = [o for o in ROWS if o.form != "query" and not o.draws and "value" not in o.exempt]
SAMPLES = 3

_NO_COMPLEX = "PyTorch has complex numbers with parts of float16"
_STATISTICS = "statistics are of float32, as on PyTorch's GPUs"
_BY_SIZE = "PyTorch's parts, and so their policies, depend on the sizes or the mode; here one policy is that of the row"
# What is not as in PyTorch, and why. It must show.
ROWS_DIFFER = {
    "view_as_complex": _NO_COMPLEX, "complex": _NO_COMPLEX, "hash_tensor": "PyTorch has uint64",
    "native_layer_norm": _STATISTICS, "native_group_norm": _STATISTICS, "native_batch_norm": _STATISTICS,
    "linalg_matrix_exp": "PyTorch's is infinite in float16",
    "batch_norm": "the gradient, which vanishes, is lost in PyTorch's rounded statistics",
}  # fmt: skip
DTYPES_DIFFER = {
    "native_layer_norm": _STATISTICS, "native_group_norm": _STATISTICS, "native_batch_norm": _STATISTICS,
    "hash_tensor": "PyTorch has uint64", "linalg_pinv": "PyTorch multiplies decompositions of float32 in 16 bits",
    "inner": _BY_SIZE, "einsum": _BY_SIZE, "tensordot": _BY_SIZE, "bilinear": _BY_SIZE, "pad": _BY_SIZE,
    "local_response_norm": _BY_SIZE,
}  # fmt: skip


def on_both(operation: Operation, sample: Any, convert: Callable[[np.ndarray], Any]) -> tuple[Case, Case]:
    ours = case(operation, sample, convert)
    values = {n: in_torch(v) for n, v in ours.values.items()}
    return ours, replace(ours, operation=TorchOperation(operation.entry), values=values)


def in_torch(value: Any) -> Any:
    if isinstance(value, wg.Tensor) and value.dtype in THEIRS:
        return torch.from_numpy(value.float().numpy().copy()).to(THEIRS[value.dtype])
    return [in_torch(v) for v in value] if isinstance(value, list) else to_torch(value)


def array(value: Any) -> np.ndarray:
    value = value.detach()
    if isinstance(value, wg.Tensor):
        return (value if value.dtype.is_complex else value.double()).numpy()
    return value.resolve_conj().numpy() if value.dtype.is_complex else value.double().numpy()


def name(dtype: Any) -> str:
    return str(dtype).rpartition(".")[2]


def called(c: Case) -> tuple[list[Any], list[Any]]:
    leaves = c.leaves()
    return leaves, tensors_of(c.operation(c.with_tensors(leaves)))


def gradients(grad: Callable[..., Any], ones: Callable[..., Any], leaves: list[Any], results: list[Any]) -> list[Any]:
    roots = [r for r in results if hasattr(r, "requires_grad") and r.requires_grad]
    return list(grad(roots, leaves, [ones(r) for r in roots], allow_unused=True)) if roots and leaves else []


def check_close(x: Any, y: Any, dtype: Any, units: float) -> None:
    """As far as both are rounded: theirs between steps too."""
    if not hasattr(y, "dtype") or not hasattr(x, "dtype"):
        return
    assert name(x.dtype) == name(y.dtype)
    assert tuple(x.shape) == tuple(y.shape)
    if not y.dtype.is_floating_point or y.numel() == 0:
        return
    a, b = array(x), array(y)
    finite = np.isfinite(a) & np.isfinite(b)
    scale = np.max(np.abs(b[finite]), initial=1.0)
    np.testing.assert_array_less(np.abs(a - b)[finite], units * EPSILON[dtype] * (np.abs(b[finite]) + scale))


@pytest.mark.parametrize("operation", COMPARED, ids=repr)
def test_row(operation: Operation) -> None:
    compared, differences = 0, []
    for dtype in THEIRS:
        try:
            compared += compare_row(operation, dtype)
        except (AssertionError, RuntimeError) as error:
            if operation.name not in ROWS_DIFFER:
                raise
            differences.append(error)
    assert bool(differences) == (operation.name in ROWS_DIFFER), "it is as in PyTorch"
    if not compared and not differences:
        pytest.skip("PyTorch has it in other dtypes alone")


def compare_row(operation: Operation, dtype: Any) -> int:
    """How many samples PyTorch computes, too."""
    compared = 0
    for sample in operation.samples()[:SAMPLES]:
        if sample.unique:
            continue
        ours, theirs = on_both(operation, sample, stored_as(dtype, dtype))
        try:
            their_leaves, expected = unless_refused(called, theirs)
        except RefusedError:
            continue  # PyTorch has it in float32 alone
        compared += 1
        our_leaves, found = called(ours)
        for x, y in zip(found, expected, strict=True):
            check_close(x, y, dtype, 8)
        if not operation.is_differentiable or "gradient" in operation.unlike_pytorch:
            continue
        try:
            wanted = unless_refused(gradients, torch.autograd.grad, torch.ones_like, their_leaves, expected)
        except RefusedError:
            continue
        for x, y in zip(gradients(wg.autograd.grad, wg.ones_like, our_leaves, found), wanted, strict=False):
            if x is not None and y is not None:
                check_close(x, y, dtype, 32)
    return compared


@pytest.mark.parametrize("operation", COMPARED, ids=repr)
def test_autocast_gives_the_dtypes_of_pytorch(operation: Operation) -> None:
    differences = []
    for sample in operation.samples()[:SAMPLES]:
        for dtype in (wg.float32, wg.bfloat16):
            ours, theirs = on_both(operation, sample, stored_as(dtype, dtype))
            try:
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    expected = tensors_of(unless_refused(theirs.operation, theirs.values))
            except RefusedError:
                continue
            with wg.autocast("cpu", dtype=wg.bfloat16):
                found = tensors_of(ours.operation(ours.values))
            dtypes = [[name(getattr(x, "dtype", None)) for x in side] for side in (found, expected)]
            if dtypes[0] != dtypes[1]:
                differences.append(dtypes)
    assert bool(differences) == (operation.name in DTYPES_DIFFER), differences
