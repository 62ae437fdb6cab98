"""Diagonal and batched Jacobians."""

import numpy as np
import pytest

import wengert as wg
from wengert.autograd.functional import jacobian

X = np.random.default_rng(0).uniform(0.5, 1.5, (4, 3))


def test_diagonal():
    x = wg.tensor(X)
    found = wg.func.jacobian_diagonal(lambda x: wg.tanh(x) * x, x, check=True)
    expected = jacobian(lambda x: wg.tanh(x) * x, x).numpy().reshape(12, 12)
    np.testing.assert_allclose(found.numpy().reshape(-1), np.diag(expected))


def test_diagonal_of_a_constant():
    assert wg.func.jacobian_diagonal(lambda x: wg.ones(3), wg.ones(3), check=True).tolist() == [0, 0, 0]


def test_diagonal_is_differentiable():
    x = wg.tensor([1.0, 2.0], requires_grad=True)
    diagonal = wg.func.jacobian_diagonal(lambda x: x**3, x, create_graph=True)
    assert wg.autograd.grad(diagonal.sum(), x)[0].tolist() == [6, 12]
    assert not wg.func.jacobian_diagonal(lambda x: x**3, x).requires_grad


def test_batched():
    matrix = wg.tensor(X[:2])

    def f(x):
        return wg.stack([(x * x) @ matrix.t(), x[:, :2].sin()], 1)

    x = wg.tensor(X)
    found = wg.func.batched_jacobian(f, x, check=True)
    assert found.shape == (4, 2, 2, 3)
    for row, point in zip(found, x, strict=True):
        np.testing.assert_allclose(row.numpy(), jacobian(lambda p: f(p[None])[0], point).numpy())


def test_batched_is_differentiable():
    x = wg.tensor(X, requires_grad=True)
    found = wg.func.batched_jacobian(lambda x: (x**3).sum(1, keepdim=True), x, create_graph=True)
    np.testing.assert_allclose(wg.autograd.grad(found.sum(), x)[0].numpy(), 6 * X)


@pytest.mark.parametrize("shape", [(0, 3), (4, 0)])
def test_batched_of_nothing(shape):
    assert wg.func.batched_jacobian(lambda x: x * x, wg.zeros(shape)).shape == (*shape, shape[1])


def test_mixing_is_found():
    x = wg.tensor(X)
    with pytest.raises(ValueError, match="elements of the function mix"):
        wg.func.jacobian_diagonal(lambda x: x * x.sum(), x, check=True)
    with pytest.raises(ValueError, match="rows of the function mix"):
        wg.func.batched_jacobian(lambda x: x * x.mean(0), x, check=True)
    with pytest.raises(ValueError, match="must keep the shape"):
        wg.func.jacobian_diagonal(lambda x: x.sum(0), x)
    with pytest.raises(ValueError, match="dimension 0 must be the batch"):
        wg.func.batched_jacobian(lambda x: x.sum(), x)
