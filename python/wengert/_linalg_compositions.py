"""Linear algebra that is made of rows of the table."""

from __future__ import annotations

import math
from typing import Any

import wengert
from wengert import _C
from wengert._C import Tensor

_rows = _C._linalg


def matrix_rank(
    A: Tensor,  # noqa: N803
    tol: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
) -> Tensor:
    """The number of singular values that exceed ``max(atol, rtol * the largest one)``.

    Parameters
    ----------
    A : Tensor
        [..., m, n]
    tol : float or Tensor, optional
        The older name of `atol`, with `rtol` 0.
    hermitian : bool, default False
        Whether `A` is Hermitian, which is not checked; absolute values of eigenvalues are counted then.
    atol : float or Tensor, default 0
    rtol : float or Tensor, optional
        ``max(m, n) * eps`` by default, and 0 if `atol` is given.

    Returns
    -------
    Tensor
        [...], int64

    Examples
    --------
    >>> import wengert as wg
    >>> wg.linalg.matrix_rank(wg.ones(3, 3))
    tensor(1)
    """
    if tol is not None:
        atol, rtol = tol, 0.0
    if rtol is None:
        rtol = 0.0 if atol is not None else max(A.shape[-2:]) * wengert.finfo(A.dtype).eps
    values: Any = _rows.eigvalsh(A).abs() if hermitian else _rows.svdvals(A)
    if not values.shape[-1]:
        out: Tensor = wengert.zeros(values.shape[:-1], dtype=wengert.int64)
        return out
    least = wengert.as_tensor(0.0 if atol is None else atol).to(values.dtype)
    bound = wengert.maximum(least, rtol * values.amax(-1))
    result: Tensor = (values > bound.unsqueeze(-1)).sum(-1)
    return result


def cond(A: Tensor, p: Any = None) -> Tensor:  # noqa: N803
    """The condition number: the norm of a matrix times that of its inverse.

    Parameters
    ----------
    A : Tensor
        [..., n, n], or [..., m, n] for the 2-norm.
    p : {2, -2, 'fro', 'nuc', inf, -inf, 1, -1}, optional
        Which norm; the 2-norm by default.

    Returns
    -------
    Tensor
        [...], real; infinite for a singular matrix.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.linalg.cond(wg.diag(wg.tensor([4.0, 2.0])))
    tensor(2.)
    """
    if p is None or p in (2, -2):
        values = _rows.svdvals(A)
        ratio: Tensor = values[..., -1] / values[..., 0] if p == -2 else values[..., 0] / values[..., -1]
        return ratio
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(f"linalg.cond with p={p} supports only square matrices, got shape {tuple(A.shape)}")
    inverse, info = _rows.inv_ex(A)
    result = _rows.matrix_norm(A, p) * _rows.matrix_norm(inverse, p)
    return wengert.where(info != 0, math.inf, result)


def tensorinv(A: Tensor, ind: int = 2) -> Tensor:  # noqa: N803
    """The inverse of `tensordot` with a tensor.

    Parameters
    ----------
    A : Tensor
        ``prod(A.shape[:ind]) == prod(A.shape[ind:])``
    ind : int, default 2
        How many dimensions stand for rows.

    Returns
    -------
    Tensor
        ``[*A.shape[ind:], *A.shape[:ind]]``
    """
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', got {ind}")
    first, rest = A.shape[:ind], A.shape[ind:]
    if math.prod(first) != math.prod(rest):
        raise RuntimeError(
            f"Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{math.prod(rest)} != {math.prod(first)}"
        )
    result: Tensor = _rows.inv(A.reshape(math.prod(first), -1)).reshape(*rest, *first)
    return result


def tensorsolve(A: Tensor, B: Tensor, dims: Any = None) -> Tensor:  # noqa: N803
    """The solution of ``tensordot(A, X, X.ndim) == B``.

    Parameters
    ----------
    A : Tensor
        ``[*B.shape, ...]``
    B : Tensor
    dims : sequence of int, optional
        Dimensions of `A` that are moved to the end first.

    Returns
    -------
    Tensor
        Of the shape of the last dimensions of `A`.
    """
    if dims is not None:
        dims = [d % A.ndim for d in dims]
        A = A.permute(*(d for d in range(A.ndim) if d not in dims), *dims)  # noqa: N806
    shape = A.shape[B.ndim :]
    if B.numel() != math.prod(shape):
        raise RuntimeError(
            f"Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {math.prod(shape)} != {B.numel()}"
        )
    result: Tensor = _rows.solve(A.reshape(B.numel(), -1), B.reshape(-1)).reshape(shape)
    return result
