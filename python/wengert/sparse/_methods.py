"""What the methods of Tensor that are about sparse layouts do (wengert/_tensor/sparse_methods.py has their pages)."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import _C

from ._convert import sparse_mask as sparse_mask
from ._convert import to_dense as to_dense
from ._convert import to_sparse as to_sparse
from ._make import coalesce as coalesce
from ._pattern import COMPRESSED, COO, CSC, CSR, Indices, Pattern, from_keys
from ._tensor import become, sparse, values_of

_NAMES = {COO: "Sparse", CSR: "SparseCsr", CSC: "SparseCsc"}


def _require(tensor: Any, layout: Any, method: str, kind: str) -> None:
    if tensor.layout != layout:
        raise RuntimeError(f"{method} expected {kind} tensor layout but got {_NAMES[tensor.layout]}")


def _require_coalesced(tensor: Any, method: str) -> None:
    if not tensor._pattern.is_coalesced:
        raise RuntimeError(f"Cannot get {method} on an uncoalesced tensor, please call .coalesce() first")


def _shared(pattern: Pattern, at: int) -> Any:
    return _C.from_numpy(_writable(pattern.lend()[at]))


def _writable(array: Indices) -> Indices:
    return array if array.flags.writeable and array.flags.c_contiguous else array.copy()


def raw_indices(tensor: Any) -> Any:
    """Return coordinates [sparse dimensions, n] as they are; a tensor's own memory where it is one block."""
    _require(tensor, COO, "_indices", "sparse coordinate")
    pattern = tensor._pattern
    arrays = pattern.arrays
    block: Any = arrays[0].base if arrays else None
    is_block = (
        isinstance(block, np.ndarray)
        and block.shape == (len(arrays), pattern.nnz)
        and block.dtype == np.int64
        and all(a.base is block and a.ctypes.data == block[i].ctypes.data for i, a in enumerate(arrays))
    )
    if not is_block:
        block = np.array(arrays, dtype=np.int64).reshape(len(pattern.shape), pattern.nnz)
        if pattern._is_private:
            pattern.arrays = tuple(block)
            if "coordinates" in pattern.__dict__:
                pattern.__dict__["coordinates"] = pattern.arrays
    pattern.lend()
    return _C.from_numpy(_writable(block))


def indices(tensor: Any) -> Any:
    """Return the coordinates of a coalesced tensor."""
    _require(tensor, COO, "indices", "sparse coordinate")
    _require_coalesced(tensor, "indices")
    return raw_indices(tensor)


def raw_values(tensor: Any) -> Any:
    """Return the values as they are, without history."""
    return tensor._stored


def values(tensor: Any) -> Any:
    """Return the values, differentiable."""
    pattern = tensor._pattern
    if tensor.layout == COO:
        _require_coalesced(tensor, "values")
        return values_of(tensor)
    if pattern.coalesced.nnz != pattern.nnz:
        raise RuntimeError("Cannot get values on a tensor with places that coincide, use x.to_sparse_coo().coalesce()")
    return pattern.values_back(values_of(tensor)) if _C._asks_derivative(tensor) else tensor._stored


def crow_indices(tensor: Any) -> Any:
    """Return the pointers to rows."""
    _require(tensor, CSR, "crow_indices", "sparse row compressed")
    return _shared(tensor._pattern, 0)


def col_indices(tensor: Any) -> Any:
    """Return the column of each element."""
    _require(tensor, CSR, "col_indices", "sparse row compressed")
    return _shared(tensor._pattern, 1)


def ccol_indices(tensor: Any) -> Any:
    """Return the pointers to columns."""
    _require(tensor, CSC, "ccol_indices", "sparse column compressed")
    return _shared(tensor._pattern, 0)


def row_indices(tensor: Any) -> Any:
    """Return the row of each element."""
    _require(tensor, CSC, "row_indices", "sparse column compressed")
    return _shared(tensor._pattern, 1)


def is_coalesced(tensor: Any) -> bool:
    """Whether places are distinct and in order."""
    _require(tensor, COO, "is_coalesced", "sparse coordinate")
    return bool(tensor._pattern.is_coalesced)


def coalesced(tensor: Any) -> Any:
    """Return the coalesced tensor."""
    _require(tensor, COO, "coalesce", "sparse coordinate")
    return coalesce(tensor)


def mark_coalesced(tensor: Any, is_coalesced: bool) -> Any:
    """Say whether the tensor is coalesced; what is not true is refused."""
    pattern = tensor._pattern
    if is_coalesced and not pattern._is_sorted:
        raise RuntimeError("_coalesced_: the places are not distinct and in the order of rows; use coalesce()")
    tensor._pattern = Pattern(COO, pattern.shape, pattern.arrays, is_coalesced=is_coalesced)
    return tensor


def number(tensor: Any) -> int:
    """Return how many elements there are."""
    return int(tensor._pattern.nnz)


def sparse_dim(tensor: Any) -> int:
    """Return how many dimensions are sparse."""
    return len(tensor._pattern.shape)


def dense_dim(tensor: Any) -> int:
    """Return how many dimensions the values have beside the first."""
    return int(tensor._stored.ndim) - 1


def resize(tensor: Any, size: Any, sparse_dim: int, dense_dim: int, clear: bool) -> Any:
    """Change the shape in place; with `clear` without the elements."""
    size = tuple(int(n) for n in size)
    if len(size) != sparse_dim + dense_dim:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, sparse_dim = "
            f"{sparse_dim}, dense_dim = {dense_dim}"
        )
    if tensor.layout in COMPRESSED:
        raise NotImplementedError("[sparse_resize_] only tensors of coordinates are resized; make a new one")
    shape, dense = size[:sparse_dim], size[sparse_dim:]
    pattern, stored = tensor._pattern, tensor._stored
    if clear or pattern.nnz == 0:
        fresh = _C.zeros((0, *dense), dtype=tensor.dtype, device=tensor.device)
        other = sparse(from_keys(np.zeros(0, dtype=np.int64), shape), fresh)
    else:
        if (
            len(shape) != len(pattern.shape)
            or dense != tuple(stored.shape[1:])
            or any(new < old for new, old in zip(shape, pattern.shape, strict=True))
        ):
            raise RuntimeError(
                "changing the number of dimensions, or shrinking them, on a non-empty sparse tensor is not supported; "
                "use sparse_resize_and_clear_"
            )
        other = sparse(Pattern(COO, shape, pattern.arrays, is_coalesced=pattern.is_coalesced), stored)
    become(tensor, other)
    _C._set_geometry(tensor, size, tensor.dtype)
    return tensor
