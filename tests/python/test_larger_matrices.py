"""What only matrices larger than the table's samples meet: blocks of reflections, R of tall ones, fused gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg

DTYPES = (np.float64, np.complex128)


def numbers(rng: np.random.Generator, dtype: Any, *shape: int) -> np.ndarray:
    real = rng.normal(size=shape)
    return real + 1j * rng.normal(size=shape) if dtype == np.complex128 else real


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(130, 65), (70, 70), (40, 200), (2, 90, 50)])
def test_qr(dtype: Any, shape: tuple[int, ...]) -> None:
    a = numbers(np.random.default_rng(0), dtype, *shape)
    for mode in ("reduced", "complete"):
        q, r = (t.numpy() for t in wg.linalg.qr(wg.tensor(a), mode))
        np.testing.assert_allclose(q @ r, a, atol=1e-12)
        np.testing.assert_allclose(np.conj(q.swapaxes(-1, -2)) @ q - np.eye(q.shape[-1]), 0, atol=1e-13)
        expected = np.linalg.qr(a, mode)[1]
        np.testing.assert_allclose(r, expected, atol=1e-12)  # the signs are LAPACK's


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150])
def test_singular_values_of_tall_matrices(dtype: Any, scale: float) -> None:
    a = numbers(np.random.default_rng(1), dtype, 150, 40) * scale
    for matrix in (a, a.T):
        u, s, vh = (t.numpy() for t in wg.linalg.svd(wg.tensor(matrix), full_matrices=False))
        expected = np.linalg.svd(matrix, compute_uv=False)
        np.testing.assert_allclose(s, expected, rtol=1e-12)
        np.testing.assert_allclose(wg.linalg.svdvals(wg.tensor(matrix)).numpy(), expected, rtol=1e-12)
        np.testing.assert_allclose((u * s) @ vh, matrix, atol=1e-12 * expected[0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_least_squares_with_and_without_full_rank(dtype: Any) -> None:
    rng = np.random.default_rng(2)
    a, b = numbers(rng, dtype, 3, 120, 40), numbers(rng, dtype, 3, 120, 4)
    a[1, :, 7] = a[1, :, 3] * 2
    a[2] *= 1e-200  # of full rank, but squares vanish
    for driver in ("gelsy", "gelsd", "gelss"):
        x, residuals, rank, _ = wg.linalg.lstsq(wg.tensor(a), wg.tensor(b), driver=driver)
        assert rank.tolist() == [40, 39, 40]
        np.testing.assert_allclose(a @ x.numpy(), a @ np.linalg.pinv(a, rcond=1e-12) @ b, atol=1e-11)
    _, residuals, _, _ = wg.linalg.lstsq(wg.tensor(a[0]), wg.tensor(b[0]), driver="gels")
    expected = np.linalg.norm(a[0] @ np.linalg.pinv(a[0]) @ b[0] - b[0], axis=0) ** 2
    np.testing.assert_allclose(residuals.numpy(), expected, rtol=1e-11)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(20, 20), (30, 17), (17, 30), (2, 20, 20)])
def test_fused_gradients_are_those_of_the_formulas(dtype: Any, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    a = wg.tensor(numbers(rng, dtype, *shape), requires_grad=True)
    decompositions = [(a, wg.linalg.svd(a, full_matrices=full)) for full in (False, True)]
    if shape[-1] == shape[-2]:
        h = (a + a.mH).detach().requires_grad_(True)
        decompositions.append((h, wg.linalg.eigh(h)))
    for matrix, results in decompositions:
        cotangents = [wg.tensor(rng.normal(size=tuple(r.shape))).to(r.dtype) for r in results]
        for kept in range(1, 2 ** len(results)):
            some = [i for i in range(len(results)) if kept >> i & 1]
            chosen, given = [results[i] for i in some], [cotangents[i] for i in some]
            (fused,) = wg.autograd.grad(chosen, [matrix], given, retain_graph=True)
            (recorded,) = wg.autograd.grad(chosen, [matrix], given, create_graph=True)
            difference = (fused - recorded).abs().max().item()
            assert difference <= 1e-10 * recorded.abs().max().item()
