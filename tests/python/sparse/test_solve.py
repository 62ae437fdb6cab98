"""Linear systems: what is factorized when, what is refused, and a boundary value problem with parameters."""

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

import wengert as wg
from benchmarks.laplace import Laplace
from tests.sparse_problems import PLACES, matrix, operand, values


def counted(monkeypatch):
    calls = []
    splu = scipy.sparse.linalg.splu

    def counting(*args, **kwargs):
        calls.append(args)
        return splu(*args, **kwargs)

    monkeypatch.setattr(scipy.sparse.linalg, "splu", counting)
    return calls


def test_derivatives_use_the_factors_of_the_forward_pass(monkeypatch):
    calls = counted(monkeypatch)
    v, b = values(), operand((3,))
    x = wg.sparse.solve(matrix(v), b)
    gradients = wg.autograd.grad((x**2).sum(), (v, b), create_graph=True)
    wg.autograd.grad(sum((g**2).sum() for g in gradients), (v, b))
    assert len(calls) == 1
    with wg.autograd.forward_ad.dual_level():
        dual = wg.autograd.forward_ad.make_dual(v.detach(), wg.ones_like(v))
        wg.sparse.solve(matrix(dual), b)
    assert len(calls) == 2


def test_factors_serve_many_right_hand_sides(monkeypatch):
    calls = counted(monkeypatch)
    v = values()
    factors = wg.sparse.splu(matrix(v))
    total = sum(factors.solve(operand((3,), seed)).sum() for seed in range(3))
    total.backward()
    assert len(calls) == 1
    expected = wg.autograd.grad(
        sum(wg.linalg.solve(matrix(v).to_dense(), operand((3,), seed)).sum() for seed in range(3)), v
    )[0]
    np.testing.assert_allclose(v.grad.numpy(), expected.numpy())


@pytest.mark.parametrize("dtype", [wg.float32, wg.float64, wg.complex64, wg.complex128])
@pytest.mark.parametrize("layout", [wg.sparse_coo, wg.sparse_csr, wg.sparse_csc])
def test_dtypes(dtype, layout):
    a = (operand((6, 6), 3, requires_grad=False) + 6 * wg.eye(6)).to(dtype)
    b = operand((6, 2), requires_grad=False).to(dtype)
    x = wg.sparse.solve(a.to_sparse(layout=layout), b)
    assert x.dtype == dtype
    tolerance = 1e-4 if dtype in (wg.float32, wg.complex64) else 1e-10
    np.testing.assert_allclose(x.numpy(), np.linalg.solve(a.numpy(), b.numpy()), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("method", ["cg", "gmres", "bicgstab"])
@pytest.mark.parametrize("preconditioner", [None, "jacobi", "ilu", "matrix", "operator"])
def test_iterations(method, preconditioner):
    laplace = scipy.sparse.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(30, 30), format="csr")
    inverse = np.linalg.inv(laplace.toarray())
    given = {
        "matrix": wg.tensor(inverse),
        "operator": scipy.sparse.linalg.aslinearoperator(inverse),
    }.get(preconditioner, preconditioner)
    a = wg.sparse.from_scipy(laplace, requires_grad=True)
    b = operand((30,))
    x = wg.sparse.solve(a, b, method, preconditioner=given, rtol=1e-12)
    np.testing.assert_allclose(x.detach().numpy(), inverse @ b.detach().numpy(), rtol=1e-8)
    x.sum().backward()
    adjoint = inverse.T @ np.ones(30)
    np.testing.assert_allclose(b.grad.numpy(), adjoint, rtol=1e-8)
    rows, columns = laplace.tocoo().coords
    np.testing.assert_allclose(
        a.grad.to_dense().numpy()[rows, columns], -adjoint[rows] * x.detach().numpy()[columns], rtol=1e-8
    )


def test_laplace_with_parameters():
    problem = Laplace(12, 5)
    p = wg.tensor(np.random.default_rng(0).normal(size=5) * 0.2, dtype=wg.float64, requires_grad=True)
    wg.autograd.gradcheck(problem.objective, (p,), check_forward_ad=True)
    wg.autograd.gradgradcheck(problem.objective, (p,), check_fwd_over_rev=True)
    with wg.no_grad():
        a = wg.sparse.to_scipy(problem.matrix(p).coalesce())
    u = scipy.sparse.linalg.spsolve(a.tocsc(), problem.load.numpy())
    np.testing.assert_allclose(problem.objective(p).item(), u @ u, rtol=1e-10)


@pytest.mark.parametrize(
    ("run", "error", "message"),
    [
        (lambda a: wg.sparse.solve(a[:2], wg.ones(2, dtype=wg.float64)), RuntimeError, "must be square"),
        (lambda a: wg.sparse.solve(a, wg.ones(2, dtype=wg.float64)), RuntimeError, "needs a right-hand side of shape"),
        (lambda a: wg.sparse.solve(a, wg.ones(3)), RuntimeError, "same dtype"),
        (lambda a: wg.sparse.solve(a, a), RuntimeError, "must be dense"),
        (lambda a: wg.sparse.solve(wg.eye(3), wg.ones(3)), RuntimeError, "linalg.solve"),
        (lambda a: wg.sparse.solve(a, wg.ones(3, dtype=wg.float64), "jacobi"), ValueError, "method must be one of"),
        (lambda a: wg.sparse.solve(0 * a, wg.ones(3, dtype=wg.float64)), wg.linalg.LinAlgError, "singular"),
        (lambda a: wg.sparse.solve(a * wg.nan, wg.ones(3, dtype=wg.float64)), RuntimeError, "infinite or NaN"),
        (
            lambda a: wg.sparse.solve(a, wg.ones(3, dtype=wg.float64), "gmres", preconditioner="none"),
            ValueError,
            "preconditioner must be",
        ),
        (
            lambda a: wg.sparse.solve(a, wg.ones(3, dtype=wg.float64), "bicgstab", maxiter=1),
            RuntimeError,
            "did not converge",
        ),
    ],
)
def test_refused(run, error, message):
    with pytest.raises(error, match=message):
        run(matrix(values(requires_grad=False)))


def test_writes_between_the_passes_are_noticed():
    v, b = values(), operand((3,))
    kept = v.clone()
    x = wg.sparse.solve(wg.sparse_csr_tensor([0, 1, 3, 5], PLACES[1], kept, (3, 3)), b)
    with wg.no_grad():
        kept.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        x.sum().backward()
