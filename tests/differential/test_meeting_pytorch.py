"""Tensors of both packages in one program: each leaves the other's alone, with an error that ends."""

import operator

import numpy as np
import pytest
import torch

import wengert as wg

OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "lt", "ge"]


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("requires_grad", [False, True])
def test_operators_raise(name, requires_grad):
    operation = getattr(operator, name)
    ours, theirs = wg.ones(2, requires_grad=requires_grad), torch.ones(2, requires_grad=requires_grad)
    for first, second in ((ours, theirs), (theirs, ours)):
        with pytest.raises(TypeError):
            operation(first, second)


def test_tensors_of_both_packages_are_not_equal():
    assert (wg.ones(1) == torch.ones(1)) is False


@pytest.mark.parametrize(
    "call",
    [
        lambda a, b: wg.add(a, b),
        lambda a, b: torch.add(b, a),
        lambda a, b: wg.cat([a, b]),
        lambda a, b: torch.cat([b, a]),
        lambda a, b: torch.sin(a),
        lambda a, b: wg.sin(b),
        lambda a, b: a.add(b),
        lambda a, b: b.add(a),
        lambda a, b: b.add_(a),
        lambda a, b: torch.nn.functional.softplus(a),
        lambda a, b: wg.nn.functional.softplus(b),
        lambda a, b: a[b],
        lambda a, b: torch.Tensor.grad.__get__(a),
    ],
)
def test_functions_raise(call):
    with pytest.raises((TypeError, IndexError)):
        call(wg.ones(2), torch.ones(2))


def test_memory_is_shared_by_dlpack_and_numpy():
    theirs = torch.arange(3.0)
    ours = wg.from_dlpack(theirs)
    theirs[0] = 5
    assert ours[0] == 5
    assert wg.tensor(theirs).tolist() == [5, 1, 2]
    assert np.array_equal(torch.from_dlpack(ours), theirs)
