"""DLPack with PyTorch at the other end."""

import pytest

import wengert as wg

torch = pytest.importorskip("torch")


@pytest.mark.parametrize(
    "dtype",
    [
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
        "bfloat16",
        "float32",
        "float64",
        "complex64",
    ],
)
def test_memory_is_shared_both_ways(dtype):
    theirs = torch.arange(6).reshape(2, 3).to(getattr(torch, dtype)).T
    ours = wg.from_dlpack(theirs)
    assert (ours.shape, ours.stride()) == (tuple(theirs.shape), theirs.stride())
    assert ours.tolist() == theirs.tolist()
    back = torch.from_dlpack(ours)
    assert back.data_ptr() == theirs.data_ptr()
