"""Between dense tensors, layouts and SciPy's arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert import _C
from wengert.autograd._custom_function.function import Function

from ._numbers import array_of
from ._pattern import COMPRESSED, COO, CSC, CSR, Pattern, from_keys
from ._rules import above
from ._tensor import in_layout, is_sparse, like, pattern_of, sparse, values_at, values_of


# --- To dense
def to_dense(input: Any, dtype: Any = None, *, masked_grad: bool | None = None) -> Any:
    """Return a dense tensor with the elements of a sparse one."""
    values = values_of(input) if masked_grad is not False else None
    dense = ToDense.apply(input) if values is None else _filled(pattern_of(input), values)
    return dense if dtype is None else dense.to(dtype)


def _filled(pattern: Pattern, values: Any) -> Any:
    zeros = _C.zeros((math.prod(pattern.shape), *values.shape[1:]), dtype=values.dtype, device=values.device)
    return zeros.index_add(0, pattern.flat.to(values.device), values).reshape(*pattern.shape, *values.shape[1:])


class ToDense(Function):
    """With a gradient for all places: `masked_grad=False`."""

    @staticmethod
    def forward(tensor: Any) -> Any:
        return _filled(pattern_of(tensor), tensor._pattern.values_in_order(tensor._stored))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad

    @staticmethod
    def jvp(ctx: Any, tangent: Any) -> Any:
        return to_dense(tangent) if is_sparse(tangent) else tangent


# --- From dense, and between layouts
LAYOUTS = (COO, *COMPRESSED)


def to_sparse(input: Any, sparse_dim: Any = None, *, layout: Any = None, dense_dim: Any = None) -> Any:
    """Return the elements that are not zero in a layout of coordinates or compressed rows or columns."""
    if layout is None:
        layout = COO
    if layout == _C.strided or layout not in LAYOUTS:
        raise NotImplementedError(
            f"[to_sparse] layout must be one of {LAYOUTS}; blocks are not supported, got {layout}"
        )
    if is_sparse(input):
        if input.layout == layout:
            return input
        if layout in COMPRESSED:
            _require_compressible(len(pattern_of(input).shape), input.ndim)
        return in_layout(pattern_of(input), values_of(input), layout)
    number = input.ndim - (dense_dim or 0) if sparse_dim is None else sparse_dim
    if not 0 < number <= input.ndim:
        raise RuntimeError(f"sparse_dim must be between 1 and the number of dimensions, {input.ndim}, but got {number}")
    if layout in COMPRESSED:
        _require_compressible(number, input.ndim)
    there = input.detach() != 0
    if number < input.ndim:
        there = there.flatten(number).any(-1)
    keys = there.reshape(-1).nonzero().squeeze(1)
    pattern = from_keys(keys.cpu().numpy(), tuple(input.shape[:number]))
    values = input.reshape(-1, *input.shape[number:]).index_select(0, keys)
    return in_layout(pattern, values, layout)


def _require_compressible(number: int, dims: int) -> None:
    if number != 2 or dims != 2:
        raise RuntimeError(
            f"compressed layouts are those of matrices without dense dimensions, but got {dims} dimensions, {number} "
            "of them sparse"
        )


@above("sparse_mask")
def sparse_mask(input: Any, mask: Any) -> Any:
    """Return the elements of a tensor at the places of a sparse one."""
    if not is_sparse(mask):
        raise RuntimeError("sparse_mask: the mask must be a sparse tensor")
    if input.shape != mask.shape:
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(input.shape)} but mask has size "
            f"{list(mask.shape)}"
        )
    return like(mask, values_at(input, pattern_of(mask)))


# --- SciPy
def from_scipy(matrix: Any, *, requires_grad: bool = False) -> Any:
    """Return a sparse tensor on the memory of one of SciPy's sparse arrays or matrices.

    Parameters
    ----------
    matrix : scipy.sparse array or matrix
        In the format 'coo', 'csr' or 'csc' nothing is copied: a change of its values is one of the tensor's. Other
        formats are converted to 'csr' before.
    requires_grad : bool
        Whether gradients are wanted.

    Returns
    -------
    Tensor
        In the layout of the format.

    Examples
    --------
    >>> import scipy.sparse
    >>> import wengert as wg
    >>> wg.sparse.from_scipy(scipy.sparse.csr_array([[0.0, 2.0], [3.0, 0.0]]))
    tensor(crow_indices=tensor([0, 1, 2]),
           col_indices=tensor([1, 0]),
           values=tensor([2., 3.]), size=(2, 2), nnz=2, dtype=wengert.float64,
           layout=wengert.sparse_csr)
    """
    if not hasattr(matrix, "tocsr"):
        raise TypeError(f"[from_scipy] expected one of SciPy's sparse arrays, got {type(matrix).__name__}")
    if getattr(matrix, "format", None) not in ("coo", "csr", "csc"):
        matrix = matrix.tocsr()
    if matrix.format == "coo":
        coordinates = matrix.coords if hasattr(matrix, "coords") else (matrix.row, matrix.col)
        pattern = Pattern(COO, matrix.shape, tuple(coordinates))
    else:
        layout = CSR if matrix.format == "csr" else CSC
        pattern = Pattern(layout, matrix.shape, (matrix.indptr, matrix.indices))
    pattern.check()
    if len(matrix.data) != pattern.nnz:  # SciPy lets memory be longer than what is used
        matrix = matrix.copy()
        return from_scipy(matrix, requires_grad=requires_grad)
    return sparse(pattern, _C.from_numpy(matrix.data)).requires_grad_(requires_grad)


def to_scipy(input: Any) -> Any:
    """Return one of SciPy's sparse arrays on the memory of a sparse tensor.

    Parameters
    ----------
    input : Tensor
        Sparse, without a gradient to lose: call ``detach()`` first.

    Returns
    -------
    scipy.sparse.coo_array, csr_array or csc_array
        By the layout. Nothing is copied, so that a change of values is one of the tensor's.

    Raises
    ------
    RuntimeError
        If the tensor requires grad, or has dense dimensions.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.sparse.to_scipy(wg.eye(3).to_sparse_csr()).trace()
    np.float32(3.0)
    """
    if not is_sparse(input):
        raise RuntimeError("[to_scipy] expected a sparse tensor; use x.to_sparse() first")
    if input.requires_grad:
        raise RuntimeError("Can't call to_scipy() on Tensor that requires grad. Use tensor.detach() first.")
    if input.ndim != len(input._pattern.shape):
        raise RuntimeError("[to_scipy] SciPy's arrays have no dense dimensions; use x.to_dense()")
    from scipy import sparse as scipy_sparse

    pattern, values = input._pattern, array_of(input._stored)
    pattern.check()
    arrays = pattern.lend()
    if pattern.layout == COO:
        return scipy_sparse.coo_array((values, arrays), shape=pattern.shape, copy=False)
    kind = scipy_sparse.csr_array if pattern.layout == CSR else scipy_sparse.csc_array
    return kind((values, arrays[1], arrays[0]), shape=pattern.shape, copy=False)


def index_tensor(array: Any) -> Any:
    """Return an array of indices as a tensor on its memory."""
    return _C.from_numpy(np.ascontiguousarray(array))
