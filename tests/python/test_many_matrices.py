"""Batches of small matrices, and matrices beyond those of the table's samples, against NumPy and SciPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.linalg

import wengert as wg

DTYPES = ["float32", "float64", "complex64", "complex128"]
RNG = np.random.default_rng(0)


def numbers(dtype: str, *shape: int) -> np.ndarray:
    x = RNG.standard_normal(shape)
    return (x + 1j * RNG.standard_normal(shape) if dtype.startswith("complex") else x).astype(dtype)


def close(result: wg.Tensor, expected: np.ndarray, dtype: str) -> None:
    tolerance = 2e-4 if dtype in ("float32", "complex64") else 1e-10
    np.testing.assert_allclose(result.detach().numpy(), expected, rtol=tolerance, atol=tolerance)


# --- Products
@pytest.mark.parametrize("dtype", DTYPES)
def test_products_of_tiny_matrices(dtype: str) -> None:
    for m, k, n in itertools.product((1, 2, 3, 4, 5, 17), (1, 2, 3, 4, 5), (1, 2, 3, 4, 5)):
        a, b, c = numbers(dtype, 6, 3, m, k), numbers(dtype, 6, 3, k, n), numbers(dtype, 18, m, n)
        close(wg.tensor(a) @ wg.tensor(b), a @ b, dtype)
        turned = wg.tensor(np.ascontiguousarray(a.swapaxes(-1, -2))).mT
        close(turned @ wg.tensor(b), a @ b, dtype)
        close(wg.tensor(a)[::2] @ wg.tensor(b)[0], a[::2] @ b[0], dtype)
        x, y = a.reshape(18, m, k), b.reshape(18, k, n)
        close(wg.baddbmm(wg.tensor(c), wg.tensor(x), wg.tensor(y), beta=2, alpha=0.5), 2 * c + 0.5 * (x @ y), dtype)


def test_a_product_of_tiny_matrices_does_not_read_what_beta_removes() -> None:
    a = wg.ones(10, 2, 2)
    assert wg.baddbmm(wg.full((10, 2, 2), wg.nan), a, a, beta=0).eq(2).all()


def test_threads_do_not_change_tiny_products() -> None:
    a, b = wg.randn(40_000, 3, 2), wg.randn(40_000, 2, 4)
    before, results = wg.get_num_threads(), []
    try:
        for threads in (1, 3):
            wg.set_num_threads(threads)
            results.append((a @ b).numpy().tobytes())
    finally:
        wg.set_num_threads(before)
    assert results[0] == results[1]


# --- Reductions of few elements of many matrices
@pytest.mark.parametrize("shape", [(700, 2, 3), (300, 3, 2, 2), (50, 5, 1, 4)])
def test_reductions_across_small_matrices(shape: tuple[int, ...]) -> None:
    x = RNG.standard_normal(shape)
    t = wg.tensor(x)
    for axis in range(1, len(shape)):
        for keepdim in (False, True):
            options = {"axis": axis, "keepdims": keepdim}
            close(t.sum(axis, keepdim), x.sum(**options), "float64")
            close(t.amax(axis, keepdim), x.max(**options), "float64")
            close(t.prod(axis, keepdim), x.prod(**options), "float64")
            close(wg.var(t, [axis], correction=0, keepdim=keepdim), x.var(**options), "float64")
            close(t.logsumexp(axis, keepdim), np.log(np.exp(x).sum(**options)), "float64")
            assert (t.argmax(axis, keepdim).numpy() == x.argmax(**options)).all()
            assert ((t > 0).any(axis, keepdim).numpy() == (x > 0).any(**options)).all()
    if len(shape) > 3:
        close(t.sum((1, 3)), x.sum((1, 3)), "float64")


# --- Factors of larger matrices
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("m", "n"), [(6, 3), (60, 40), (40, 40)])
def test_products_of_reflections(m: int, n: int, dtype: str) -> None:
    a = numbers(dtype, 2, m, n)
    factors, tau = wg.geqrf(wg.tensor(a))
    q = wg.linalg.householder_product(factors, tau)
    close(q @ factors[:, :n].triu(), a, dtype)
    close(q.mH @ q, np.broadcast_to(np.eye(n), (2, n, n)), dtype)
    whole = wg.linalg.householder_product(wg.cat([factors, wg.zeros(2, m, m - n, dtype=factors.dtype)], -1), tau)
    recorded = wg.linalg.householder_product(factors.clone().requires_grad_(), tau)
    close(recorded, q.numpy(), dtype)
    c, d = wg.tensor(numbers(dtype, 2, m, 5)), wg.tensor(numbers(dtype, 2, 5, m))
    close(wg.ormqr(factors, tau, c), (whole @ c).numpy(), dtype)
    close(wg.ormqr(factors, tau, c, transpose=True), (whole.mH @ c).numpy(), dtype)
    close(wg.ormqr(factors, tau, d, left=False), (d @ whole).numpy(), dtype)
    close(wg.ormqr(factors, tau, d, left=False, transpose=True), (d @ whole.mH).numpy(), dtype)
    close(wg.ormqr(factors.clone().requires_grad_(), tau, c), (whole @ c).numpy(), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [3, 8, 9, 70])
@pytest.mark.parametrize("hermitian", [False, True])
def test_symmetric_indefinite_systems(hermitian: bool, n: int, dtype: str) -> None:
    a, b = numbers(dtype, 3, n, n), numbers(dtype, 3, n, 2)
    a = a + (a.conj() if hermitian else a).swapaxes(-1, -2)
    ld, pivots = wg.linalg.ldl_factor(wg.tensor(a), hermitian=hermitian)
    assert ld.triu(1).eq(0).all()
    close(wg.tensor(a) @ wg.linalg.ldl_solve(ld, pivots, wg.tensor(b), hermitian=hermitian), b, dtype)


def test_a_factor_has_the_format_of_lapack() -> None:
    a = numbers("float64", 30, 30)
    a = a + a.T
    ld, pivots = wg.linalg.ldl_factor(wg.tensor(a))
    expected, order, info = scipy.linalg.lapack.dsytrf(a, lower=1)
    assert info == 0
    close(ld, np.tril(expected), "float64")
    assert [abs(p) - 1 for p in pivots.tolist()] == [p if p >= 0 else -p - 1 for p in order.tolist()] or (
        pivots.tolist() == order.tolist()
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(50, 7), (7, 50), (9, 9), (3, 6, 2)])
def test_singular_values_of_tall_and_wide_matrices(shape: tuple[int, ...], dtype: str) -> None:
    a = numbers(dtype, *shape)
    k = min(shape[-2:])
    for full in (False, True):
        u, s, vh = wg.linalg.svd(wg.tensor(a), full_matrices=full)
        close((u[..., :k] * s.unsqueeze(-2).to(u.dtype)) @ vh[..., :k, :], a, dtype)
        close(u.mH @ u, np.broadcast_to(np.eye(u.shape[-1]), (*shape[:-2], *(2 * u.shape[-1:]))), dtype)
        close(vh @ vh.mH, np.broadcast_to(np.eye(vh.shape[-2]), (*shape[:-2], *(2 * vh.shape[-2:-1]))), dtype)
    close(wg.linalg.svdvals(wg.tensor(a)), np.linalg.svd(a, compute_uv=False), dtype)


def test_gradient_of_a_determinant_that_is_out_of_range() -> None:
    small, large = np.array([[2.0, 1.0], [1.0, 3.0]]), numbers("float64", 60, 60) / 8 + np.eye(60)
    for matrix in (1e-25 * small, 1e22 * small, large, 1e3 * large):
        x = wg.tensor(matrix.astype("float32"), requires_grad=True)
        (g,) = wg.autograd.grad(wg.linalg.det(x), x)
        exact = x.detach().numpy().astype("float64")
        sign, log = np.linalg.slogdet(exact)
        inverse = np.linalg.inv(exact).T
        with np.errstate(over="ignore"):
            expected = (sign * np.sign(inverse) * np.exp(log + np.log(np.abs(inverse)))).astype("float32")
        finite = np.abs(expected[np.isfinite(expected)])
        np.testing.assert_allclose(g.numpy(), expected, rtol=2e-3, atol=1e-4 * finite.max(initial=0))


def test_infos_of_systems() -> None:
    a = np.array([[[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [2.0, 4.0]]])
    result, info = wg.linalg.solve_ex(wg.tensor(a), wg.ones(2, 2, 1, dtype=wg.float64))
    assert info.tolist() == [0, 2]
    close(result[0], np.linalg.solve(a[0], np.ones((2, 1))), "float64")
    assert not result[1].isfinite().any()
    assert wg.linalg.solve_ex(wg.tensor(a[0]), wg.ones(2, dtype=wg.float64))[1].tolist() == 0
    with pytest.raises(wg.linalg.LinAlgError, match="singular"):
        wg.linalg.solve_ex(wg.tensor(a), wg.ones(2, 2, 1, dtype=wg.float64), check_errors=True)
