"""Samples of linear algebra and distances: matrices far from singular, with values far from each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from .samples import Arguments, Entry, Maker, Sample, samples


def regular(make: Maker, *batch: int, n: int) -> np.ndarray:
    """With a large diagonal."""
    return np.asarray(make.tensor(*batch, n, n, low=-1, high=1) + np.diag(np.arange(n) + 2.5))


def adjoint(a: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(a, -2, -1))


def hermitian(make: Maker, *batch: int, n: int) -> np.ndarray:
    a = regular(make, *batch, n=n)
    return np.asarray((a + adjoint(a)) / 2)


def factor(make: Maker, n: int, upper: bool) -> np.ndarray:
    a = regular(make, n=n)
    np.fill_diagonal(a, a.diagonal().real)
    return np.asarray(np.triu(a) if upper else np.tril(a))


# --- Systems
@samples("system")
def system(make: Maker, entry: Entry) -> list[Arguments]:
    return [
        {"A": regular(make, n=2), "B": make.tensor(2, 3)},
        {"A": regular(make, 2, n=2), "B": make.tensor(2, 1)},
        {"A": regular(make, n=2), "B": make.tensor(2, 2, 1)},
    ]


@samples("linalg_solve")
def linalg_solve(make: Maker, entry: Entry) -> list[Arguments]:
    return [
        {"A": regular(make, n=2), "B": make.tensor(2, 3)},
        {"A": regular(make, n=2), "B": make.tensor(3, 2), "left": False},
        {"A": regular(make, n=2), "B": make.tensor(2)},
        {"A": regular(make, 2, n=2), "B": make.tensor(2, 2)},
    ]


@samples("solve_triangular")
def solve_triangular(make: Maker, entry: Entry) -> list[Arguments]:
    return [
        {"A": regular(make, n=2), "B": make.tensor(2, 3), "upper": False},
        {"A": regular(make, n=2), "B": make.tensor(3, 2), "upper": True, "left": False},
        {"A": regular(make, n=2), "B": make.tensor(2, 2, 1), "upper": True, "unitriangular": True},
    ]


@samples("solve_triangular_chain")
def solve_triangular_chain(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"left": True, "unitriangular": False, **values} for values in solve_triangular(make, entry)]


@samples("triangular_solve")
def triangular_solve(make: Maker, entry: Entry) -> list[Arguments]:
    values = {"self": make.tensor(2, 1), "A": regular(make, n=2)}
    return [values, {**values, "upper": False}, {**values, "transpose": True, "unitriangular": True}]


@samples("square")
def square(make: Maker, entry: Entry) -> list[Arguments]:
    name = first_argument(entry)
    return [{name: regular(make, n=2)}, {name: make.tensor(2, 2, 2, low=-1, high=1)}, {name: make.tensor(1, 1)}]


def first_argument(entry: Entry) -> str:
    return str(entry["arguments"][0]["name"])


# --- Cholesky
@samples("positive_definite")
def positive_definite(make: Maker, entry: Entry) -> list[Sample]:
    name = first_argument(entry)
    matrices = [{name: hermitian(make, n=2)}, {name: hermitian(make, 2, n=2)}]
    if any(a["name"] == "upper" for a in entry["arguments"]):
        matrices.append({name: hermitian(make, n=2), "upper": True})
    return [Sample(m, hermitian=frozenset({name})) for m in matrices]


@samples("cholesky_solve")
def cholesky_solve(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "input2": factor(make, 2, upper), "upper": upper} for upper in (False, True)]


@samples("cholesky_inverse")
def cholesky_inverse(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": factor(make, 2, upper), "upper": upper} for upper in (False, True)]


# --- LU and QR
@samples("lu", "svdvals", "pinv", "pinverse", "qr")
def of_any_shape(make: Maker, entry: Entry) -> list[Arguments]:
    name = first_argument(entry)
    wide, tall = make.tensor(2, 3) + 2 * np.eye(2, 3), make.tensor(3, 2) + 3 * np.eye(3, 2)
    return [{name: regular(make, n=2)}, {name: wide}, {name: tall}, {name: regular(make, 2, n=2)}]


@samples("qr_of_columns")
def qr_of_columns(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"A": regular(make, n=2)}, {"A": make.tensor(3, 2) + 3 * np.eye(3, 2)}]


@samples("pinv_with_tolerance")
def pinv_with_tolerance(make: Maker, entry: Entry) -> list[Arguments]:
    return [{**values, "atol": 0.0, "rtol": None} for values in of_any_shape(make, entry)]


@samples("householder", "orgqr", "ormqr")
def reflections(make: Maker, entry: Entry) -> list[Arguments]:
    names = [a["name"] for a in entry["arguments"] if a["type"].startswith("Tensor")]
    found = [dict(zip(names, (make.tensor(3, 2), make.tensor(k)), strict=False)) for k in (2, 1)]
    found.append(dict(zip(names, (make.tensor(2, 2, 2), make.tensor(2, 2)), strict=False)))
    if len(names) < 3:
        return found
    cases = [(3, 2, True, False), (2, 3, False, True), (2, 2, True, True)]
    return [
        {**f, names[2]: make.tensor(rows, columns), "left": left, "transpose": transpose}
        for f, (rows, columns, left, transpose) in zip(found, cases, strict=True)
    ]


@samples("ldl")
def ldl(make: Maker, entry: Entry) -> list[Sample]:
    """Symmetric and Hermitian; one that needs a block of two."""
    plain, indefinite = regular(make, n=3), hermitian(make, n=3)
    indefinite[[0, 1, 2], [0, 1, 2]] = 0.1
    symmetric = plain + plain.swapaxes(-2, -1)
    return [
        *([] if make.is_complex else [Sample({"self": symmetric}, hermitian=frozenset({"self"}))]),
        Sample({"self": hermitian(make, n=3), "hermitian": True}, hermitian=frozenset({"self"})),
        Sample({"self": indefinite, "hermitian": True}, hermitian=frozenset({"self"})),
        Sample({"self": hermitian(make, 2, n=2), "hermitian": True}, hermitian=frozenset({"self"})),
    ]


@samples("ldl_solve")
def ldl_solve(make: Maker, entry: Entry) -> list[Arguments]:
    factors = np.tril(regular(make, n=3))
    factors = np.where(np.eye(3), factors.real, factors)  # as D of a Hermitian matrix
    pivots = [np.array(p, dtype=np.int32) for p in ([2, 3, 3], [-3, -3, 3], [1, -2, -2])]
    return [
        {"LD": factors, "pivots": p, "B": make.tensor(3, 2), "hermitian": not make.is_complex or i > 0}
        for i, p in enumerate(pivots[:2])
    ] + [{"LD": factors[None], "pivots": pivots[0][None], "B": make.tensor(1, 3, 1)}]


PIVOTS = np.array([2, 2], dtype=np.int32)  # exchanges the rows


@samples("lu_unpack")
def lu_unpack(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"LU_data": regular(make, n=2), "LU_pivots": PIVOTS}]


@samples("lu_solve")
def lu_solve(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "LU_data": regular(make, n=2), "LU_pivots": PIVOTS}]


@samples("linalg_lu_solve")
def linalg_lu_solve(make: Maker, entry: Entry) -> list[Arguments]:
    values = {"LU": regular(make, n=2), "pivots": PIVOTS}
    return [
        {**values, "B": make.tensor(2, 3)},
        {**values, "B": make.tensor(2, 3), "adjoint": True},
        {**values, "B": make.tensor(3, 2), "left": False},
    ]


# --- Eigenvalues and singular values. Of vectors only absolute values do not depend on signs and phases.
@samples("eigh")
def eigh(make: Maker, entry: Entry) -> list[Sample]:
    unique = (lambda results: (results[0], results[1].abs())) if len(entry["results"]) > 1 else None
    matrices = [{"self": hermitian(make, n=3)}, {"self": hermitian(make, 2, n=2), "UPLO": "U"}]
    return [Sample(m, hermitian=frozenset({"self"}), unique=unique) for m in matrices]


@samples("eigh_along")
def eigh_along(make: Maker, entry: Entry) -> list[Sample]:
    return [
        Sample({"self": hermitian(make, n=3), "along": along, "UPLO": uplo}, frozenset({"along"}), frozenset({"self"}),
               lambda results: (results[0], results[1].abs()))
        for along, uplo in ((None, "L"), (hermitian(make, n=3), "U"))
    ]  # fmt: skip


@samples("eig_along")
def eig_along(make: Maker, entry: Entry) -> list[Sample]:
    matrices = {"A": regular(make, n=2), "along": regular(make, n=2)}  # without `along`: linalg_eig
    return [Sample(matrices, frozenset({"along"}), unique=lambda r: (r[0], r[1].abs()))]


@samples("svd_along")
def svd_along(make: Maker, entry: Entry) -> list[Sample]:
    matrices = [
        {"A": m["A"], "along": along, "full_matrices": along is not None}
        for m in of_any_shape(make, entry)
        for along in (None, m["A"][..., ::-1].copy())
    ]
    return [Sample(m, frozenset({"along"}), unique=singular_vectors) for m in matrices]


@samples("matrix_exp_along")
def matrix_exp_along(make: Maker, entry: Entry) -> list[Arguments]:
    return [
        {"self": regular(make, n=2), "directions": make.tensor(1, 2, 2)},
        {"self": make.tensor(2, 2, 2, low=-1, high=1), "directions": make.tensor(2, 2, 2, 2)},
    ]


@samples("eig")
def eig(make: Maker, entry: Entry) -> list[Sample]:
    unique = (lambda results: (results[0], results[1].abs())) if len(entry["results"]) > 1 else None
    return [Sample({"A": regular(make, n=2)}, unique=unique), Sample({"A": regular(make, 2, n=2)}, unique=unique)]


def singular_vectors(results: tuple[Any, ...]) -> tuple[Any, ...]:
    """Without the vectors that complete a basis."""
    u, s, v = results
    k = s.shape[-1]
    return u[..., :k].abs(), s, v[..., :k, :].abs()


@samples("svd")
def svd(make: Maker, entry: Entry) -> list[Sample]:
    matrices = of_any_shape(make, entry)
    full = [{**m, "full_matrices": True} for m in matrices[1:3]]
    return [Sample(m, unique=singular_vectors) for m in [*({**m, "full_matrices": False} for m in matrices), *full]]


@samples("svd_with_v")
def svd_with_v(make: Maker, entry: Entry) -> list[Sample]:
    return [Sample(m, unique=lambda results: tuple(r.abs() for r in results)) for m in of_any_shape(make, entry)]


@samples("lstsq")
def lstsq(make: Maker, entry: Entry) -> list[Sample]:
    tall = make.tensor(3, 2) + 3 * np.eye(3, 2)
    return [Sample({"A": tall, "B": make.tensor(3, 2)}), Sample({"A": regular(make, n=2), "B": make.tensor(2, 1)})]


# --- Distances
@samples("cdist_of")
def cdist_of(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"x1": make.tensor(2, 3), "x2": make.tensor(3, 3), "p": p} for p in (1.0, 2.0, 3.0)]


@samples("cdist")
def cdist(make: Maker, entry: Entry) -> list[Arguments]:
    x, y = make.tensor(2, 3), make.tensor(2, 2, 3)
    return [{"x1": x, "x2": y}, {"x1": x, "x2": make.tensor(1, 3), "p": 1.0}]


@samples("pdist")
def pdist(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"input": make.tensor(3, 2)}, {"input": make.tensor(3, 2), "p": 3.0}]


@samples("pdist_of")
def pdist_of(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(3, 2), "p": p} for p in (1.0, 2.0, 3.0)]


# --- Compositions
@samples("linalg_cond")
def linalg_cond(make: Maker, entry: Entry) -> list[Arguments]:
    a = make.tensor(2, 3, 3) + 3 * np.eye(3)
    return [{"A": a}, {"A": a, "p": -2.0}, {"A": a, "p": 1.0}, {"A": make.tensor(2, 3)}]


@samples("linalg_cond_name")
def linalg_cond_name(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"A": make.tensor(2, 3, 3) + 3 * np.eye(3), "p": p} for p in ("fro", "nuc")]


@samples("linalg_matrix_rank")
def linalg_matrix_rank(make: Maker, entry: Entry) -> list[Arguments]:
    column = make.tensor(4, 1)
    low = column @ column.T.conj()
    return [{"A": low}, {"A": low, "hermitian": True}, {"A": low + np.eye(4), "atol": 1.5}, {"A": low, "tol": 1e-3}]


@samples("linalg_tensorinv")
def linalg_tensorinv(make: Maker, entry: Entry) -> list[Arguments]:
    a = make.tensor(6, 6) + 6 * np.eye(6)
    return [{"A": a.reshape(2, 3, 6)}, {"A": a.reshape(6, 3, 2), "ind": 1}]


@samples("linalg_tensorsolve")
def linalg_tensorsolve(make: Maker, entry: Entry) -> list[Arguments]:
    a, b = (make.tensor(6, 6) + 6 * np.eye(6)).reshape(2, 3, 6), make.tensor(2, 3)
    return [{"A": a, "B": b}, {"A": np.moveaxis(a, -1, 0), "B": b, "dims": [0]}]
