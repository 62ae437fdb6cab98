"""Products of sparse matrices with dense and with sparse ones: `mm`, `addmm`, `sampled_addmm`, the operator ``@``."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import _C

from ._bilinear import multiply, restricted, sample
from ._elementwise import add
from ._numbers import as_operand, require_same_dtype
from ._pattern import COO, Pattern
from ._rules import above
from ._tensor import in_layout, is_sparse, like, pattern_of, values_of


@above("matmul", "__matmul__", "mm", "mv")
def matmul(input: Any, other: Any) -> Any:
    """Return the matrix product; dense unless both are sparse."""
    input, other = as_operand("matmul", input), as_operand("matmul", other)
    if not is_sparse(input) and not is_sparse(other):
        return _C.matmul(input, other)
    for matrix in (input, other):
        if is_sparse(matrix):
            require_matrix("matmul", matrix)
    require_same_dtype("matmul", input, other)
    dims = input.ndim, other.ndim
    if min(dims) < 1 or max(dims) > 2:
        raise RuntimeError(
            f"[matmul] products of sparse tensors take matrices and vectors, but got {tuple(input.shape)} and "
            f"{tuple(other.shape)}; use vmap for batches"
        )
    if input.shape[-1] != other.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({_sizes(input)} and {_sizes(other)}): the last size of one "
            "must equal the first of the other"
        )
    if is_sparse(input) and is_sparse(other):
        return _sparse_product(input, other)
    if is_sparse(input):
        columns = other if other.ndim == 2 else other.unsqueeze(1)
        product = multiply(pattern_of(input), values_of(input), columns)
    else:  # (B^T A^T)^T
        rows = input if input.ndim == 2 else input.unsqueeze(0)
        product = multiply(pattern_of(other), values_of(other), rows.T, True).T
    return product if 1 not in dims else product.squeeze(1 if is_sparse(input) else 0)


def _sizes(tensor: Any) -> str:
    return "x".join(str(size) for size in tensor.shape)


def _sparse_product(input: Any, other: Any) -> Any:
    a, b = pattern_of(input), pattern_of(other)
    structure = a.matrix(np.ones(a.nnz, np.int8)).astype(bool) @ b.matrix(np.ones(b.nnz, np.int8)).astype(bool)
    structure.sort_indices()
    width = a.coordinates[0].dtype
    rows = np.repeat(np.arange(structure.shape[0], dtype=width), np.diff(structure.indptr))
    coordinates = (rows, structure.indices.astype(width, copy=False))
    c = Pattern(COO, structure.shape, coordinates, is_coalesced=True, is_private=True)
    return in_layout(c, restricted(values_of(input), values_of(other), (a, b, c), (False, False)), input.layout)


def mm(sparse: Any, dense: Any, reduce: str = "sum") -> Any:
    """Return the matrix product of a sparse matrix and a dense or sparse one.

    Parameters
    ----------
    sparse : Tensor
        A matrix, [n, m], sparse or dense.
    dense : Tensor
        A matrix, [m, p], or a vector, [m]; dense or sparse.
    reduce : {'sum', 'mean', 'amax', 'amin'}
        How the products of an element of the result are put together. All but the sum take a dense second factor, and
        leave out what the first has no element for.

    Returns
    -------
    Tensor
        [n, p]; sparse in the layout of the first where both factors are sparse, else dense. The gradient of a sparse
        factor is sparse and has its places.

    Raises
    ------
    RuntimeError
        If shapes or dtypes do not fit.

    Examples
    --------
    >>> import wengert as wg
    >>> a = wg.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse()
    >>> wg.sparse.mm(a, wg.ones(2, 1))
    tensor([[2.],
            [3.]])
    """
    if reduce == "sum":
        return matmul(sparse, dense)
    if reduce not in ("mean", "amax", "amin"):
        raise RuntimeError(f"reduce argument must be either sum, mean, amax or amin, got {reduce}")
    dense = as_operand("sparse.mm", dense)
    if not is_sparse(sparse) or is_sparse(dense) or dense.ndim != 2:
        raise RuntimeError(f"[sparse.mm] reduce={reduce!r} takes a sparse matrix and a dense one")
    require_matrix("sparse.mm", sparse)
    pattern = pattern_of(sparse)
    rows, columns = pattern.axes
    terms = values_of(sparse).unsqueeze(1) * dense.index_select(0, columns)
    zeros = _C.zeros((pattern.shape[0], dense.shape[1]), dtype=terms.dtype, device=terms.device)
    return zeros.scatter_reduce(0, rows.unsqueeze(1).expand_as(terms), terms, reduce, include_self=False)


@above("addmm")
def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return ``beta * input + alpha * (mat1 @ mat2)``, where some of the matrices are sparse.

    Parameters
    ----------
    input : Tensor
        Added to the product; broadcast to it where it is dense.
    mat1, mat2 : Tensor
        [n, m] and [m, p]
    beta, alpha : number
        Factors.

    Returns
    -------
    Tensor
        [n, p]; sparse where everything is sparse.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.sparse.addmm(wg.ones(2, 2), wg.eye(2).to_sparse(), wg.eye(2), beta=3)
    tensor([[4., 3.],
            [3., 4.]])
    """
    product = matmul(mat1, mat2)
    product = product if alpha == 1 else product * alpha
    input = input if beta == 1 else input * beta
    return add(input, product)


def sampled_addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1.0, alpha: Any = 1.0) -> Any:
    """Return ``beta * input + alpha * (mat1 @ mat2)`` at the places of `input` only.

    Parameters
    ----------
    input : Tensor
        A sparse matrix, [n, p].
    mat1, mat2 : Tensor
        Dense matrices, [n, m] and [m, p].
    beta, alpha : number
        Factors.

    Returns
    -------
    Tensor
        Sparse, with the places of `input`; no other element of the product is computed.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.sparse.sampled_addmm(wg.eye(2).to_sparse_csr(), wg.ones(2, 3), wg.ones(3, 2)).to_dense()
    tensor([[4., 0.],
            [0., 4.]])
    """
    mat1, mat2 = as_operand("sampled_addmm", mat1), as_operand("sampled_addmm", mat2)
    if not is_sparse(input):
        raise RuntimeError("Expected self to have sparse layout, but got Strided")
    require_matrix("sampled_addmm", input)
    require_same_dtype("sampled_addmm", input, mat1, mat2)
    if mat1.ndim != 2 or mat2.ndim != 2 or mat1.shape[1] != mat2.shape[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({_sizes(mat1)} and {_sizes(mat2)})")
    if tuple(input.shape) != (mat1.shape[0], mat2.shape[1]):
        raise RuntimeError(
            f"self.shape {tuple(input.shape)} must be that of the product, ({mat1.shape[0]}, {mat2.shape[1]})"
        )
    values = sample(pattern_of(input), mat1, mat2.T)
    return like(input, values_of(input) * beta + values * alpha)


@above("linear")
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """Return ``input @ weight.T + bias``; one of the two matrices is sparse."""
    rows = input if is_sparse(input) or input.ndim <= 2 else input.reshape(-1, input.shape[-1])
    product = matmul(rows, weight.t())
    product = product if rows is input else product.reshape(*input.shape[:-1], product.shape[-1])
    return product if bias is None else product + bias


@above("dot", "vdot", "inner")
def dot(input: Any, other: Any) -> Any:
    """Return the sum of the products of two vectors' elements."""
    return (input * other).sum()


@above("smm")
def smm(input: Any, mat: Any) -> Any:
    """Return the product as a sparse matrix."""
    return matmul(input, mat).to_sparse()


@above("hspmm")
def hspmm(mat1: Any, mat2: Any) -> Any:
    """Return the product as a matrix of sparse rows."""
    return matmul(mat1, mat2).to_sparse(1)


def require_matrix(name: str, matrix: Any) -> None:
    """Raise RuntimeError if a sparse tensor has other than two sparse dimensions."""
    if matrix.ndim != 2 and not (matrix.ndim == 1 and name == "matmul"):
        raise RuntimeError(f"[{name}] expected a sparse matrix, got a sparse tensor of shape {tuple(matrix.shape)}")
    if matrix.ndim != len(matrix._pattern.shape):
        raise RuntimeError(
            f"[{name}] expected a matrix whose dimensions are both sparse, got one with dense dimensions"
        )
