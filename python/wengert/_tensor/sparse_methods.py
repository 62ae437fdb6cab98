"""Methods of Tensor that are about sparse layouts; `wengert.sparse` does the work, loaded when it is needed."""

from __future__ import annotations

from typing import Any, NoReturn

from wengert import _C


def _of(tensor: Any, method: str, expected: str) -> Any:
    """Return the module that has what the methods do; an error for dense tensors."""
    if tensor.layout == _C.strided:
        raise RuntimeError(f"{method} expected {expected} tensor layout but got Strided")
    from wengert.sparse import _methods

    return _methods


def to_sparse(
    self: Any, sparse_dim: Any = None, *, layout: Any = None, blocksize: Any = None, dense_dim: Any = None
) -> Any:
    """Return the elements that are not zero as a sparse tensor.

    Parameters
    ----------
    sparse_dim : int, optional
        How many dimensions are sparse, from the first on; by default all of them.
    layout : layout, optional
        `sparse_coo`, the default, `sparse_csr` or `sparse_csc`.
    blocksize : None
        Layouts of blocks are not supported.
    dense_dim : int, optional
        How many dimensions are not sparse, from the last on.

    Returns
    -------
    Tensor
        Differentiable; the gradient is zero where there is no element.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse().values()
    tensor([2., 3.])
    """
    from wengert.sparse import _methods

    if blocksize is not None:
        raise NotImplementedError("[to_sparse] layouts of blocks are not supported; leave out blocksize")
    return _methods.to_sparse(self, sparse_dim, layout=layout, dense_dim=dense_dim)


def to_sparse_coo(self: Any) -> Any:
    """Return the elements that are not zero with their coordinates; see `to_sparse`."""
    return to_sparse(self)


def to_sparse_csr(self: Any, dense_dim: Any = None) -> Any:
    """Return the elements of a matrix that are not zero in compressed rows; see `to_sparse`."""
    return to_sparse(self, layout=_C.sparse_csr, dense_dim=dense_dim)


def to_sparse_csc(self: Any, dense_dim: Any = None) -> Any:
    """Return the elements of a matrix that are not zero in compressed columns; see `to_sparse`."""
    return to_sparse(self, layout=_C.sparse_csc, dense_dim=dense_dim)


def to_sparse_bsr(self: Any, blocksize: Any, dense_dim: Any = None) -> NoReturn:
    """Raise NotImplementedError: there are no layouts of blocks."""
    raise NotImplementedError("[to_sparse_bsr] layouts of blocks are not supported; use to_sparse_csr")


def to_sparse_bsc(self: Any, blocksize: Any, dense_dim: Any = None) -> NoReturn:
    """Raise NotImplementedError: there are no layouts of blocks."""
    raise NotImplementedError("[to_sparse_bsc] layouts of blocks are not supported; use to_sparse_csc")


def to_dense(self: Any, dtype: Any = None, *, masked_grad: bool | None = None) -> Any:
    """Return a dense tensor with the same elements; a dense one itself.

    Parameters
    ----------
    dtype : dtype, optional
        To which elements are converted.
    masked_grad : bool, optional
        False for a gradient of all places, and not only of those with elements.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import wengert as wg
    >>> wg.sparse_coo_tensor([[0, 1]], [2.0, 3.0], (3,)).to_dense()
    tensor([2., 3., 0.])
    """
    if self.layout == _C.strided:
        return self if dtype is None else self.to(dtype)
    from wengert.sparse import _methods

    return _methods.to_dense(self, dtype, masked_grad=masked_grad)


def sparse_mask(self: Any, mask: Any) -> Any:
    """Return the elements at the places of a sparse tensor.

    Parameters
    ----------
    mask : Tensor
        Sparse, of the same shape. Its values do not matter.

    Returns
    -------
    Tensor
        In the layout of `mask`.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.tensor([5.0, 6.0, 7.0]).sparse_mask(wg.sparse_coo_tensor([[0, 2]], [1.0, 1.0], (3,))).values()
    tensor([5., 7.])
    """
    from wengert.sparse import _methods

    return _methods.sparse_mask(self, mask)


def indices(self: Any) -> Any:
    """Return the coordinates of the elements of a coalesced tensor, [sparse dimensions, n]."""
    return _of(self, "indices", "sparse coordinate").indices(self)


def _indices(self: Any) -> Any:
    """Return the coordinates of the elements, coalesced or not."""
    return _of(self, "_indices", "sparse coordinate").raw_indices(self)


def values(self: Any) -> Any:
    """Return the elements of a coalesced tensor, [n, *dense sizes]; differentiable."""
    return _of(self, "values", "sparse").values(self)


def _values(self: Any) -> Any:
    """Return the elements, coalesced or not, without history."""
    return _of(self, "_values", "sparse").raw_values(self)


def crow_indices(self: Any) -> Any:
    """Return where the elements of each row begin, [rows + 1]."""
    return _of(self, "crow_indices", "sparse row compressed").crow_indices(self)


def col_indices(self: Any) -> Any:
    """Return the column of each element in compressed rows, [n]."""
    return _of(self, "col_indices", "sparse row compressed").col_indices(self)


def ccol_indices(self: Any) -> Any:
    """Return where the elements of each column begin, [columns + 1]."""
    return _of(self, "ccol_indices", "sparse column compressed").ccol_indices(self)


def row_indices(self: Any) -> Any:
    """Return the row of each element in compressed columns, [n]."""
    return _of(self, "row_indices", "sparse column compressed").row_indices(self)


def coalesce(self: Any) -> Any:
    """Return the tensor with each place once, in the order of rows; elements at one place are added."""
    return _of(self, "coalesce", "sparse coordinate").coalesced(self)


def is_coalesced(self: Any) -> bool:
    """Whether places are known to be distinct and in the order of rows."""
    found: bool = _of(self, "is_coalesced", "sparse coordinate").is_coalesced(self)
    return found


def _coalesced_(self: Any, coalesced: bool) -> Any:
    """Say that the tensor is coalesced, or not."""
    return _of(self, "_coalesced_", "sparse coordinate").mark_coalesced(self, coalesced)


def _nnz(self: Any) -> int:
    """Return how many elements there are."""
    found: int = _of(self, "_nnz", "sparse").number(self)
    return found


def sparse_dim(self: Any) -> int:
    """Return how many dimensions are sparse; 0 of a dense tensor."""
    if self.layout == _C.strided:
        return 0
    found: int = _of(self, "sparse_dim", "sparse").sparse_dim(self)
    return found


def dense_dim(self: Any) -> int:
    """Return how many dimensions are not sparse."""
    if self.layout == _C.strided:
        return int(self.dim())
    found: int = _of(self, "dense_dim", "sparse").dense_dim(self)
    return found


def sparse_resize_(self: Any, size: Any, sparse_dim: int, dense_dim: int) -> Any:
    """Change the shape in place, to a larger one or of a tensor without elements.

    Parameters
    ----------
    size : sequence of int
    sparse_dim, dense_dim : int
        How many dimensions are sparse, and how many are not.

    Returns
    -------
    Tensor
        `self`
    """
    return _of(self, "sparse_resize_", "sparse").resize(self, size, sparse_dim, dense_dim, False)


def sparse_resize_and_clear_(self: Any, size: Any, sparse_dim: int, dense_dim: int) -> Any:
    """Change the shape in place and leave all elements out; as `sparse_resize_`."""
    return _of(self, "sparse_resize_and_clear_", "sparse").resize(self, size, sparse_dim, dense_dim, True)


METHODS = (
    to_sparse, to_sparse_coo, to_sparse_csr, to_sparse_csc, to_sparse_bsr, to_sparse_bsc, to_dense, sparse_mask,
    indices, _indices, values, _values, crow_indices, col_indices, ccol_indices, row_indices, coalesce, is_coalesced,
    _coalesced_, _nnz, sparse_dim, dense_dim, sparse_resize_, sparse_resize_and_clear_,
)  # fmt: skip
