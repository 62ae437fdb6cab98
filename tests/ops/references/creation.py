"""New tensors, questions and conversions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.signal import windows

from . import reference, relation

# --- Of one value
reference("zeros")(lambda size: np.zeros(size))
reference("ones")(lambda size: np.ones(size))
reference("full")(lambda size, fill_value: np.full(size, fill_value))
reference("scalar_tensor")(lambda s: np.asarray(s))
reference("eye")(lambda n, m=None: np.eye(n, m))
reference("zeros_like")(lambda self: np.zeros(self.shape))
reference("ones_like")(lambda self: np.ones(self.shape))
reference("full_like")(lambda self, fill_value: np.full(self.shape, fill_value))
reference("new_zeros")(lambda self, size: np.zeros(size))
reference("new_ones")(lambda self, size: np.ones(size))
reference("new_full")(lambda self, size, fill_value: np.full(size, fill_value))


@relation("empty", "new_empty", "empty_strided", "new_empty_strided")
def has_size(out: Any, size: Any, **_: Any) -> None:
    assert list(out[0].shape) == size


@relation("empty_like")
def has_shape(out: Any, self: Any) -> None:
    assert out[0].shape == self.shape


# --- Sequences
reference("arange", "arange_start_step")(lambda start=0, end=None, step=1: np.arange(start, end, step))
reference("range", "range_end")(lambda start=0, end=None, step=1: np.arange(start, end + step / 2, step))
reference("linspace")(lambda start, end, steps: np.linspace(start, end, steps).astype(np.float32))
reference("logspace")(lambda start, end, steps: np.logspace(start, end, steps).astype(np.float32))
reference("tril_indices")(lambda row, col, offset=0: np.stack(np.tril_indices(row, offset, col)))
reference("triu_indices")(lambda row, col, offset=0: np.stack(np.triu_indices(row, offset, col)))


def window(name: Any) -> Any:
    return lambda window_length, periodic=True: windows.get_window(name, window_length, periodic).astype(np.float32)


reference("hann_window")(window("hann"))
reference("hamming_window")(window("hamming"))
reference("blackman_window")(window(("general_cosine", [0.42, 0.5, 0.08])))
reference("bartlett_window")(window("bartlett"))
reference("kaiser_window")(window(("kaiser", 12.0)))

reference("fft_fftfreq")(lambda n, d=1: np.fft.fftfreq(n, d).astype(np.float32))
reference("fft_rfftfreq")(lambda n, d=1: np.fft.rfftfreq(n, d).astype(np.float32))

# --- Conversions
reference("to_as_dtype", "to_device", "to_other", "cpu")(lambda self, **_: self)
for name in ("float32", "float64", "complex64", "complex128"):
    reference(f"to_{name}")(lambda self, name=name: (self.real if "float" in name else self).astype(name))
for name in ("bool", "uint8", "int8", "int16", "int32", "int64"):
    reference(f"to_{name}")(lambda self, name=name: whole(self, name))


def whole(values: np.ndarray, dtype: str) -> np.ndarray:
    """Truncated, and wrapped around where negative; true where not zero."""
    return values != 0 if dtype == "bool" else values.real.astype(np.int64).astype(dtype)


# --- Questions
reference("dim")(lambda self: self.ndim)
reference("size")(lambda self: list(self.shape))
reference("size_int")(lambda self, dim: self.shape[dim])
reference("stride")(lambda self: [s // self.itemsize for s in self.strides])
reference("stride_int")(lambda self, dim: self.strides[dim] // self.itemsize)
reference("numel")(lambda self: self.size)
reference("element_size")(lambda self: self.itemsize)
reference("storage_offset", "is_conj", "is_neg", "is_inference")(lambda self: 0)
reference("is_contiguous")(lambda self: self.flags.c_contiguous)
reference("is_floating_point")(lambda self: self.dtype.kind == "f")
reference("is_complex")(lambda self: self.dtype.kind == "c")
reference("is_signed")(lambda self: self.dtype.kind not in "ub")
reference("is_nonzero")(lambda self: bool(self))
reference("_local_scalar_dense")(lambda self: self.item())


def names(*dtypes: Any) -> str:
    return " ".join(str(d).rpartition(".")[2] for d in dtypes)


reference("can_cast_dtypes")(lambda from_, to: names(from_, to) == "uint8 int8")


@relation("promote_types")
def promoted(out: Any, type1: Any, type2: Any) -> None:
    """PyTorch's table, where a float of any width holds every integer."""
    want = {"float32 int64": "float32", "uint8 int8": "int16", "complex64 float64": "complex128"}
    assert names(out[0]) == want[names(type1, type2)]


@relation("result_type_operands")
def of_the_tensor(out: Any, tensor1: Any, tensor2: Any) -> None:
    assert names(out[0]) == str(tensor1.dtype)
