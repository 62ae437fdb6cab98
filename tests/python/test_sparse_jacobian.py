"""Sparse Jacobians and Hessians against dense ones: values equal, and everything outside the pattern is 0."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import wengert as wg
from wengert.autograd.functional import hessian, jacobian
from wengert.func import _products

RNG = np.random.default_rng(5)
MATRIX = wg.tensor(RNG.normal(size=(4, 4)))
INDEX = wg.tensor([3, 0, 0, 2])


def point(*shape):
    return wg.tensor(RNG.uniform(0.3, 1.5, shape))


def dense_jacobian(f, x):
    y = f(x)
    return jacobian(f, x).numpy().reshape(y.numel(), x.numel())


def assert_jacobian(f, x, nonzeros=None, modes=("auto", "forward", "reverse")):
    expected = dense_jacobian(f, x)
    for mode in modes:
        plan = wg.func.sparsity(f, x, mode=mode)
        found = plan(x)
        np.testing.assert_allclose(found.toarray(), expected, rtol=1e-12, atol=1e-14)
    if nonzeros is not None:
        assert plan.pattern.nnz == nonzeros
    return plan


class Doubled(wg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, gradient):
        return 2 * gradient


def assigned(x):
    u = wg.zeros(6, dtype=x.dtype)
    u[1:5] = x**2
    u[0] = x[0]
    return u


def multiplied_in_place(x):
    u = x.clone()
    u[1:3].mul_(x[:2])
    u[3] = 0
    return u


def written_over_zeros(x):
    u = wg.zeros(4, dtype=x.dtype)
    u[1:3].mul_(x[:2])  # the coefficients are 0 here and now
    return u


# Function, shape of its argument, entries of its pattern (None: not fixed).
JACOBIANS = {
    "elementwise": (lambda x: wg.tanh(x) * x + wg.relu(x - 0.5), (5,), 5),
    "broadcast": (lambda x: x[:, None] * x[None, :], (4,), 28),
    "scalar": (lambda x: x * x[0], (4,), 7),
    "views": (lambda x: x.t().reshape(2, 6)[:, 1:4].flip(0), (4, 3), 6),
    "stencil": (lambda x: x[2:] - 2 * x[1:-1] + x[:-2] + x[1:-1] ** 3, (9,), 21),
    "sum": (lambda x: x.sum(1), (3, 4), 12),
    "mean": (lambda x: (x * x).mean(0), (3, 4), 12),
    "softmax": (lambda x: wg.softmax(x, -1), (3, 4), 48),
    "logsumexp": (lambda x: x.logsumexp(0, keepdim=True), (3, 4), 12),
    "sort": (lambda x: x.sort(1)[0], (2, 3), 18),
    "amax": (lambda x: x.amax(1), (2, 3), 6),
    "prod": (lambda x: x.prod(0), (2, 3), 6),
    "cumsum": (lambda x: x.cumsum(0), (4,), 10),
    "cumprod": (lambda x: x.cumprod(1), (2, 3), 18),
    "index": (lambda x: x[INDEX] ** 2, (4,), 4),
    "index_add": (lambda x: wg.zeros(4, dtype=x.dtype).index_add(0, INDEX, x), (4,), 4),
    "cat": (lambda x: wg.cat([x[1:], x.sin()]), (4,), 7),
    "pad": (lambda x: wg.nn.functional.pad(x, (1, 2)), (4,), 4),
    "mm": (lambda x: x @ x, (4, 4), 112),
    "constant matrix": (lambda x: MATRIX @ x, (4, 3), 48),
    "mv": (lambda x: MATRIX @ x, (4,), 16),
    "bmm": (lambda x: wg.bmm(x, x), (2, 2, 2), 24),
    "matmul": (lambda x: wg.matmul(x, MATRIX), (2, 3, 4), 96),
    "where": (lambda x: wg.where(x > 1, x, x.flip(0)), (4,), 8),
    "maximum": (lambda x: wg.maximum(x, x.roll(1)), (4,), 8),
    "constant": (lambda x: wg.floor(x) + 1.0, (4,), 0),
    "independent": (lambda x: wg.ones(3), (4,), 0),
    "norm": (lambda x: x.norm(dim=1), (3, 2), 6),
    "inverse": (lambda x: wg.linalg.inv(x + 3 * wg.eye(2, dtype=x.dtype)), (2, 2), 16),
    "assigned": (assigned, (4,), 5),
    "in place": (multiplied_in_place, (4,), None),
    "in place over zeros": (written_over_zeros, (4,), None),
    "convolution": (lambda x: wg.conv1d(x[None, None], MATRIX[None, :1, :3]).reshape(-1), (6,), 12),
    "layer norm": (lambda x: wg.nn.functional.layer_norm(x, (3,)), (2, 3), 18),
    "unbind": (lambda x: wg.stack([r * r for r in x.unbind()]), (3, 2), 6),
}


@pytest.mark.parametrize("name", JACOBIANS)
def test_jacobian_equals_dense(name):
    f, shape, nonzeros = JACOBIANS[name]
    assert_jacobian(f, point(*shape), nonzeros)


def test_custom_functions_count_as_dense():
    assert_jacobian(lambda x: Doubled.apply(x), point(3), 9, modes=["reverse"])


HESSIANS = {
    "separable": (lambda x: (x**3).sum(), (4,), 4),
    "chain": (lambda x: (x[1:] * x[:-1]).sum() + x.sin().sum(), (5,), 13),
    "rosenbrock": (lambda x: (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum(), (6,), 16),
    "arrow": (lambda x: (x[0] * x[1:]).sum() + (x**2).sum(), (9,), 25),
    "grid": (lambda u: ((u[1:] - u[:-1]) ** 4).sum() + ((u[:, 1:] - u[:, :-1]) ** 4).sum(), (4, 5), 82),
    "linear": (lambda x: x.sum(), (3,), 0),
    "product": (lambda x: x.prod(), (3,), 9),
    "quadratic form": (lambda x: x @ (MATRIX @ x), (4,), 16),
}


@pytest.mark.parametrize("name", HESSIANS)
def test_hessian_equals_dense(name):
    f, shape, nonzeros = HESSIANS[name]
    x = point(*shape)
    plan = wg.func.sparsity(f, x, order=2)
    expected = hessian(f, x).numpy().reshape(x.numel(), x.numel())
    np.testing.assert_allclose(plan(x).toarray(), expected, rtol=1e-10, atol=1e-12)
    assert plan.pattern.nnz == nonzeros


STEPS = {
    "shift": lambda x: x.roll(1),
    "square": lambda x: x * x,
    "sine": lambda x: x.sin(),
    "difference": lambda x: wg.cat([x[:1], x[1:] - x[:-1]]),
    "cut": lambda x: wg.cat([x[2:], 0.5 * x[:2]]),
    "scale": lambda x: x * x[1],
    "gather": lambda x: x[wg.tensor([0, 2, 1, 1, 4, 5])],
    "blocks": lambda x: (x.reshape(3, 2) @ MATRIX[:2, :2]).reshape(-1),
    "halves": lambda x: wg.cat([x.reshape(2, 3).amax(0), x.reshape(2, 3).mean(0)]),
    "masked": lambda x: wg.where(wg.arange(6) % 2 == 0, x, 0.0),
    "ties": lambda x: wg.maximum(x, x.flip(0)),
}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=5), st.integers(0, 2**31))
def test_random_compositions(names, seed):
    def f(x):
        for name in names:
            x = STEPS[name](x)
        return x

    def dense(y):
        return jacobian(f, y).numpy()

    x = wg.tensor(np.random.default_rng(seed).uniform(0.3, 1.5, 6))
    plan = wg.func.sparsity(f, x)
    np.testing.assert_allclose(plan(x).toarray(), dense(x), rtol=1e-12, atol=1e-14)
    other = wg.tensor(np.random.default_rng(seed + 1).uniform(-1.5, 1.5, 6))
    np.testing.assert_allclose(plan(other).toarray(), dense(other), rtol=1e-12, atol=1e-14)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 12), st.integers(1, 12), st.floats(0, 0.6), st.integers(0, 2**31))
def test_random_patterns_are_recovered(rows, columns, density, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.uniform(1, 2, (rows, columns)) * (rng.random((rows, columns)) < density)
    plan = wg.func.sparsity(lambda x: wg.tensor(matrix) @ x, wg.ones(columns, dtype=wg.float64), pattern=matrix)
    np.testing.assert_array_equal(plan(wg.ones(columns, dtype=wg.float64)).toarray(), matrix)
    symmetric = matrix[: min(rows, columns), : min(rows, columns)]
    symmetric = symmetric + symmetric.T
    x = wg.ones(len(symmetric), dtype=wg.float64)
    plan = wg.func.sparsity(lambda x: x @ (wg.tensor(symmetric) @ x) / 2, x, order=2, pattern=symmetric)
    np.testing.assert_allclose(plan(x).toarray(), symmetric, rtol=1e-14)


def test_stencils_need_as_few_colors_as_their_rows_have_entries():
    def five_points(u):
        return u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]

    u = wg.zeros(13, 17, dtype=wg.float64)
    assert wg.func.sparsity(five_points, u).number_of_colors == 5
    flat = wg.func.sparsity(lambda v: five_points(v.reshape(13, 17)), u.reshape(-1))
    assert flat.number_of_colors == 5
    assert wg.func.sparsity(lambda x: x[1:] * x[:-1], wg.zeros(50)).number_of_colors == 2


def test_arrow_hessians_need_few_colors_at_any_size():
    plan = wg.func.sparsity(lambda x: (x[0] * x[1:] ** 2).sum() + x[0] ** 2, wg.ones(3000, dtype=wg.float64), order=2)
    assert plan.number_of_colors == 2


def test_a_large_stencil_takes_little():
    x = wg.rand(100_000, dtype=wg.float64)
    matrix = wg.func.sparse_jacobian(lambda x: x[2:] - 2 * x[1:-1] + x[:-2] + x[1:-1] ** 3, x)
    center = -2 + 3 * x[1:-1].numpy() ** 2
    expected = scipy.sparse.diags_array(
        [np.ones(99_998), center, np.ones(99_998)], offsets=[0, 1, 2], shape=matrix.shape
    )
    assert abs(matrix - expected).max() < 1e-14


def test_trees_are_one_vector():
    def f(x):
        return {"y": x["a"] * x["b"][0], "z": x["b"][1:]}

    x = {"a": wg.tensor([1.0, 2.0]), "b": wg.tensor([3.0, 4.0, 5.0])}
    expected = [[3, 0, 1, 0, 0], [0, 3, 2, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]]
    assert wg.func.sparse_jacobian(f, x).toarray().tolist() == expected


def test_the_caller_keeps_its_tensors():
    x = wg.ones(3, requires_grad=True)
    wg.func.sparse_jacobian(lambda x: x * x, x)
    assert x.grad is None


def test_errors():
    x = wg.ones(3)
    with pytest.raises(ValueError, match="order must be 1"):
        wg.func.sparsity(lambda x: x, x, order=3)
    with pytest.raises(ValueError, match="mode must be one of"):
        wg.func.sparsity(lambda x: x, x, mode="sideways")
    with pytest.raises(ValueError, match="one output of one element"):
        wg.func.sparse_hessian(lambda x: x, x)
    with pytest.raises(ValueError, match="shape of the matrix"):
        wg.func.sparse_jacobian(lambda x: x, x, pattern=np.eye(2))
    with pytest.raises(ValueError, match="make a new plan"):
        wg.func.sparsity(lambda x: x * x, x)(wg.ones(4))
    with pytest.raises(TypeError, match="expected tensors, arrays or numbers"):
        wg.func.sparse_jacobian(lambda x: x, "x")


@pytest.mark.parametrize("at_once", [1, 40, 1 << 20])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_colors_one_by_one_in_blocks_and_all_at_once(monkeypatch, mode, at_once):
    monkeypatch.setattr(_products, "_AT_ONCE", at_once)
    calls = []

    def f(x):
        calls.append(x.shape)
        return sum((i + 1) * x[i : i + 10] ** 2 for i in range(6))

    x = wg.arange(15.0, dtype=wg.float64)
    plan = wg.func.sparsity(f, x, mode=mode)
    calls.clear()
    result = plan(x).toarray()
    assert len(calls) == (1 if mode == "reverse" else {1: 6, 40: 3, 1 << 20: 1}[at_once])
    np.testing.assert_allclose(result, wg.func.jacrev(f)(x).numpy())
