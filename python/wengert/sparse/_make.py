"""Making sparse tensors from indices and values."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import _C

from ._pattern import COMPRESSED, COO, CSC, CSR, Pattern, from_keys
from ._rules import above
from ._tensor import is_sparse, pattern_of, sparse, values_of, with_values

_INDEX_TYPES = (_C.int32, _C.int64)


def _indices(name: str, given: Any, ndim: int) -> tuple[Any, bool]:
    """Return an array of indices, and whether nobody else has its memory."""
    if not isinstance(given, _C.Tensor):
        tensor, is_private = _C.tensor(given if not isinstance(given, np.ndarray) else given.copy()), True
    else:
        tensor, is_private = given.detach(), False
    if tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == _C.bool:
        if tensor.numel() and not isinstance(given, _C.Tensor):
            raise TypeError(f"{name} must be integers, got {tensor.dtype}")
        if tensor.is_complex():
            raise TypeError(f"{name} must be integers, got {tensor.dtype}")
    if tensor.dtype not in _INDEX_TYPES:
        tensor, is_private = tensor.to(_C.int64), True
    tensor = tensor.cpu()
    if tensor.ndim != ndim:
        expected = "sparse_dim x nnz" if ndim == 2 else "of one dimension"
        raise RuntimeError(f"{name} must be {expected}, but got: {list(tensor.shape)}")
    return tensor.numpy(), is_private


def _values(given: Any, dtype: Any, device: Any) -> Any:
    if isinstance(given, _C.Tensor):
        if is_sparse(given):
            raise RuntimeError("expected values to be a strided tensor, but got a sparse one")
        if dtype is not None or device is not None:
            given = given.to(dtype=dtype or given.dtype, device=device or given.device)
        return given
    return _C.tensor(given, dtype=dtype, device=device)


def _finish(pattern: Pattern, values: Any, requires_grad: bool) -> Any:
    pattern.check()
    if requires_grad and not (values.is_floating_point() or values.is_complex()):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    made = with_values(pattern, values)
    return made.requires_grad_() if requires_grad and not made.requires_grad else made


def sparse_coo_tensor(
    indices: Any,
    values: Any = None,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Any:
    """Make a sparse tensor from the coordinates of its elements.

    Parameters
    ----------
    indices : array_like of int
        [sparse dimensions, n]. A tensor is not copied. With sizes alone, ``sparse_coo_tensor((2, 3))``, there are no
        elements.
    values : array_like
        [n, dense sizes]. A tensor is not copied, and the result is differentiable with respect to it.
    size : sequence of int, optional
        By default the smallest that holds all elements.
    dtype, device
        Of the values, by default those that they have.
    pin_memory : bool
        Ignored.
    requires_grad : bool
        Whether the tensor is a leaf that gets a gradient, which is sparse.
    check_invariants : bool, optional
        Ignored: indices are always checked.
    is_coalesced : bool, optional
        True promises that places are distinct and in the order of rows; this is checked.

    Returns
    -------
    Tensor
        Of the layout `sparse_coo`. Elements may share a place; they are added when the tensor is coalesced or used.

    Raises
    ------
    RuntimeError
        If an index is negative or does not fit the size, or numbers of indices and values differ.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    if values is None or (size is None and not isinstance(values, _C.Tensor) and _is_size(indices) and values is None):
        shape = tuple(int(n) for n in (indices if values is None else values))
        empty = _C.zeros(0, dtype=dtype, device=device)
        return sparse(from_keys(np.zeros(0, dtype=np.int64), shape), empty).requires_grad_(requires_grad)
    values = _values(values, dtype, device)
    if not isinstance(indices, _C.Tensor) and np.size(indices) == 0 and np.ndim(indices) < 2:
        indices = np.zeros((len(size or ()), 0), dtype=np.int64)
    array, is_private = _indices("indices", indices, 2)
    if values.ndim == 0:
        values = values.expand(array.shape[1])
    dense = tuple(values.shape[1:])
    if size is None:
        low = array.min(initial=0)
        if low < 0:
            dim = int(np.argmin(array.min(axis=1)))
            raise RuntimeError(f"found negative index {low} for dim {dim}")
        shape = tuple(int(axis.max(initial=-1)) + 1 for axis in array)
    else:
        size = tuple(int(n) for n in size)
        if len(size) != len(array) + len(dense):
            raise RuntimeError(
                f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, sparse_dim = "
                f"{len(array)}, dense_dim = {len(dense)}"
            )
        shape = size[: len(array)]
        if any(n < 0 for n in size) or size[len(array) :] != dense:
            raise RuntimeError(f"values of shape {tuple(values.shape)} do not fit the size {size}")
    if array.shape[1] != values.shape[0]:
        raise RuntimeError(
            f"indices and values must have same nnz, but got nnz from indices: {array.shape[1]}, nnz from values: "
            f"{values.shape[0]}"
        )
    pattern = Pattern(COO, shape, tuple(array), is_private=is_private)
    if is_coalesced:
        pattern.check()
        if not pattern._is_sorted:
            raise RuntimeError("is_coalesced=True, but places are not distinct and in the order of rows")
        pattern.is_coalesced = True
    return _finish(pattern, values, requires_grad)


def _is_size(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and all(isinstance(n, int) for n in value)


def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Any:
    """Make a sparse matrix from pointers to its rows or columns.

    Parameters
    ----------
    compressed_indices : array_like of int
        [rows + 1], or [columns + 1]: where the elements of each row or column begin, and their number.
    plain_indices : array_like of int
        [n], the column or row of each element.
    values : array_like
        [n]. A tensor is not copied, and the result is differentiable with respect to it.
    size : sequence of int, optional
        By default the smallest that holds all elements.
    dtype, device
        Of the values, by default those that they have.
    layout : layout
        `sparse_csr` or `sparse_csc`.
    pin_memory : bool
        Ignored.
    requires_grad : bool
        Whether the tensor is a leaf that gets a gradient, which is sparse.
    check_invariants : bool, optional
        Ignored: indices are always checked. Those of a row need no order, and may coincide.

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        If indices do not fit each other or the size.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.sparse_compressed_tensor([0, 1, 2], [2, 0], [3.0, 4.0], (2, 3), layout=wg.sparse_csr).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    if layout is None or layout in (COO, _C.strided):
        raise RuntimeError(
            f"sparse_compressed_tensor expected sparse compressed tensor layout but got {layout or 'none'}"
        )
    if layout not in COMPRESSED:
        raise NotImplementedError(f"[sparse_compressed_tensor] blocks are not supported, got {layout}; use sparse_csr")
    names = ("crow_indices", "col_indices") if layout == CSR else ("ccol_indices", "row_indices")
    values = _values(values, dtype, device)
    pointers, private = _indices(names[0], compressed_indices, 1)
    plain, also_private = _indices(names[1], plain_indices, 1)
    if values.ndim != 1:
        raise NotImplementedError(
            f"[sparse_compressed_tensor] values must have one dimension, got {tuple(values.shape)}: batches, blocks "
            "and dense dimensions are those of sparse_coo_tensor"
        )
    if len(plain) != len(values):
        raise RuntimeError(
            f"number of specified elements must be the same for {names[1]} and values, but got {len(plain)} and "
            f"{len(values)}"
        )
    if size is None:
        lines, across = max(len(pointers) - 1, 0), int(plain.max(initial=-1)) + 1
        size = (lines, across) if layout == CSR else (across, lines)
    size = tuple(int(n) for n in size)
    if len(size) != 2 or min(size) < 0:
        raise RuntimeError(f"a compressed layout is that of a matrix, but got size {size}")
    if pointers.dtype != plain.dtype:
        raise RuntimeError(
            f"{names[0]} and {names[1]} must have the same dtype, got {pointers.dtype} and {plain.dtype}"
        )
    pattern = Pattern(layout, size, (pointers, plain), is_private=private and also_private)
    return _finish(pattern, values, requires_grad)


def sparse_csr_tensor(crow_indices: Any, col_indices: Any, values: Any, size: Any = None, **options: Any) -> Any:
    """Make a sparse matrix from pointers to its rows.

    Parameters
    ----------
    crow_indices : array_like of int
        [rows + 1], where the elements of each row begin, and their number.
    col_indices : array_like of int
        [n], the column of each element.
    values : array_like
        [n]
    size : sequence of int, optional
        By default the smallest that holds all elements.
    **options
        As those of `sparse_compressed_tensor`.

    Returns
    -------
    Tensor
        Of the layout `sparse_csr`.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.sparse_csr_tensor([0, 1, 2], [2, 0], [3.0, 4.0], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    return sparse_compressed_tensor(crow_indices, col_indices, values, size, **{"layout": CSR, **options})


def sparse_csc_tensor(ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, **options: Any) -> Any:
    """Make a sparse matrix from pointers to its columns.

    Parameters
    ----------
    ccol_indices : array_like of int
        [columns + 1], where the elements of each column begin, and their number.
    row_indices : array_like of int
        [n], the row of each element.
    values : array_like
        [n]
    size : sequence of int, optional
        By default the smallest that holds all elements.
    **options
        As those of `sparse_compressed_tensor`.

    Returns
    -------
    Tensor
        Of the layout `sparse_csc`.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.sparse_csc_tensor([0, 1, 1, 2], [1, 0], [4.0, 3.0], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    return sparse_compressed_tensor(ccol_indices, row_indices, values, size, **{"layout": CSC, **options})


def spdiags(diagonals: Any, offsets: Any, shape: Any, layout: Any = None) -> Any:
    """Make a sparse matrix from its diagonals.

    Parameters
    ----------
    diagonals : Tensor
        [d, n], a diagonal in each row, or [n] for one. Element j of a row stands in column j.
    offsets : Tensor of int
        [d], all different: 0 is the main diagonal, positive ones are above it.
    shape : tuple of int
        Of the matrix.
    layout : layout, optional
        `sparse_coo`, the default, `sparse_csr` or `sparse_csc`.

    Returns
    -------
    Tensor
        Differentiable with respect to `diagonals`.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.sparse.spdiags(wg.ones(2, 3), wg.tensor([0, 1]), (3, 3)).to_dense()
    tensor([[1., 1., 0.],
            [0., 1., 1.],
            [0., 0., 1.]])
    """
    from ._shapes import of_places

    diagonals = diagonals if isinstance(diagonals, _C.Tensor) else _C.tensor(diagonals)
    diagonals = diagonals.unsqueeze(0) if diagonals.ndim == 1 else diagonals
    steps = np.atleast_1d(np.asarray(offsets.detach().cpu().numpy() if isinstance(offsets, _C.Tensor) else offsets))
    if diagonals.ndim != 2:
        raise RuntimeError("Diagonals must be vector or matrix")
    if steps.ndim != 1 or len(steps) != len(diagonals):
        raise RuntimeError(
            f"Number of diagonals ({len(diagonals)}) does not match the number of offsets ({steps.size})"
        )
    if len(np.unique(steps)) != len(steps):
        raise RuntimeError("Offset tensor contains duplicate values")
    if len(shape) != 2:
        raise RuntimeError(f"Output shape must be 2d, but got {tuple(shape)}")
    rows, columns, taken = [], [], []
    for i, step in enumerate(steps.tolist()):
        at = np.arange(max(step, 0), max(min(shape[1], shape[0] + step, diagonals.shape[1]), max(step, 0)))
        rows.append(at - step)
        columns.append(at)
        taken.append(at + i * diagonals.shape[1])
    pattern = Pattern(COO, tuple(shape), (np.concatenate(rows), np.concatenate(columns)), is_private=True)
    values = diagonals.reshape(-1).index_select(0, _C.from_numpy(np.concatenate(taken)))
    return of_places(pattern, values, layout or COO)


@above("coalesce")
def coalesce(input: Any) -> Any:
    """Return the tensor with each place once, in the order of rows."""
    if input._pattern.is_coalesced:
        return input
    return with_values(pattern_of(input), values_of(input))
