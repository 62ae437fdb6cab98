"""Systems and factors of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.testing import assert_allclose

from . import reference, relation

TIGHT = {"rtol": 1e-11, "atol": 1e-12}


def adjoint(a: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(a, -2, -1))


def each(function: Any) -> Any:
    """A function of one matrix, of each matrix in a batch."""
    return lambda a: np.array([function(m) for m in a.reshape(-1, *a.shape[-2:])]).reshape(a.shape)


# --- Systems
def solution(A: np.ndarray, B: np.ndarray, left: bool = True) -> np.ndarray:
    if B.ndim == 1:
        return np.linalg.solve(A, B[:, None])[:, 0]
    if not left:
        return np.swapaxes(solution(np.swapaxes(A, -2, -1), np.swapaxes(B, -2, -1)), -2, -1)
    if B.shape == A.shape[:-1]:  # a batch of vectors
        return np.linalg.solve(A, B[..., None])[..., 0]
    return np.linalg.solve(A, B)


reference("linalg_solve")(solution)
reference("solve_matrices", "solve_chain")(lambda A, B, check_errors=True: np.linalg.solve(A, B))
reference("linalg_solve_ex")(lambda A, B, left=True: (solution(A, B, left), np.zeros(A.shape[:-2], np.int32)))
reference("linalg_inv")(lambda A: np.linalg.inv(A))
reference("linalg_inv_ex")(lambda A: (np.linalg.inv(A), np.zeros(A.shape[:-2], np.int32)))
reference("inverse")(lambda self: np.linalg.inv(self))


def triangle(A: np.ndarray, upper: bool, unitriangular: bool) -> np.ndarray:
    part = np.triu(A) if upper else np.tril(A)
    return part - np.diag(np.diagonal(part)) + np.eye(len(A)) if unitriangular else part


@reference("linalg_solve_triangular", "solve_triangular_chain")
def solve_triangular(A: Any, B: Any, upper: bool, left: bool = True, unitriangular: bool = False) -> np.ndarray:
    return solution(triangle(A, upper, unitriangular), B, left)


@reference("triangular_solve")
def triangular_solve(
    self: Any,
    A: Any,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> Any:
    a = triangle(A, upper, unitriangular)
    return solution(a.T if transpose else a, self), A


@reference("linalg_lstsq")
def lstsq(A: np.ndarray, B: np.ndarray) -> Any:
    """The default driver, gelsy, gives no residuals and no singular values."""
    return np.linalg.lstsq(A, B, rcond=None)[0], np.zeros(0), None, np.zeros(0)


reference("linalg_pinv")(lambda A, atol=None, rtol=None: np.linalg.pinv(A))
reference("pinv_with_tolerance")(lambda A, atol, rtol: np.linalg.pinv(A))
reference("pinverse")(lambda self: np.linalg.pinv(self))

# --- Functions of a matrix
reference("det")(lambda self: np.linalg.det(self))
reference("linalg_det")(lambda A: np.linalg.det(A))
reference("logdet")(lambda self: np.log(np.linalg.det(self)))
reference("slogdet")(lambda self: tuple(np.linalg.slogdet(self)))
reference("linalg_slogdet")(lambda A: tuple(np.linalg.slogdet(A)))
reference("matrix_exp", "linalg_matrix_exp")(lambda self: each(scipy.linalg.expm)(self))


@reference("matrix_exp_along")
def exp_along(self: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """The last corner of exp of A + e1 E1 + ... as a matrix of 2^k blocks: e_i is a shift by its place."""
    out = np.empty(self.shape, self.dtype)
    for place in np.ndindex(self.shape[:-2]):
        block = self[place]
        for i, d in enumerate(directions[place]):
            shifted = np.kron(np.eye(2), block)
            n = len(block)
            shifted[:n, n:] = np.kron(np.eye(2**i), d)
            block = shifted
        n = self.shape[-1]
        out[place] = scipy.linalg.expm(block)[:n, -n:]
    return out


reference("linalg_eigvalsh")(lambda self, UPLO="L": np.linalg.eigvalsh(self, UPLO))
reference("linalg_svdvals")(lambda A: np.linalg.svdvals(A))

# --- Cholesky
reference("linalg_cholesky")(lambda self, upper=False: np.linalg.cholesky(self, upper=upper))
reference("linalg_cholesky_ex")(
    lambda self, upper=False: (np.linalg.cholesky(self, upper=upper), np.zeros(self.shape[:-2], np.int32))
)
reference("cholesky")(lambda self, upper=False: np.linalg.cholesky(self, upper=upper))


def product_of_factor(factor: np.ndarray, upper: bool) -> np.ndarray:
    return adjoint(factor) @ factor if upper else factor @ adjoint(factor)


reference("cholesky_solve")(lambda self, input2, upper=False: solution(product_of_factor(input2, upper), self))
reference("cholesky_inverse")(lambda self, upper=False: np.linalg.inv(product_of_factor(self, upper)))


# --- LU
def parts_of_lu(lu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    m, n = lu.shape[-2:]
    return np.tril(lu[..., : min(m, n)], -1) + np.eye(m, min(m, n)), np.triu(lu[..., : min(m, n), :])


def exchanged(pivots: np.ndarray, n: int) -> np.ndarray:
    """The permutation matrix P of A = P L U, from the exchanges of rows that made it (counted from 1)."""
    rows = np.arange(n)
    for i, p in enumerate(pivots):
        rows[[i, p - 1]] = rows[[p - 1, i]]
    return np.eye(n)[:, np.argsort(np.argsort(rows))] if n == 0 else np.eye(n)[:, rows]


@relation("linalg_lu_factor", "linalg_lu_factor_ex")
def is_lu_factor(results: Any, A: np.ndarray, pivot: bool = True) -> None:
    lower, upper = parts_of_lu(results[0])
    for place in np.ndindex(A.shape[:-2]):
        product = exchanged(results[1][place], A.shape[-2]) @ lower[place] @ upper[place]
        assert_allclose(product, A[place], **TIGHT)
    assert np.all(np.abs(lower) <= 1 + 1e-14) or np.iscomplexobj(A)


@relation("linalg_lu")
def is_lu(results: Any, A: np.ndarray) -> None:
    p, lower, upper = results
    assert_allclose(p @ lower @ upper, A, **TIGHT)
    assert_allclose(np.tril(lower), lower)
    assert_allclose(np.triu(upper), upper)


@reference("lu_unpack")
def lu_unpack(LU_data: np.ndarray, LU_pivots: np.ndarray) -> Any:
    return exchanged(LU_pivots, LU_data.shape[-2]), *parts_of_lu(LU_data)


def matrix_of_lu(lu: np.ndarray, pivots: np.ndarray) -> np.ndarray:
    lower, upper = parts_of_lu(lu)
    return exchanged(pivots, len(lu)) @ lower @ upper


reference("lu_solve")(lambda self, LU_data, LU_pivots: solution(matrix_of_lu(LU_data, LU_pivots), self))


@reference("linalg_lu_solve")
def linalg_lu_solve(LU: Any, pivots: Any, B: Any, left: bool = True, adjoint: bool = False) -> np.ndarray:
    a = matrix_of_lu(LU, pivots)
    return solution(np.conj(a.T) if adjoint else a, B, left)


# --- LDL
def matrix_of_ldl(ld: np.ndarray, pivots: np.ndarray, hermitian: bool) -> np.ndarray:
    """Undoes the elimination: the last block first, each with its exchange of rows and columns."""
    turned = (lambda a: np.conj(a.T)) if hermitian else (lambda a: a.T)
    n, k, starts = len(ld), 0, []
    while k < n:
        starts.append(k)
        k += 2 if pivots[k] < 0 else 1
    rest = np.zeros((0, 0), ld.dtype)
    for k in reversed(starts):
        end = n - len(rest)
        d = np.tril(ld[k:end, k:end])
        d = d + np.tril(d, -1).conj().T if hermitian else d + np.tril(d, -1).T
        below = ld[end:, k:end]
        lower = np.vstack([np.eye(end - k), below])
        rest = np.block(
            [[np.zeros((end - k, end - k)), np.zeros((end - k, n - end))], [np.zeros((n - end, end - k)), rest]]
        )
        rest = rest + lower @ d @ turned(lower)
        a, b = end - 1 - k, abs(pivots[k]) - 1 - k
        order = np.arange(n - k)
        order[[a, b]] = order[[b, a]]
        rest = rest[np.ix_(order, order)]
    return rest


@relation("linalg_ldl_factor", "linalg_ldl_factor_ex")
def is_ldl(results: Any, self: np.ndarray, hermitian: bool = False) -> None:
    ld, pivots = results[:2]
    for place in np.ndindex(self.shape[:-2]):
        assert_allclose(matrix_of_ldl(ld[place], pivots[place], hermitian), self[place], **TIGHT)
    assert_allclose(np.tril(ld), ld)


@reference("linalg_ldl_solve")
def ldl_solve(LD: Any, pivots: Any, B: Any, hermitian: bool = False) -> np.ndarray:
    a = np.stack(
        [
            matrix_of_ldl(m, p, hermitian)
            for m, p in zip(LD.reshape(-1, *LD.shape[-2:]), pivots.reshape(-1, LD.shape[-1]), strict=True)
        ]
    )
    return np.linalg.solve(a.reshape(LD.shape), B)


# --- Reflections
def reflections(a: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """The product of them, [m, m]."""
    q = np.eye(len(a), dtype=np.result_type(a, tau))
    for i, t in enumerate(tau):
        v = np.concatenate([np.zeros(i), [1], a[i + 1 :, i]])
        q = q @ (np.eye(len(a)) - t * np.outer(v, v.conj()))
    return q


def columns(a: np.ndarray, tau: np.ndarray) -> np.ndarray:
    out = [reflections(a[p], tau[p])[:, : a.shape[-1]] for p in np.ndindex(a.shape[:-2])]
    return np.array(out).reshape(a.shape)


reference("linalg_householder_product")(lambda input, tau: columns(input, tau))
reference("orgqr")(lambda self, input2: columns(self, input2))


@reference("ormqr")
def ormqr(self: Any, input2: Any, input3: Any, left: bool = True, transpose: bool = False) -> np.ndarray:
    batch = self.shape[:-2]
    q = np.array([reflections(self[p], input2[p]) for p in np.ndindex(batch)]).reshape(*batch, *[self.shape[-2]] * 2)
    q = adjoint(q) if transpose else q
    return q @ input3 if left else input3 @ q


@relation("geqrf")
def is_geqrf(results: Any, self: np.ndarray) -> None:
    a, tau = results
    for place in np.ndindex(self.shape[:-2]):
        k = tau.shape[-1]
        q = reflections(a[place], tau[place])
        assert_allclose(q[:, :k] @ np.triu(a[place])[:k], self[place], **TIGHT)
        is_unitary(q)


# --- QR, eigenvalues, singular values
def is_unitary(q: np.ndarray) -> None:
    """Of tall matrices the columns, of wide ones the rows."""
    q = q if q.shape[-2] >= q.shape[-1] else adjoint(q)
    assert_allclose(adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), (*q.shape[:-2], *[q.shape[-1]] * 2)), **TIGHT)


@relation("linalg_qr", "qr", "qr_of_columns")
def is_qr(results: Any, **matrix: np.ndarray) -> None:
    (a,) = matrix.values()
    q, r = results
    assert_allclose(q @ r, a, **TIGHT)
    assert_allclose(np.triu(r), r)
    is_unitary(q)


@relation("linalg_eigh")
def is_eigh(results: Any, self: np.ndarray, UPLO: str = "L") -> None:
    values, vectors = results
    assert_allclose(values, np.linalg.eigvalsh(self, UPLO), **TIGHT)
    assert_allclose(self @ vectors, vectors * values[..., None, :], **TIGHT)
    is_unitary(vectors)


@relation("eigh_along")
def is_eigh_along(results: Any, self: np.ndarray, along: Any, UPLO: str) -> None:
    is_eigh(results, self, UPLO)


def in_order(values: np.ndarray) -> np.ndarray:
    return np.sort_complex(values)


@relation("linalg_eigvals")
def are_eigvals(results: Any, A: np.ndarray) -> None:
    assert_allclose(in_order(results[0]), in_order(np.linalg.eigvals(A)), **TIGHT)


@relation("linalg_eig")
def is_eig(results: Any, A: np.ndarray) -> None:
    values, vectors = results
    assert_allclose(in_order(values), in_order(np.linalg.eigvals(A)), **TIGHT)
    assert_allclose(A @ vectors, vectors * values[..., None, :], **TIGHT)
    assert_allclose(np.linalg.vector_norm(vectors, axis=-2), np.ones(values.shape), **TIGHT)


@relation("eig_along")
def is_eig_along(results: Any, A: np.ndarray, along: Any) -> None:
    is_eig(results, A)


@relation("svd_along")
def is_svd_along(results: Any, A: np.ndarray, along: Any, full_matrices: bool) -> None:
    is_svd(results, A, full_matrices)


@relation("linalg_svd")
def is_svd(results: Any, A: np.ndarray, full_matrices: bool = True) -> None:
    u, s, vh = results
    assert_allclose(s, np.linalg.svdvals(A), **TIGHT)
    k = s.shape[-1]
    assert_allclose((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], A, **TIGHT)
    assert u.shape[-1] == (A.shape[-2] if full_matrices else k)
    assert vh.shape[-2] == (A.shape[-1] if full_matrices else k)
    is_unitary(u)
    is_unitary(vh)


@relation("svd")
def is_svd_with_v(results: Any, self: np.ndarray) -> None:
    u, s, v = results
    is_svd((u, s, adjoint(v)), self, full_matrices=False)
