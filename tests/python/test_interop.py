"""Memory shared with NumPy and others: arrays, buffers, DLPack."""

import gc
import weakref

import numpy as np
import pytest

import wengert as wg

NUMPY_DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "sliced", "scalar", "empty"])
def test_round_trip_shares_memory(dtype, layout):
    array = np.arange(24).reshape(4, 6).astype(dtype)
    array = {
        "contiguous": array,
        "transposed": array.T,
        "sliced": array[::2, 1::3],
        "scalar": array[1:2, 1].reshape(()),
        "empty": array[:0],
    }[layout]
    tensor = wg.from_numpy(array)
    assert tensor.shape == array.shape
    assert tensor.stride() == tuple(s // array.itemsize for s in array.strides)
    back = tensor.numpy()
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)
    if array.size:
        assert tensor.data_ptr() == array.__array_interface__["data"][0]
        array[...] = 0
        assert not back.any()


def test_memory_lives_as_long_as_someone_needs_it():
    array = np.ones(1000)
    ref = weakref.ref(array)
    tensor = wg.from_numpy(array)
    view = tensor[10:]
    del array, tensor
    gc.collect()
    assert view.sum().item() == 990
    assert ref() is not None
    del view
    gc.collect()
    assert ref() is None
    back = (wg.ones(1000) * 2).numpy()
    gc.collect()
    assert back.sum() == 2000


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([None]), np.ones(2, ">f8")])
def test_arrays_without_a_dtype_here(array):
    with pytest.raises(TypeError, match=r"can't convert np\.ndarray of type"):
        wg.from_numpy(array)


def test_from_numpy_wants_an_array():
    with pytest.raises(TypeError, match=r"expected np.ndarray \(got list\)"):
        wg.from_numpy([1])


def test_read_only_arrays_warn():
    array = np.ones(2)
    array.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        wg.from_numpy(array)


def test_reversed_arrays_are_copied_where_a_tensor_is_made():
    assert wg.tensor(np.arange(3)[::-1]).tolist() == [2, 1, 0]
    assert (wg.zeros(3) + np.arange(3.0)[::-1]).tolist() == [2, 1, 0]


def test_numpy_of_a_tensor_that_requires_grad():
    x = wg.ones(2, requires_grad=True)
    for convert in (lambda: x.numpy(), lambda: np.asarray(x), lambda: np.array(x), lambda: x.__array__()):
        with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad. Use tensor.detach"):
            convert()
    assert x.numpy(force=True).tolist() == [1, 1]
    with wg.no_grad():
        assert np.asarray(x).tolist() == [1, 1]


def test_numpy_functions_on_tensors():
    x = wg.tensor([1.0, 4.0])
    assert np.asarray(x).__array_interface__["data"][0] == x.data_ptr()
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    result = np.sqrt(x)
    assert isinstance(result, wg.Tensor)
    assert result.tolist() == [1, 2]
    assert np.array([wg.tensor(1.0), wg.tensor(2.0)]).tolist() == [1, 2]
    assert np.zeros(3)[wg.tensor([0, 1])].shape == (2,)


def test_asarray_copies_as_asked():
    array = np.ones(2)
    assert wg.asarray(array).data_ptr() == array.__array_interface__["data"][0]
    assert wg.asarray(array, copy=True).data_ptr() != array.__array_interface__["data"][0]
    with pytest.raises(ValueError, match="can't alias"):
        wg.asarray([1, 2], copy=False)
    assert wg.asarray([1.0], requires_grad=True).requires_grad


def test_buffer_protocol():
    x = wg.arange(6.0).reshape(2, 3)
    view = memoryview(x)
    assert (view.shape, view.strides, view.format) == ((2, 3), (12, 4), "f")
    view[0, 0] = 7.0
    assert x[0, 0].item() == 7
    with pytest.raises(BufferError):
        memoryview(wg.ones(1, requires_grad=True))


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_dlpack_with_numpy(dtype):
    array = np.arange(6).reshape(2, 3).astype(dtype)
    tensor = wg.from_dlpack(array)
    assert tensor.dtype.name == dtype
    assert tensor.data_ptr() == array.__array_interface__["data"][0]
    back = np.from_dlpack(tensor.T)
    np.testing.assert_array_equal(back, array.T)
    assert back.__array_interface__["data"][0] == tensor.data_ptr()


def test_dlpack_lifetime_and_refusals():
    array = np.ones(5)
    ref = weakref.ref(array)
    capsule = wg.from_dlpack(array).__dlpack__()
    del array
    gc.collect()
    assert ref() is not None
    del capsule
    gc.collect()
    assert ref() is None
    assert wg.ones(1).__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError, match="require gradient"):
        wg.ones(1, requires_grad=True).__dlpack__()
    with pytest.raises(TypeError, match="__dlpack__"):
        wg.from_dlpack([1])
