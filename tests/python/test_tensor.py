"""Tensors as Python objects: attributes, sizes, dtypes and devices, and what may be assigned to a leaf."""

import copy
import pickle

import numpy as np
import pytest

import wengert as wg
from tests.dtypes import DTYPES


# --- Attributes
def test_attributes():
    t = wg.zeros(2, 3, dtype=wg.float64)
    assert t.shape == (2, 3)
    assert isinstance(t.shape, wg.Size)
    assert t.size() == t.shape
    assert t.size(-1) == 3
    assert t.stride() == (3, 1)
    assert t.stride(0) == 3
    assert (t.ndim, t.dim(), t.numel(), t.nelement(), len(t)) == (2, 2, 6, 6, 2)
    assert (t.itemsize, t.element_size(), t.nbytes) == (8, 8, 48)
    assert t.dtype is wg.float64
    assert t.device == wg.device("cpu")
    assert t.layout is wg.strided
    assert t.is_contiguous()
    assert t.is_floating_point()
    assert not t.is_complex()
    assert t.type() == "wengert.DoubleTensor"
    assert (t.is_leaf, t.requires_grad, t.grad, t.grad_fn, t.output_nr, t._version) == (True, False, None, None, 0, 0)


def test_size():
    size = wg.Size([2, 3])
    assert repr(size) == "wengert.Size([2, 3])"
    assert size.numel() == 6
    assert isinstance(size[1:], wg.Size)
    assert isinstance(size + wg.Size([4]), wg.Size)
    assert pickle.loads(pickle.dumps(size)) == size
    with pytest.raises(TypeError, match="int"):
        wg.Size([1.5])


def test_dtypes_are_singletons():
    assert wg.float is wg.float32
    assert wg.long is wg.int64
    assert repr(wg.float32) == "wengert.float32"
    for dtype in DTYPES:
        assert pickle.loads(pickle.dumps(dtype)) is dtype
        assert copy.deepcopy(dtype) is dtype


def test_default_dtype():
    try:
        wg.set_default_dtype(wg.float64)
        assert wg.tensor(1.5).dtype is wg.get_default_dtype() is wg.float64
        assert wg.tensor(1j).dtype is wg.complex128
    finally:
        wg.set_default_dtype(wg.float32)
    with pytest.raises(TypeError, match="only floating-point types are supported as the default type"):
        wg.set_default_dtype(wg.int64)


def test_device():
    assert repr(wg.device("cpu")) == "device(type='cpu')"
    assert str(wg.device("cpu", 0)) == "cpu:0"
    assert wg.zeros(1, device="cpu").device.type == "cpu"
    for name in ("tpu", "cuda:0"):
        with pytest.raises(RuntimeError, match=r"Expected one of cpu, meta, sim device type at start of device string"):
            wg.device(name)
    assert len({wg.device("cpu"), wg.device("cpu", 0), wg.device("cpu", -1)}) == 2


@pytest.mark.parametrize("index", [300, 1, -2, 2**31, 2**62, 2**63 - 1, -(2**63)])
def test_there_is_one_cpu(index):
    with pytest.raises(RuntimeError, match="of cpu there is 1, counted from 0"):
        wg.device("cpu", index)
    with pytest.raises(RuntimeError, match=r"of cpu there is 1|Invalid device string"):
        wg.zeros(1, device=f"cpu:{index}")


def test_finfo_and_iinfo():
    assert wg.finfo(wg.float64).eps == np.finfo(np.float64).eps
    assert wg.finfo(wg.complex64).bits == 32
    assert wg.iinfo(wg.uint8).max == 255
    with pytest.raises(TypeError):
        wg.finfo(wg.int64)


# --- Dtype changes
@pytest.mark.parametrize("dtype", DTYPES)
def test_to_dtype(dtype):
    t = wg.tensor([0, 1])
    converted = t.to(dtype)
    assert converted.dtype is dtype
    assert t.to(dtype=dtype).dtype is dtype
    assert t.to("cpu", dtype).dtype is dtype
    assert t.to(converted).dtype is dtype
    assert t.type(converted.type()).dtype is dtype
    assert converted.to(dtype) is converted
    assert converted.to(dtype, copy=True) is not converted


# --- Leaves
def test_requires_grad_flag():
    t = wg.ones(2)
    t.requires_grad = True
    assert t.requires_grad_(False) is t
    with pytest.raises(RuntimeError, match="requires_grad must be a bool"):
        t.requires_grad = 1
    y = t.requires_grad_() * 2
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        y.requires_grad = True
    assert y.requires_grad_() is y


def test_grad_assignment():
    t = wg.ones(2, requires_grad=True)
    t.grad = g = wg.ones(2)
    assert t.grad is g
    del t.grad
    assert t.grad is None
    with pytest.raises(TypeError, match="expected to be a Tensor or None"):
        t.grad = 1
    for bad in (wg.ones(3), wg.ones(2, dtype=wg.float64), t):
        with pytest.raises(RuntimeError):
            t.grad = bad


def test_data():
    t = wg.zeros(2, requires_grad=True)
    data = t.data
    data += 1
    assert t.tolist() == [1.0, 1.0]
    assert (data.requires_grad, t._version) == (False, 0)
    t.data = wg.ones(3)
    assert t.shape == (3,)
    assert t.requires_grad
    with pytest.raises(TypeError, match="Variable data has to be a tensor"):
        t.data = 1


def test_detach_shares_versions():
    t = wg.zeros(2)
    d = t.detach()
    d += 1
    assert t._version == d._version == 1
    assert not d._is_view()


def test_resize_in_place():
    t = wg.arange(4.0)
    assert t.resize_(2, 3) is t
    assert t.shape == (2, 3)
    assert t._version == 1
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        wg.ones(2, requires_grad=True).resize_(3)
