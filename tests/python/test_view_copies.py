"""Copies of views: fresh memory and `out=`; results of several tensors written to given ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.ops.operations import OPERATIONS, Operation, case

VIEWS = {o.name: o for o in OPERATIONS if o.view or o.name == "view_dtype"}
COPIES = [o for o in OPERATIONS if "_copy" in o.name and o.name.replace("_copy", "") in VIEWS]


PYTORCH = """
alias as_strided diagonal expand permute select slice split split_with_sizes squeeze t transpose unbind unfold unsqueeze
view view_as_complex view_as_real
"""


def test_every_view_of_pytorch_has_its_copy() -> None:
    assert {o.python["name"] for o in COPIES} == {f"{name}_copy" for name in PYTORCH.split()}


@pytest.mark.parametrize("operation", COPIES, ids=repr)
def test_memory_is_fresh(operation: Operation) -> None:
    for sample in operation.samples():
        values = case(operation, sample).values
        copied, view = operation(values), VIEWS[operation.name.replace("_copy", "")](values)
        several = isinstance(copied, (tuple, list))
        for a, b in zip(copied if several else [copied], view if several else [view], strict=True):
            np.testing.assert_array_equal(a.numpy(), b.numpy())
            assert a._base is None
            assert a.is_contiguous()
            assert not np.shares_memory(a.numpy(), values["self"].numpy())


def test_out_of_a_copy() -> None:
    x = wg.arange(6.0).reshape(2, 3)
    out = wg.empty(3, 2)
    assert wg.t_copy(x, out=out) is out
    assert out.tolist() == [[0, 3], [1, 4], [2, 5]]


@pytest.mark.parametrize(
    "function",
    [
        lambda x, **k: wg.max(x, 1, **k),
        lambda x, **k: wg.sort(x, **k),
        lambda x, **k: wg.topk(x, 2, **k),
        lambda x, **k: wg.aminmax(x, dim=0, **k),
        lambda x, **k: wg.linalg.eigh(x[:, :2], **k),
        lambda x, **k: wg.cummax(x, 0, **k),
        lambda x, **k: wg.frexp(x, **k),
    ],
)
def test_several_results_into_given_tensors(function: Any) -> None:
    x = wg.tensor([[2.0, 1.0, 5.0], [1.0, 3.0, 4.0]], dtype=wg.float64)
    expected = function(x)
    outs = [wg.empty(0, dtype=t.dtype) for t in expected]
    found = function(x, out=outs)
    assert type(found) is type(expected)
    for out, got, want in zip(outs, found, expected, strict=True):
        assert got is out
        np.testing.assert_array_equal(out.numpy(), want.numpy())
    with pytest.raises(TypeError, match="must hold 2 tensors, not 1"):
        function(x, out=outs[:1])
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        function(x.requires_grad_(), out=outs)


def test_fill_is_constant() -> None:
    x = wg.ones(2, requires_grad=True)
    value = wg.tensor(3.0, requires_grad=True)
    y = wg.fill(x, value)
    assert y.tolist() == [3, 3]
    assert [g.tolist() for g in wg.autograd.grad(y.sum(), (x, value))] == [[0, 0], 2]
    assert wg.fill(x, 2).requires_grad
