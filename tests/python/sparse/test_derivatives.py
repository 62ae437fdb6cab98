"""Every operation of wengert.sparse: values beside NumPy's, derivatives of first and second order in both modes."""

import numpy as np
import pytest

import wengert as wg
from tests.sparse_problems import LAYOUTS, OPERATIONS, REAL, SHARED, dense, matrix, operand, values

BOTH = {name: run for name, (run, _) in OPERATIONS.items()} | REAL


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_values(name, layout):
    run, reference = OPERATIONS[name]
    v, x = values(requires_grad=False), operand((3, 2), requires_grad=False)
    np.testing.assert_allclose(run(matrix(v, layout), x).numpy(), reference(dense(v.numpy()), x.numpy()), rtol=1e-12)


@pytest.mark.parametrize("name", OPERATIONS)
def test_values_of_places_that_coincide(name):
    run, reference = OPERATIONS[name]
    if "solve" in name or name in {"atanh", "asin"}:
        pytest.skip("the matrix is singular, or a sum leaves the domain")
    v, x = values(requires_grad=False), operand((3, 2), requires_grad=False)
    a = dense(v.numpy(), SHARED)
    np.testing.assert_allclose(run(matrix(v, places=SHARED), x).numpy(), reference(a, x.numpy()), rtol=1e-12)


@pytest.mark.parametrize("name", BOTH)
def test_derivatives(name):
    def function(v, x):
        return BOTH[name](matrix(v, "csr"), x)

    inputs = values(), operand((3, 2))
    wg.autograd.gradcheck(function, inputs, check_forward_ad=True)
    wg.autograd.gradgradcheck(function, inputs, check_fwd_over_rev=True)


@pytest.mark.parametrize(
    "name", ["matmul", "sparse_matmul", "transposed_matmul", "slices", "sum_rows", "plus_sparse", "sin"]
)
@pytest.mark.parametrize("layout", ["coo", "csc"])
def test_derivatives_in_other_layouts(name, layout):
    def function(v, x):
        return BOTH[name](matrix(v, layout), x)

    inputs = values(), operand((3, 2))
    wg.autograd.gradcheck(function, inputs, check_forward_ad=True)
    wg.autograd.gradgradcheck(function, inputs, check_fwd_over_rev=True)


@pytest.mark.parametrize(
    "name", ["matmul", "to_dense", "sin", "times_sparse", "plus_sparse", "sum_columns", "coalesce", "lists"]
)
def test_derivatives_of_places_that_coincide(name):
    def function(v, x):
        return BOTH[name](matrix(v, places=SHARED), x)

    inputs = values(), operand((3, 2))
    wg.autograd.gradcheck(function, inputs, check_forward_ad=True)
    wg.autograd.gradgradcheck(function, inputs, check_fwd_over_rev=True)


@pytest.mark.parametrize(
    "name",
    [
        "matmul",
        "dense_matmul",
        "sampled_addmm",
        "sparse_matmul_transposed",
        "mH",
        "solve",
        "solve_transposed",
        "times_dense",
        "sum",
        "abs",
    ],
)
def test_derivatives_of_complex_numbers(name):
    run, reference = OPERATIONS[name]
    v, x = values(dtype=wg.complex128), operand((3, 2), dtype=wg.complex128)
    a = dense(v.detach().numpy())
    np.testing.assert_allclose(
        run(matrix(v), x).detach().numpy(), reference(a, x.detach().numpy()), rtol=1e-12, atol=1e-14
    )

    def function(v, x):
        return run(matrix(v), x)

    wg.autograd.gradcheck(function, (v, x), check_forward_ad=True)
    wg.autograd.gradgradcheck(function, (v, x), check_fwd_over_rev=True)


def test_third_order():
    def energy(v):
        return (wg.sparse.solve(matrix(v), wg.ones(3, dtype=wg.float64)) ** 2).sum()

    hessian = wg.func.hessian(energy)
    v = values(requires_grad=False)
    third = wg.func.jacrev(hessian)(v)
    step = 1e-5
    for i in range(len(v)):
        moved = wg.zeros_like(v)
        moved[i] = step
        quotient = (hessian(v + moved) - hessian(v - moved)) / (2 * step)
        np.testing.assert_allclose(third[..., i].numpy(), quotient.numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_gradients_of_leaves_are_sparse(layout):
    v = values(requires_grad=False)
    leaf = matrix(v, layout).requires_grad_()
    x = operand((3, 2), requires_grad=False)
    (leaf @ x).sum().backward()
    assert leaf.grad.layout == leaf.layout
    expected = (np.ones((3, 2)) @ x.numpy().T) * (dense(v.numpy()) != 0)
    np.testing.assert_allclose(leaf.grad.to_dense().numpy(), expected)
    assert leaf.grad._nnz() == leaf._nnz()


def test_gradients_of_gradients_of_leaves():
    leaf = matrix(values(requires_grad=False)).requires_grad_()
    (gradient,) = wg.autograd.grad((leaf**3).sum(), leaf, create_graph=True)
    assert gradient.is_sparse
    (second,) = wg.autograd.grad(gradient.sum(), leaf)
    np.testing.assert_allclose(second.to_dense().numpy(), 6 * leaf.detach().to_dense().numpy())


def test_hooks_and_retained_gradients():
    seen = []
    v = values()
    a = matrix(v)
    a.register_hook(lambda g: seen.append(g.layout) or 2 * g)
    a.retain_grad()
    (a @ wg.ones(3, dtype=wg.float64)).sum().backward()
    assert seen == [wg.sparse_coo]
    assert a.grad.values().tolist() == [2] * 5
    assert v.grad.tolist() == [2] * 5


def test_gradients_of_a_sparse_result():
    v = values()
    a = matrix(v)
    a.backward(2 * matrix(wg.ones(5, dtype=wg.float64)))
    assert v.grad.tolist() == [2] * 5
    v.grad = None
    matrix(v).backward(wg.arange(9.0, dtype=wg.float64).reshape(3, 3))  # dense: its elements at the places
    assert v.grad.tolist() == [2, 3, 5, 7, 8]


@pytest.mark.parametrize("transform", ["vmap", "grad", "jacfwd", "hessian"])
def test_transforms(transform):
    x = operand((3,), requires_grad=False)

    def energy(v):
        return (wg.sparse.solve(matrix(v), x) * (matrix(v) @ x)).sum()

    def plain(v):
        a = wg.zeros(3, 3, dtype=wg.float64).index_put(tuple(map(wg.tensor, ([0, 1, 1, 2, 2], [2, 0, 2, 1, 2]))), v)
        return (wg.linalg.solve(a, x) * (a @ x)).sum()

    v = wg.stack([values(seed, requires_grad=False) for seed in range(4)])
    wrap = {
        "vmap": wg.vmap,
        "grad": lambda f: wg.vmap(wg.func.grad(f)),
        "jacfwd": lambda f: wg.vmap(wg.func.jacfwd(f)),
        "hessian": lambda f: wg.vmap(wg.func.hessian(f)),
    }[transform]
    np.testing.assert_allclose(wrap(energy)(v).numpy(), wrap(plain)(v).numpy(), rtol=1e-8)


def test_batches_of_right_hand_sides():
    a = matrix(values(requires_grad=False), "csr")
    b = operand((4, 3), requires_grad=False)
    expected = np.linalg.solve(a.to_dense().numpy(), b.numpy().T).T
    np.testing.assert_allclose(wg.vmap(lambda b: wg.sparse.solve(a, b))(b).numpy(), expected)
    np.testing.assert_allclose(wg.vmap(lambda b: a @ b)(b).numpy(), b.numpy() @ a.to_dense().numpy().T)
    gradients = wg.vmap(wg.func.grad(lambda b: (wg.sparse.solve(a, b) ** 2).sum()))(b)
    np.testing.assert_allclose(gradients.numpy(), 2 * expected @ np.linalg.inv(a.to_dense().numpy()), rtol=1e-9)


def test_derivatives_of_sparse_leaves_in_transforms():
    a = matrix(values(requires_grad=False))
    x = operand((3,), requires_grad=False)
    gradient = wg.func.grad(lambda a: (a @ x).sum())(a)
    np.testing.assert_allclose(gradient.values().numpy(), x.numpy()[[2, 0, 2, 1, 2]])
    value, tangent = wg.func.jvp(lambda a: a @ x, (a,), (2 * a,))
    np.testing.assert_allclose(tangent.numpy(), 2 * value.numpy())
