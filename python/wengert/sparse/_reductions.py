"""Sums over dimensions of sparse tensors, norms, and softmax among the elements that are there."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import _C

from ._pattern import COO, Pattern
from ._rules import above
from ._shapes import of_places
from ._tensor import is_sparse, like, pattern_of, values_of


@above("sum")
def _sum_rule(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, **kwargs: Any) -> Any:
    if kwargs:
        dim, keepdim = kwargs.get("axis", dim), kwargs.get("keepdims", keepdim)
    return _sum(input, dim, keepdim, dtype)


def _sum(input: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    pattern, values = pattern_of(input), values_of(input)
    values = values.to(dtype) if dtype is not None else values
    number = len(pattern.shape)
    dims = set(range(input.ndim)) if dim is None or dim == () or dim == [] else _dims(input, dim)
    gone = sorted(d for d in dims if d < number)
    within = [d - number + 1 for d in sorted(dims) if d >= number]
    if within:
        values = values.sum(within, keepdim=keepdim)
    if len(gone) == number:
        total = values.sum(0)
        return total.reshape([1] * number + list(total.shape)) if keepdim else total
    if not gone:
        return of_places(pattern, values, input.layout)
    shape = tuple(1 if d in gone else s for d, s in enumerate(pattern.shape) if keepdim or d not in gone)
    zeros = np.zeros(pattern.nnz, dtype=np.int64)
    axes = tuple(zeros if d in gone else axis for d, axis in enumerate(pattern.coordinates) if keepdim or d not in gone)
    left = Pattern(COO, shape, axes, sharing=pattern)
    return of_places(left.coalesced, left.values_in_order(values), input.layout if keepdim else COO)


def _dims(input: Any, dim: Any) -> set[int]:
    given = [dim] if isinstance(dim, int) else list(dim)
    for d in given:
        if not -input.ndim <= d < input.ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-input.ndim}, {input.ndim - 1}], but got {d})"
            )
    dims = {d % input.ndim for d in given}
    if len(dims) != len(given):
        raise RuntimeError(f"dim {given} names a dimension twice")
    return dims


def sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """Return the sum of the elements, along all or some dimensions.

    Parameters
    ----------
    input : Tensor
        Sparse.
    dim : int or tuple of int, optional
        What is summed over; by default everything.
    dtype : dtype, optional
        To which values are converted before.

    Returns
    -------
    Tensor
        Dense where no sparse dimension is left, else sparse, in coordinates.

    Examples
    --------
    >>> import wengert as wg
    >>> a = wg.tensor([[0.0, 2.0], [3.0, 4.0]]).to_sparse()
    >>> wg.sparse.sum(a)
    tensor(9.)
    >>> wg.sparse.sum(a, 0).to_dense()
    tensor([3., 6.])
    """
    if not is_sparse(input):
        raise RuntimeError("[sparse.sum] expected a sparse tensor; use x.sum()")
    return _sum(input, dim, False, dtype)


@above("mean")
def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the mean of all elements, zeros included."""
    number = 1
    for d in range(input.ndim) if dim is None else _dims(input, dim):
        number *= input.shape[d]
    return _sum(input, dim, keepdim, dtype) / number


@above("norm", "vector_norm")
def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, **_: Any) -> Any:
    """Return the norm of all elements."""
    if dim is not None or keepdim:
        raise RuntimeError(
            "norm_sparse currently only supports full reductions, so 'dim' and 'keepdim' must be left out"
        )
    if isinstance(p, (int, float)) and p <= 0:
        raise RuntimeError("[norm] elements that are zero count for p <= 0; use x.to_dense()")
    return values_of(input).norm(p)


@above("allclose")
def allclose(input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all elements are close."""
    return bool(_C.allclose(input.to_dense(), other.to_dense(), rtol, atol, equal_nan))


@above("any")
def any_(input: Any) -> Any:
    """Whether any element is not zero."""
    return values_of(input).any()


@above("count_nonzero")
def count_nonzero(input: Any) -> Any:
    """Return how many elements are not zero."""
    return values_of(input).count_nonzero()


def _groups(pattern: Pattern, dim: int) -> tuple[Any, int]:
    """Number the lines along a dimension that have elements; return the line of each element, and their number."""
    others = [axis for d, axis in enumerate(pattern.coordinates) if d != dim]
    shape = tuple(s for d, s in enumerate(pattern.shape) if d != dim)
    if not others:
        return _C.zeros(pattern.nnz, dtype=_C.int64), 1
    lines = Pattern(COO, shape, tuple(others), sharing=pattern)
    keys, inverse = np.unique(lines.keys, return_inverse=True)
    return _C.from_numpy(inverse.astype(np.int64).reshape(-1)), len(keys)


def _log_sums(values: Any, lines: Any, number: int) -> tuple[Any, Any]:
    """Return values less the largest of their line, and the logarithm of each line's sum of exponentials of them."""
    index = lines.view(-1, *[1] * (values.ndim - 1)).expand_as(values)
    zeros = _C.zeros((number, *values.shape[1:]), dtype=values.dtype, device=values.device)
    largest = zeros.scatter_reduce(0, index, values.detach(), "amax", include_self=False)
    moved = values - largest.index_select(0, lines)
    return moved, zeros.index_add(0, lines, moved.exp()).log()


def log_softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Return the logarithm of `softmax`.

    Parameters
    ----------
    input : Tensor
        Sparse.
    dim : int
        The dimension along which elements are compared.
    dtype : dtype, optional
        To which values are converted before.

    Returns
    -------
    Tensor
        Sparse, with the places of `input`.

    Examples
    --------
    >>> import wengert as wg
    >>> a = wg.tensor([[0.0, 2.0, 2.0], [3.0, 0.0, 0.0]]).to_sparse()
    >>> wg.sparse.log_softmax(a, 1).values()
    tensor([-0.6931, -0.6931,  0.0000])
    """
    if not is_sparse(input):
        raise RuntimeError("[sparse.log_softmax] expected a sparse tensor; use x.log_softmax(dim)")
    (dim,) = _dims(input, dim)
    pattern, values = pattern_of(input), values_of(input)
    values = values.to(dtype) if dtype is not None else values
    if dim >= len(pattern.shape):
        return like(input, values.log_softmax(dim - len(pattern.shape) + 1))
    lines, number = _groups(pattern, dim)
    lines = lines.to(values.device)
    moved, sums = _log_sums(values, lines, number)
    return like(input, moved - sums.index_select(0, lines))


def softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Return the softmax of the elements along a dimension; places without an element count as minus infinity.

    Parameters
    ----------
    input : Tensor
        Sparse.
    dim : int
        The dimension along which elements are compared.
    dtype : dtype, optional
        To which values are converted before.

    Returns
    -------
    Tensor
        Sparse, with the places of `input`.

    Examples
    --------
    >>> import wengert as wg
    >>> a = wg.tensor([[0.0, 2.0, 2.0], [3.0, 0.0, 0.0]]).to_sparse()
    >>> wg.sparse.softmax(a, 1).values()
    tensor([0.5000, 0.5000, 1.0000])
    """
    logarithms = log_softmax(input, dim, dtype=dtype)
    return like(logarithms, values_of(logarithms).exp())


@above("softmax")
def _softmax_rule(input: Any, dim: int, dtype: Any = None, **_: Any) -> Any:
    return softmax(input, dim, dtype=dtype)


@above("log_softmax")
def _log_softmax_rule(input: Any, dim: int, dtype: Any = None, **_: Any) -> Any:
    return log_softmax(input, dim, dtype=dtype)
