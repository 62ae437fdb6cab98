"""Parts of decompositions: a few singular values or eigenvalues. They are made of rows of the table."""

from __future__ import annotations

from typing import Any

from wengert import _C
from wengert._C import Tensor

_rows = _C._linalg


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]:  # noqa: N803
    """The LU factors of matrices in one, and the row exchanges; the older name of `linalg.lu_factor_ex`.

    Parameters
    ----------
    A : Tensor
        [..., m, n]
    pivot : bool, default True
        Must be True.
    get_infos : bool, default False
        Whether to return as well the place of a pivot that is 0, for each matrix; without it that is an error.

    Returns
    -------
    tuple of Tensor
        As `linalg.lu_factor_ex`.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.lu(wg.tensor([[2.0, 0.0], [1.0, 3.0]]))[0]
    tensor([[2.0000, 0.0000],
            [0.5000, 3.0000]])
    """
    factors, pivots, info = _rows.lu_factor_ex(A, pivot=pivot, check_errors=not get_infos)
    return (factors, pivots, info) if get_infos else (factors, pivots)


def _range_of(A: Tensor, q: int, niter: int) -> Tensor:  # noqa: N803
    """An orthonormal basis of what A makes of q random vectors, after `niter` rounds with A^H and A."""
    basis = _rows.qr(A @ _C.randn(A.shape[-1], q, dtype=A.dtype)).Q
    for _ in range(niter):
        basis = _rows.qr(A.mH @ basis).Q
        basis = _rows.qr(A @ basis).Q
    result: Tensor = basis
    return result


def svd_lowrank(
    A: Tensor,  # noqa: N803
    q: int | None = 6,
    niter: int | None = 2,
    M: Tensor | None = None,  # noqa: N803
) -> tuple[Tensor, Tensor, Tensor]:
    """The largest singular values of matrices and their vectors, approximately, by a random projection.

    Parameters
    ----------
    A : Tensor
        [..., m, n]
    q : int, default 6
        How many; a little more than the rank. Not more than m or n.
    niter : int, default 2
        How often the projection is refined.
    M : Tensor, optional
        Subtracted from `A` first.

    Returns
    -------
    tuple of Tensor
        U [..., m, q], S [..., q] and V [..., n, q], with ``A - M`` close to ``U @ diag(S) @ V.mH``.

    Raises
    ------
    ValueError
        If `q` or `niter` is out of range.

    Notes
    -----
    N. Halko, P.-G. Martinsson and J. Tropp, Finding structure with randomness, 2011, algorithm 5.1. Random numbers are
    those of the default generator.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.svd_lowrank(wg.ones(3, 3), q=1)[1]
    tensor([3.0000])
    """
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    if not 0 <= q <= min(A.shape[-2:]):
        raise ValueError(f"[svd_lowrank] q must be between 0 and {min(A.shape[-2:])}, the smaller size of A, got {q}")
    if niter < 0:
        raise ValueError(f"[svd_lowrank] niter must not be negative, got {niter}")
    if M is not None:
        A = A - M  # noqa: N806
    wide = A.shape[-2] < A.shape[-1]
    matrix = A.mH if wide else A
    basis = _range_of(matrix, q, niter)
    u, s, vh = _rows.svd(basis.mH @ matrix, full_matrices=False)
    left, right = basis @ u, vh.mH
    return (right, s, left) if wide else (left, s, right)


def pca_lowrank(
    A: Tensor,  # noqa: N803
    q: int | None = None,
    center: bool = True,
    niter: int = 2,
) -> tuple[Tensor, Tensor, Tensor]:
    """Principal components of the rows of matrices, approximately; see `svd_lowrank`.

    Parameters
    ----------
    A : Tensor
        [..., m, n], an observation a row.
    q : int, optional
        How many; ``min(6, m, n)`` by default.
    center : bool, default True
        Whether the mean of the rows is subtracted.
    niter : int, default 2
        How often the projection is refined.

    Returns
    -------
    tuple of Tensor
        U [..., m, q], S [..., q] and V [..., n, q]; the columns of V are the principal directions.

    Raises
    ------
    ValueError
        If `q` or `niter` is out of range.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.pca_lowrank(wg.tensor([[0.0, 1.0], [2.0, 1.0]]), q=1)[1]
    tensor([1.4142])
    """
    q = min(6, *A.shape[-2:]) if q is None else q
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)


def lobpcg(
    A: Tensor,  # noqa: N803
    k: int | None = None,
    B: Tensor | None = None,  # noqa: N803
    X: Tensor | None = None,  # noqa: N803
    n: int | None = None,
    iK: Tensor | None = None,  # noqa: N803
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    **options: Any,
) -> tuple[Tensor, Tensor]:
    """The largest or smallest eigenvalues of symmetric matrices, ``A x = w B x``, and their vectors.

    Tensors are dense here, so all eigenvalues are computed, and `k` of them kept: the result is exact, and its
    derivatives are those of `linalg.eigh`. What steers the iteration elsewhere is accepted and makes no difference.

    Parameters
    ----------
    A : Tensor
        [..., m, m], symmetric (Hermitian).
    k : int, optional
        How many; the number of columns of `X` by default, or 1.
    B : Tensor, optional
        [..., m, m], symmetric and positive definite; the identity by default.
    X : Tensor, optional
        [..., m, n], first guesses; only their number counts.
    n, iK, niter, tol, **options
        Accepted for compatibility.
    largest : bool, default True
        Which end of the spectrum.

    Returns
    -------
    tuple of Tensor
        Eigenvalues [..., k], from the end inwards, and vectors [..., m, k] with ``X.mH @ B @ X = I``.

    Raises
    ------
    ValueError
        If `k` is not between 1 and m.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.lobpcg(wg.diag(wg.tensor([3.0, 1.0, 2.0])), k=2)[0]
    tensor([3., 2.])
    """
    size = A.shape[-1]
    k = (1 if X is None else X.shape[-1]) if k is None else k
    if not 1 <= k <= size:
        raise ValueError(f"[lobpcg] k must be between 1 and {size}, the number of rows, got {k}")
    if B is None:
        values, vectors = _rows.eigh(A)
    else:
        factor = _rows.cholesky(B)
        half = _rows.solve_triangular(factor, A, upper=False)
        values, vectors = _rows.eigh(_rows.solve_triangular(factor.mH, half, upper=True, left=False))
        vectors = _rows.solve_triangular(factor.mH, vectors, upper=True)
    if largest is None or largest:
        return values[..., size - k :].flip(-1), vectors[..., size - k :].flip(-1)
    return values[..., :k], vectors[..., :k]
