"""Shapes, conventions and NumPy, as people asked for them of other systems."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import numpy as np
import pytest

import wengert as wg
from wengert.autograd import grad


def f64(value, **options):
    return wg.tensor(value, dtype=wg.float64, **options)


def test_N1_tensors_without_elements():
    b = f64([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    y = wg.ones(4, 0, dtype=wg.float64) + b[:, None]
    assert y.shape == (4, 0)
    np.testing.assert_array_equal(grad(y.sum(), b)[0].numpy(), np.zeros(4))
    for function in (
        lambda x: x.cumsum(0),
        lambda x: x.cumprod(0),
        lambda x: x.repeat(0, 2),
        lambda x: x @ wg.ones(3, 2, dtype=wg.float64),
    ):
        x = wg.ones(0, 3, dtype=wg.float64, requires_grad=True)
        assert grad(function(x).sum(), x)[0].shape == (0, 3)
    x = wg.ones(2, 3, dtype=wg.float64, requires_grad=True)
    np.testing.assert_array_equal(grad(x.repeat(0, 1).sum(), x)[0].numpy(), np.zeros((2, 3)))


def test_N2_broadcast_to_and_einsum():
    x = f64([1.0, 2.0], requires_grad=True)
    assert grad(wg.broadcast_to(x, (3, 2)).sum(), x)[0].tolist() == [3, 3]
    a, b = f64(np.ones((2, 3)), requires_grad=True), f64(np.arange(12.0).reshape(3, 4), requires_grad=True)
    y = wg.einsum("ij,jk->i", a, b)
    np.testing.assert_array_equal(grad(y.sum(), (a, b))[0].numpy(), np.tile([6, 22, 38], (2, 1)))


def test_N3_gradient_descent_of_complex_numbers():
    target = wg.tensor([1 + 2j, -3j])
    z = wg.zeros(2, dtype=wg.complex128, requires_grad=True)
    for _ in range(60):
        (g,) = grad((z - target).abs().square().sum(), z)
        with wg.no_grad():
            z -= 0.25 * g
    np.testing.assert_allclose(z.detach().numpy(), target.numpy(), atol=1e-8)


def test_N4_asarray_never_changes_the_flag():
    x = f64([1.0, 2.0], requires_grad=True)
    y = x * 2
    plain = f64([1.0])
    assert wg.asarray(x) is x
    assert wg.asarray(y) is y
    assert not wg.asarray(plain).requires_grad
    for t in (x, y):
        for options in ({"copy": True}, {"dtype": wg.float32}, {"copy": True, "dtype": wg.float32}):
            copied = wg.asarray(t, **options)
            assert copied.requires_grad
            assert grad(copied.sum(), x)[0].sum().item() == (2 if t is x else 4)
    assert not wg.asarray(y, requires_grad=False).requires_grad
    assert wg.asarray(plain, requires_grad=True).requires_grad
    assert not plain.requires_grad
    assert wg.asarray(y, requires_grad=True) is y


def test_N4_numpy_beside_tensors():
    x = f64([1.0, 2.0], requires_grad=True)
    array = np.array([3.0, 4.0])
    for y, expected in ((array * x, [3, 4]), (x * array, [3, 4]), (np.exp(x), np.exp([1.0, 2.0])), (array @ x, [3, 4])):
        assert isinstance(y, wg.Tensor)
        np.testing.assert_allclose(grad(y.sum(), x)[0].numpy(), expected)
    with pytest.raises(RuntimeError, match="requires grad"):
        np.asarray(x)
