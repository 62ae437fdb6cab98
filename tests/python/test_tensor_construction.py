"""Tensors from Python data and arrays, and tensors filled with numbers."""

import numpy as np
import pytest

import wengert as wg


@pytest.mark.parametrize(
    ("data", "dtype", "shape"),
    [
        (1, wg.int64, ()),
        (1.5, wg.float32, ()),
        (True, wg.bool, ()),
        (1j, wg.complex64, ()),
        ([], wg.float32, (0,)),
        ([[], []], wg.float32, (2, 0)),
        ([1, 2, 3], wg.int64, (3,)),
        ([1, 2.5], wg.float32, (2,)),
        ([True, 2], wg.int64, (2,)),
        ([True, 1j], wg.complex64, (2,)),
        (((1, 2), (3, 4)), wg.int64, (2, 2)),
        (range(4), wg.int64, (4,)),
        (np.float64(2.0), wg.float64, ()),
        (np.int16(2), wg.int16, ()),
        (np.ones((2, 3)), wg.float64, (2, 3)),
        ([np.float32(1), np.float32(2)], wg.float32, (2,)),
        ([np.ones(3), np.zeros(3)], wg.float64, (2, 3)),
        ([np.array(1.5), 2], wg.float64, (2,)),
        (bytearray(b"ab"), wg.uint8, (2,)),
    ],
)
def test_tensor_infers_dtype_and_shape(data, dtype, shape):
    t = wg.tensor(data)
    assert (t.dtype, tuple(t.shape)) == (dtype, shape)
    np.testing.assert_array_equal(t.numpy(), np.array(data, dtype=t.numpy().dtype))


def test_tensor_of_tensors():
    t = wg.tensor([wg.tensor(1.0), wg.tensor(2.0)])
    assert t.tolist() == [1.0, 2.0]
    assert wg.tensor([wg.ones(2), wg.zeros(2)]).tolist() == [[1.0, 1.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("data", "error", "fragment"),
    [
        ([[1, 2], [3]], ValueError, r"expected sequence of length 2 at dim 1 \(got 1\)"),
        ([1, [2]], (TypeError, ValueError), "sequence"),
        ("abc", TypeError, "invalid data type 'str'"),
        (None, TypeError, "invalid data type"),
        ([object()], TypeError, "invalid data type"),
    ],
)
def test_tensor_refuses(data, error, fragment):
    with pytest.raises(error, match=fragment):
        wg.tensor(data)


def test_tensor_of_a_list_that_contains_itself_is_an_error():
    data = []
    data.append(data)
    with pytest.raises(ValueError, match="too many dimensions"):
        wg.tensor(data)


def test_tensor_copies_and_as_tensor_shares():
    array = np.zeros(3)
    copied, shared = wg.tensor(array), wg.as_tensor(array)
    array[0] = 1
    assert copied[0].item() == 0
    assert shared[0].item() == 1
    assert wg.as_tensor(shared) is shared


def test_copy_of_a_tensor_warns():
    with pytest.warns(UserWarning, match="recommended to use sourceTensor"):
        wg.tensor(wg.ones(1))


def test_requires_grad_of_integers_is_an_error():
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype can require gradients"):
        wg.tensor([1], requires_grad=True)


def test_legacy_constructor():
    assert tuple(wg.Tensor(2, 3).shape) == (2, 3)
    assert wg.Tensor([1, 2]).tolist() == [1.0, 2.0]
    assert wg.Tensor().numel() == 0


@pytest.mark.parametrize(
    ("make", "numpy"),
    [
        (lambda: wg.zeros(2, 3), np.zeros((2, 3), np.float32)),
        (lambda: wg.zeros((2, 3), dtype=wg.int64), np.zeros((2, 3), np.int64)),
        (lambda: wg.ones([2]), np.ones(2, np.float32)),
        (lambda: wg.full((2,), 7), np.full(2, 7)),
        (lambda: wg.full((2,), 7.5), np.full(2, 7.5, np.float32)),
        (lambda: wg.eye(2, 3), np.eye(2, 3, dtype=np.float32)),
        (lambda: wg.arange(5), np.arange(5)),
        (lambda: wg.arange(1, 5, 2), np.arange(1, 5, 2)),
        (lambda: wg.arange(start=1, end=3), np.arange(1, 3)),
        (lambda: wg.arange(0, 1, 0.25), np.arange(0, 1, 0.25, np.float32)),
        (lambda: wg.arange(5, 0, -2), np.arange(5, 0, -2)),
        (lambda: wg.linspace(0, 1, 5), np.linspace(0, 1, 5, dtype=np.float32)),
        (lambda: wg.zeros_like(wg.ones(2, dtype=wg.int32)), np.zeros(2, np.int32)),
        (lambda: wg.ones_like(wg.zeros(2), dtype=wg.bool), np.ones(2, bool)),
        (lambda: wg.full_like(wg.zeros(2), 3), np.full(2, 3, np.float32)),
        (lambda: wg.ones(1, dtype=wg.float64).new_full((2,), 3), np.full(2, 3.0)),
        (lambda: wg.ones(1, dtype=wg.float64).new_tensor([1, 2]), np.array([1.0, 2.0])),
        (lambda: wg.scalar_tensor(2), np.float32(2)),
        (lambda: wg.zeros(2, dtype=float), np.zeros(2)),
        (lambda: wg.zeros(2, dtype=np.int16), np.zeros(2, np.int16)),
    ],
)
def test_creation(make, numpy):
    result = make().numpy()
    assert result.dtype == numpy.dtype
    np.testing.assert_array_equal(result, numpy)
