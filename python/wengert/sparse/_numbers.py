"""Between tensors and the arrays that SciPy computes with.

Arrays share the memory of tensors on the host; those of another device are copied there and back. SciPy's compiled code
takes float32, float64 and their complex numbers, and integers; types of 16 bits are computed in float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import _C

Array = np.ndarray[Any, Any]


def array_of(tensor: Any) -> Array:
    """Return a contiguous array with the elements of a tensor."""
    tensor = tensor.detach().cpu()
    if tensor.dtype in (_C.float16, _C.bfloat16):
        tensor = tensor.to(_C.float32)
    if tensor.is_conj():
        tensor = tensor.resolve_conj()
    return np.ascontiguousarray(tensor.numpy())


def tensor_of(array: Array, like: Any) -> Any:
    """Return a tensor with the elements of an array, of dtype and device of another tensor."""
    return _C.from_numpy(np.ascontiguousarray(array)).to(device=like.device, dtype=like.dtype)


def conjugated(tensor: Any) -> Any:
    """Return the complex conjugate; a real tensor itself."""
    return tensor.conj() if tensor.is_complex() else tensor


def as_operand(name: str, value: Any) -> Any:
    """Return a tensor, or an array as one; TypeError for anything else."""
    if isinstance(value, _C.Tensor):
        return value
    if isinstance(value, np.ndarray):
        return _C.from_numpy(value)
    raise TypeError(f"[{name}] expected a tensor, got {type(value).__name__}")


def require_same_dtype(name: str, *tensors: Any) -> None:
    """Raise RuntimeError where dtypes differ."""
    dtypes = [t.dtype for t in tensors]
    if any(dtype != dtypes[0] for dtype in dtypes):
        shown = " and ".join(str(dtype).rpartition(".")[2] for dtype in dtypes)
        raise RuntimeError(
            f"[{name}] expected operands of the same dtype, but got {shown}; convert one with x.to(dtype)"
        )
