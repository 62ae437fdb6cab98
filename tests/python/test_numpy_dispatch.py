"""NumPy's functions on tensors: the values of NumPy, with history."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import wengert as wg
from wengert.func import grad, jacfwd, vmap

A = np.arange(1.0, 7.0).reshape(2, 3)
B = np.array([[2.0, 1.0], [1.0, 3.0]])


def check(function, *arrays):
    """What NumPy computes from arrays, it computes from tensors, which stay connected."""
    expected = function(*arrays)
    result = function(*(wg.tensor(a) for a in arrays))
    tracked = function(*(wg.tensor(a, requires_grad=True) for a in arrays))
    parts = zip(*(r if isinstance(r, (tuple, list)) else [r] for r in (expected, result, tracked)), strict=True)
    for want, got, connected in parts:
        assert isinstance(got, wg.Tensor)
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-12, atol=1e-12)
        assert got.dtype == wg.as_tensor(np.asarray(want)).dtype
        assert connected.requires_grad == (got.dtype.is_floating_point or got.dtype.is_complex)


UFUNCS = (
    "abs sin cos tan arctan sinh cosh tanh arcsinh exp expm1 exp2 log log2 log10 log1p sqrt cbrt square reciprocal "
    "negative positive conj degrees radians fabs"
)
BINARY = "add subtract multiply divide power maximum minimum fmax fmin hypot arctan2 logaddexp copysign fmod mod matmul"


@pytest.mark.parametrize("name", UFUNCS.split())
def test_ufuncs_of_one(name):
    check(getattr(np, name), A)


@pytest.mark.parametrize("name", BINARY.split())
def test_ufuncs_of_two(name):
    check(getattr(np, name), B, B + 0.5)
    check(lambda t: getattr(np, name)(B, t), B)


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "rint", "sign"])
def test_steps(name):
    np.testing.assert_allclose(getattr(np, name)(wg.tensor(A)).numpy(), getattr(np, name)(A))


@pytest.mark.parametrize("name", ["less", "greater_equal", "equal", "logical_and", "isfinite", "isnan", "signbit"])
def test_predicates(name):
    ufunc = getattr(np, name)
    arguments = (A, A.T.reshape(2, 3))[: ufunc.nin]
    assert np.array_equal(ufunc(*map(wg.tensor, arguments)).numpy(), ufunc(*arguments))


@pytest.mark.parametrize("name", ["erf", "erfc", "expit", "gammaln", "psi", "i0", "ndtr", "log_ndtr", "entr"])
def test_ufuncs_of_scipy(name):
    check(getattr(scipy.special, name), A / 4)


@pytest.mark.parametrize(
    "function",
    [
        np.sum,
        lambda x: np.sum(x, axis=0),
        lambda x: np.sum(x, axis=(0, 1), keepdims=True),
        lambda x: np.sum(x, where=A > 2, initial=3.0),
        lambda x: np.prod(x, 1),
        lambda x: np.mean(x, axis=-1, keepdims=True),
        lambda x: np.mean(x, axis=0, where=A > 1.5),
        lambda x: np.var(x, ddof=1),
        lambda x: np.std(x, axis=1),
        lambda x: np.max(x, axis=0),
        lambda x: np.min(x, initial=0.5),
        lambda x: np.ptp(x, axis=1),
        lambda x: np.median(x, axis=1),
        lambda x: np.quantile(x, 0.3),
        lambda x: np.percentile(x, 40, axis=0),
        lambda x: np.average(x, axis=1, weights=[1.0, 2.0, 3.0]),
        np.cumsum,
        lambda x: np.cumprod(x, axis=1),
        lambda x: np.diff(x, axis=1),
        lambda x: np.trapezoid(x, dx=0.5),
        lambda x: np.sort(x, axis=0),
        np.argmax,
        lambda x: np.argmin(x, axis=1, keepdims=True),
        lambda x: np.count_nonzero(x, axis=1),
        lambda x: np.all(x > 1),
        lambda x: np.add.reduce(x),
        lambda x: np.maximum.reduce(x, axis=1),
        lambda x: np.add.accumulate(x, axis=1),
        lambda x: np.multiply.outer(x, B),
        lambda x: np.clip(x, 2, 5),
        lambda x: np.clip(x, None, 3.5),
        lambda x: np.where(x > 2, x, 0.0),
        lambda x: np.where(A > 2, x, -x),
        lambda x: np.reshape(x, (3, 2)),
        lambda x: np.reshape(x, -1),
        np.transpose,
        lambda x: np.transpose(x, (1, 0)),
        lambda x: np.swapaxes(x, 0, 1),
        lambda x: np.moveaxis(x, 0, -1),
        lambda x: np.expand_dims(x, (0, 2)),
        lambda x: np.squeeze(np.expand_dims(x, 0)),
        np.ravel,
        lambda x: np.broadcast_to(x, (2, 2, 3)),
        lambda x: np.flip(x),
        lambda x: np.roll(x, 1),
        lambda x: np.roll(x, 2, axis=1),
        lambda x: np.repeat(x, 2, axis=0),
        lambda x: np.tile(x, (2, 1)),
        lambda x: np.take(x, [0, 2], axis=1),
        lambda x: np.take_along_axis(x, np.array([[0, 2], [1, 1]]), 1),
        lambda x: np.concatenate([x, A], axis=1),
        lambda x: np.concatenate([x, x], axis=None),
        lambda x: np.stack([x, A], 1),
        lambda x: np.vstack([x, x]),
        lambda x: np.hstack([x, x]),
        lambda x: np.split(x, 3, axis=1),
        lambda x: np.array_split(x, 2, axis=1),
        lambda x: np.dot(x, x.T),
        lambda x: np.outer(x, [1.0, 2.0]),
        lambda x: np.inner(x, x),
        lambda x: np.tensordot(x, A, axes=([0], [0])),
        lambda x: np.einsum("ij,kj->ik", x, A),
        lambda x: np.kron(x, B),
        lambda x: np.cross(x, A[::-1].copy()),
        lambda x: A @ x.T,
        lambda x: A + x,
        lambda x: 2.0 - x,
        lambda x: np.float64(2.0) * x,
        lambda x: np.linspace(x[0], x[1], 4),
        lambda x: np.tril(x) + np.triu(x),
        lambda x: np.diag(x @ x.T),
        lambda x: np.trace(x @ x.T),
        lambda x: np.nan_to_num(x),
        lambda x: np.round(x, 1),
        lambda x: np.linalg.norm(x),
        lambda x: np.linalg.norm(x, axis=1),
        lambda x: np.linalg.norm(x, ord=1, axis=0),
        lambda x: np.linalg.svd(x, compute_uv=False),
        np.linalg.pinv,
        np.zeros_like,
    ],
)
def test_functions(function):
    expected = function(A)
    result = function(wg.tensor(A))
    for want, got in zip(*(r if isinstance(r, (tuple, list)) else [r] for r in (expected, result)), strict=True):
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["inv", "det", "cholesky", "eigvalsh", "matrix_power"])
def test_linalg(name):
    check(lambda m: getattr(np.linalg, name)(m, *((3,) if name == "matrix_power" else ())), B)


def test_linalg_solve_in_either_place():
    check(np.linalg.solve, B, A)
    check(lambda b: np.linalg.solve(B, b), A)
    check(lambda a: np.linalg.solve(a, A), B)


def test_transforms_of_code_that_knows_only_numpy():
    def loss(x):
        return np.sum(np.where(x > 0, np.log1p(np.exp(-x)), np.exp(x))) + np.linalg.slogdet(np.outer(x, x) + B)[1]

    x = wg.tensor([0.5, 1.5], dtype=wg.float64)
    gradient = grad(loss)(x)
    eps = 1e-6
    numeric = [(loss(x.numpy() + eps * e) - loss(x.numpy() - eps * e)) / (2 * eps) for e in np.eye(2)]
    np.testing.assert_allclose(gradient.numpy(), numeric, rtol=1e-6)
    np.testing.assert_allclose(jacfwd(np.sin)(x).numpy(), np.diag(np.cos(x.numpy())))
    np.testing.assert_allclose(vmap(lambda v: np.sum(np.exp(v)))(wg.tensor(A)).numpy(), np.exp(A).sum(1))


def test_out_and_where():
    out = wg.zeros(2, 3, dtype=wg.float64)
    assert np.exp(wg.tensor(A), out=out) is out
    np.testing.assert_allclose(out.numpy(), np.exp(A))
    array = np.zeros((2, 3))
    np.add(wg.tensor(A), 1.0, out=array, where=A > 2)
    np.testing.assert_allclose(array, np.where(A > 2, A + 1, 0))
    array += wg.tensor(A)
    np.testing.assert_allclose(array, np.where(A > 2, A + 1, 0) + A)
    with pytest.raises(TypeError, match="cannot hold a result that requires grad"):
        array += wg.tensor(A, requires_grad=True)
    with pytest.raises(TypeError, match="where= without out="):
        np.exp(wg.tensor(A, requires_grad=True), where=A > 2)


def test_dtype_argument():
    assert np.sum(wg.tensor([1, 2]), dtype=np.float32).dtype == wg.float32
    assert np.exp(wg.tensor([1, 2]), dtype=np.float64).dtype == wg.float64


@pytest.mark.parametrize(
    "call",
    [
        lambda t: np.histogram2d(t, t),
        lambda t: np.spacing(t),
        lambda t: np.add.reduceat(t, [0, 1]),
        lambda t: np.sort(t, order="x"),
        lambda t: np.var(t, where=t > 0),
    ],
)
def test_unsupported_functions_name_the_remedy(call):
    with pytest.raises(TypeError, match=r"not available for wengert tensors.*detach"):
        call(wg.tensor([1.0, 2.0], requires_grad=True))


def test_conversions_never_change_the_grad_flag():
    t = wg.tensor([1.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="requires grad"):
        np.asarray(t)
    np.asarray(t.detach())
    assert t.requires_grad


def test_foreign_types_are_asked_too():
    class Foreign:
        def __array_ufunc__(self, ufunc, method, *inputs, **options):
            return "foreign"

    assert np.add(wg.ones(2), Foreign()) == "foreign"


@pytest.mark.parametrize(
    ("widths", "options"),
    [
        (1, {}),
        ((1, 2), {"constant_values": 5}),
        (((1, 2), (0, 3)), {"constant_values": ((1, 2), (3, 4))}),
        ({-1: (1, 2)}, {}),
        (((1, 1), (2, 2)), {"mode": "edge"}),
        (((1, 1), (2, 1)), {"mode": "reflect"}),
        (((3, 1), (4, 2)), {"mode": "symmetric"}),
        (((1, 3), (0, 4)), {"mode": "wrap"}),
        (0, {"mode": "edge"}),
    ],
)
def test_pad(widths, options):
    if isinstance(widths, dict) and np.lib.NumpyVersion(np.__version__) < "2.2.0":
        pytest.skip("NumPy 2.2 takes dictionaries")
    check(lambda x: np.pad(x, widths, **options), A)
    gradient = grad(lambda x: (np.pad(x, widths, **options) ** 2).sum())(wg.tensor(A))
    h = 1e-6
    direction = np.cos(A)
    values = [(np.pad(A + s * h * direction, widths, **options) ** 2).sum() for s in (1, -1)]
    np.testing.assert_allclose((gradient.numpy() * direction).sum(), (values[0] - values[1]) / (2 * h), rtol=1e-6)


def test_pad_refuses_what_has_no_counterpart():
    for options in ({"mode": "mean"}, {"mode": "reflect", "reflect_type": "odd"}, {"mode": "linear_ramp"}):
        with pytest.raises(TypeError, match="has no counterpart"):
            np.pad(wg.tensor(A, requires_grad=True), 1, **options)


@pytest.mark.parametrize("name", ["nanvar", "nanstd"])
def test_spread_without_missing_values(name):
    values = np.array([[1.0, np.nan, 3.0], [2.0, 5.0, np.nan]])
    check(lambda x: getattr(np, name)(x), values)
    check(lambda x: getattr(np, name)(x, axis=0), values)
    check(lambda x: getattr(np, name)(x, axis=1, ddof=1, keepdims=True), values)
    gradient = grad(lambda x: getattr(np, name)(x, axis=1).sum())(wg.tensor(values)).numpy()
    assert np.array_equal(np.isfinite(gradient), np.ones((2, 3), bool))
    assert gradient[np.isnan(values)].tolist() == [0, 0]
