"""Linear algebra beside the table: what is written in Python, errors, and matrices without a result."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import wengert as wg


# --- A few values of large matrices
def test_low_rank_decompositions():
    wg.manual_seed(0)
    rng = np.random.default_rng(2)
    for shape in ((7, 5), (4, 6)):
        exact = rng.normal(size=(shape[0], 2)) @ rng.normal(size=(2, shape[1]))
        u, s, v = wg.svd_lowrank(wg.tensor(exact), q=3)
        np.testing.assert_allclose(((u * s) @ v.mT).numpy(), exact, atol=1e-12)
        np.testing.assert_allclose(s.numpy(), np.linalg.svdvals(exact)[:3], atol=1e-12)
        u, s, v = wg.svd_lowrank(wg.tensor(exact), q=2, M=wg.ones(shape[1], dtype=wg.float64))
        assert u.shape == (shape[0], 2)
        u, s, v = wg.pca_lowrank(wg.tensor(exact), q=2)
        np.testing.assert_allclose(s.numpy(), np.linalg.svdvals(exact - exact.mean(0))[:2], atol=1e-10)
    with pytest.raises(ValueError, match="q must be between 0 and 2"):
        wg.svd_lowrank(wg.ones(2, 3), q=3)


def test_gradient_of_a_low_rank_decomposition():
    wg.manual_seed(0)
    rng = np.random.default_rng(4)
    a = wg.tensor(rng.normal(size=(5, 2)) @ rng.normal(size=(2, 4)), requires_grad=True)
    (g,) = wg.autograd.grad(wg.svd_lowrank(a, q=2)[1].sum(), a)
    u, _, vh = np.linalg.svd(a.detach().numpy())
    np.testing.assert_allclose(g.numpy(), u[:, :2] @ vh[:2], atol=1e-10)


def test_lobpcg_are_the_eigenvalues_at_one_end():
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 5, 5))
    a, b = a + a.T, b @ b.T + np.eye(5)
    expected, _ = scipy.linalg.eigh(a, b)
    for largest, chosen in ((True, expected[::-1][:2]), (False, expected[:2])):
        values, x = wg.lobpcg(wg.tensor(a), 2, wg.tensor(b), largest=largest)
        np.testing.assert_allclose(values.numpy(), chosen, atol=1e-12)
        np.testing.assert_allclose(a @ x.numpy(), b @ x.numpy() * values.numpy(), atol=1e-10)
        np.testing.assert_allclose(x.numpy().T @ b @ x.numpy(), np.eye(2), atol=1e-12)
    assert wg.lobpcg(wg.tensor(a), X=wg.ones(5, 3, dtype=wg.float64))[0].shape == (3,)
    with pytest.raises(ValueError, match="k must be between 1 and 5"):
        wg.lobpcg(wg.tensor(a), 6)
    x = wg.tensor(a, requires_grad=True)
    values, vectors = wg.lobpcg(x, 1, wg.tensor(b))
    (g,) = wg.autograd.grad(values.sum(), x)
    v = vectors.detach().numpy()
    np.testing.assert_allclose((g + g.mT).numpy() / 2, v @ v.T, atol=1e-12)


def test_lu_by_its_older_name():
    a = wg.tensor([[1.0, 2.0], [3.0, 4.0]])
    factors, _ = wg.lu(a)
    assert factors.equal(wg.linalg.lu_factor(a).LU)
    assert wg.lu(a, get_infos=True)[2].item() == 0
    with pytest.raises(wg.linalg.LinAlgError):
        wg.lu(wg.zeros(2, 2))
    assert wg.lu(wg.zeros(2, 2), get_infos=True)[2].item() == 1


# --- Errors
def test_errors_of_linear_algebra_have_their_type():
    singular = wg.zeros(2, 2)
    for function in (
        wg.linalg.inv,
        wg.linalg.lu_factor,
        wg.linalg.ldl_factor,
        lambda a: wg.linalg.solve(a, wg.ones(2)),
        lambda a: wg.linalg.solve_ex(a, wg.ones(2), check_errors=True),
        lambda a: wg.linalg.cholesky(a - wg.eye(2)),
        lambda a: wg.linalg.svd(a * wg.nan),
    ):
        with pytest.raises(wg.linalg.LinAlgError):
            function(singular)
    assert issubclass(wg.linalg.LinAlgError, RuntimeError)
    with pytest.raises(RuntimeError, match="must be batches"):
        wg.linalg.solve(wg.ones(2, 3), wg.ones(2))


def test_backward_does_not_raise_where_forward_did_not():
    nan = wg.full((2, 2), wg.nan, dtype=wg.float64, requires_grad=True)
    (g,) = wg.autograd.grad(wg.linalg.det(nan), nan)
    assert g.isnan().all()
    a = wg.tensor([[1.0, 1.0], [0.0, 1.0]], dtype=wg.float64, requires_grad=True)  # too few eigenvectors
    wg.autograd.grad(wg.linalg.eigvals(a).real.sum(), a)
    singular = wg.zeros(2, 2, dtype=wg.float64, requires_grad=True)
    (g,) = wg.autograd.grad(wg.linalg.slogdet(singular)[1], singular)
    assert not g.isfinite().any()
    (g,) = wg.autograd.grad(wg.linalg.solve_ex(singular, wg.ones(2, dtype=wg.float64))[0].sum(), singular)
    assert not g.isfinite().all()


def test_power_of_zero_is_a_function_of_the_matrix():
    a = wg.tensor([[1.0, wg.nan], [3.0, 4.0]], requires_grad=True)
    y = wg.linalg.matrix_power(a, 0)
    assert y.equal(wg.eye(2))
    np.testing.assert_array_equal(wg.autograd.grad(y.sum(), a)[0].numpy(), 0)


@pytest.mark.parametrize("bad", [float("inf"), -float("inf"), float("nan")])
@pytest.mark.parametrize("place", [(0, 0), (1, 2)])
@pytest.mark.parametrize("dtype", [wg.float32, wg.float64, wg.complex128])
def test_singular_values_of_what_is_not_finite_are_an_error(bad, place, dtype):
    a = wg.eye(3, dtype=dtype) + 0.5
    a[place] = bad
    for function in (wg.linalg.svdvals, wg.linalg.svd, lambda t: wg.linalg.matrix_norm(t, "nuc")):
        with pytest.raises(wg.linalg.LinAlgError, match="contained non-finite values"):
            function(a)


def test_complete_qr_of_a_view_needs_no_derivative():
    """Nobody asks for one; its refusal is for those who do."""
    wide = wg.tensor([[1.0, 2.0, 4.0], [3.0, 4.0, 5.0]])
    q, r = wg.linalg.qr(wide.mT, "complete")
    np.testing.assert_allclose(q @ r, wide.mT, rtol=1e-5, atol=1e-6)
    with pytest.raises(RuntimeError, match="not defined when mode='complete'"):
        wg.linalg.qr(wide.requires_grad_().mT, "complete")
    with wg.autograd.forward_ad.dual_level(), pytest.raises(RuntimeError, match="not defined when mode='complete'"):
        wg.linalg.qr(wg.autograd.forward_ad.make_dual(wide.detach(), wg.ones(2, 3)).mT, "complete")
