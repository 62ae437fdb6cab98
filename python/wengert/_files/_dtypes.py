"""The element types that files name and this package has."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as wg

# dtype -> the name of its storage in PyTorch's files, its name in safetensors, and NumPy's name of its elements. Dtypes
# whose storages have no name are those of bytes there, and the tensor says which dtype it has.
_ROWS: dict[str, tuple[str | None, str, str]] = {
    "bool": ("BoolStorage", "BOOL", "?"),
    "uint8": ("ByteStorage", "U8", "u1"),
    "int8": ("CharStorage", "I8", "i1"),
    "int16": ("ShortStorage", "I16", "i2"),
    "int32": ("IntStorage", "I32", "i4"),
    "int64": ("LongStorage", "I64", "i8"),
    "uint16": (None, "U16", "u2"),
    "uint32": (None, "U32", "u4"),
    "uint64": (None, "U64", "u8"),
    "float16": ("HalfStorage", "F16", "f2"),
    "bfloat16": ("BFloat16Storage", "BF16", "i2"),
    "float32": ("FloatStorage", "F32", "f4"),
    "float64": ("DoubleStorage", "F64", "f8"),
    "complex64": ("ComplexFloatStorage", "C64", "c8"),
    "complex128": ("ComplexDoubleStorage", "C128", "c16"),
}

NAMES = {name: vars(wg)[name] for name in _ROWS if name in vars(wg)}
STORAGES = {storage: dtype for name, dtype in NAMES.items() if (storage := _ROWS[name][0])}
SAFETENSORS = {_ROWS[name][1]: dtype for name, dtype in NAMES.items()}
STORAGE_OF = {dtype: storage for storage, dtype in STORAGES.items()}
SAFETENSORS_OF = {dtype: name for name, dtype in SAFETENSORS.items()}
NUMPY = {dtype: np.dtype(_ROWS[name][2]) for name, dtype in NAMES.items()}

# What files may hold and this package does not: said as such, and not as something dangerous.
UNSUPPORTED = {row[0] for name, row in _ROWS.items() if name not in NAMES and row[0]}


def flat_tensor(data: np.ndarray[Any, Any], dtype: Any, big_endian: bool = False) -> Any:
    """Return bytes as a tensor of one dimension that shares their memory, or on a copy if that needs rearranging."""
    kind = NUMPY[dtype]
    aligned = data.size == 0 or data.ctypes.data % kind.itemsize == 0
    elements = (data if aligned else data.copy()).view(kind)
    return wg.from_numpy(elements.byteswap() if big_endian else elements).view(dtype)


def bytes_of(tensor: Any) -> np.ndarray[Any, Any]:
    """Return the elements of a tensor, in order, as bytes; its own memory if it is contiguous and on the CPU."""
    plain = tensor.detach().resolve_conj().resolve_neg().contiguous().cpu()
    values: np.ndarray[Any, Any] = plain.reshape(-1).view(wg.uint8).numpy()
    return values
