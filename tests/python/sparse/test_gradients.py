"""Sparse gradients: where they are accumulated, embeddings that have them, optimizers and checks that take them."""

import numpy as np
import pytest

import wengert as wg
from tests.sparse_problems import matrix, operand, values

F = wg.nn.functional


def rows(weight, indices):
    return F.embedding(wg.tensor(indices), weight, sparse=True).sum()


@pytest.fixture
def weight():
    return wg.arange(8.0).reshape(4, 2).requires_grad_()


def test_the_first_gradient_is_the_leafs_own(weight):
    seen = []
    weight.register_hook(lambda g: seen.append(g) and None)
    rows(weight, [1, 2, 1]).backward()
    assert weight.grad.is_sparse
    assert weight.grad is not seen[0]
    seen[0]._values().fill_(9)
    assert weight.grad._values().sum().item() == 6


def test_sparse_and_sparse_stay_sparse_in_place(weight):
    rows(weight, [1, 2, 1]).backward()
    first = weight.grad
    rows(weight, [3]).backward()
    assert weight.grad is first
    assert first.is_sparse
    assert first.to_dense().tolist() == [[0, 0], [2, 2], [1, 1], [1, 1]]
    for _ in range(20):
        rows(weight, [1, 2, 1]).backward()
    assert weight.grad._nnz() <= 8


def test_sparse_and_dense_become_dense(weight):
    rows(weight, [1]).backward()
    first = weight.grad
    weight.sum().backward()
    assert weight.grad is not first
    assert not weight.grad.is_sparse
    assert first.is_sparse
    assert first.to_dense().tolist() == [[0, 0], [1, 1], [0, 0], [0, 0]]
    assert weight.grad.tolist() == [[1, 1], [2, 2], [1, 1], [1, 1]]


def test_dense_and_sparse_stay_dense_in_place(weight):
    weight.sum().backward()
    first = weight.grad
    rows(weight, [1]).backward()
    assert weight.grad is first
    assert first.tolist() == [[1, 1], [2, 2], [1, 1], [1, 1]]


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_sums_in_one_pass_are_dense(weight, order):
    parts = [rows(weight, [1]), weight.sum()]
    (parts[order[0]] + parts[order[1]]).backward()
    assert weight.grad.tolist() == [[1, 1], [2, 2], [1, 1], [1, 1]]


def test_recorded_gradients(weight):
    y = F.embedding(wg.tensor([1, 1, 2]), weight, sparse=True)
    (gradient,) = wg.autograd.grad((y**3).sum(), weight, create_graph=True)
    assert gradient.is_sparse
    gradient.sum().backward()
    expected = np.zeros((4, 2))
    np.add.at(expected, [1, 1, 2], 6 * weight.detach().numpy()[[1, 1, 2]])
    np.testing.assert_allclose(weight.grad.detach().to_dense().numpy(), expected)


@pytest.mark.parametrize("options", [{}, {"padding_idx": 1}, {"padding_idx": -3}, {"max_norm": 2.0}])
def test_embedding(options):
    for shape in ([3], [2, 3], []):
        indices = wg.tensor(np.random.default_rng(0).integers(0, 4, shape))
        results = []
        for sparse in (False, True):
            weight = wg.arange(8.0).reshape(4, 2).requires_grad_()
            y = F.embedding(indices, weight, sparse=sparse, **options)
            (y * wg.arange(1.0, y.numel() + 1).reshape(y.shape)).sum().backward()
            results.append((y.detach().numpy(), weight.grad.to_dense().numpy(), weight.detach().numpy()))
            assert weight.grad.is_sparse == sparse
        for dense, other in zip(*results, strict=True):
            np.testing.assert_allclose(dense, other)


@pytest.mark.parametrize("mode", ["sum", "mean"])
@pytest.mark.parametrize("padding_idx", [None, 2])
def test_embedding_bag(mode, padding_idx):
    results = []
    for sparse in (False, True):
        bag = wg.nn.EmbeddingBag(5, 3, mode=mode, sparse=sparse, padding_idx=padding_idx)
        with wg.no_grad():
            bag.weight.copy_(wg.arange(15.0).reshape(5, 3))
        y = bag(wg.tensor([1, 2, 4, 4, 2]), wg.tensor([0, 3, 3]))
        (y * wg.arange(1.0, 10).reshape(3, 3)).sum().backward()
        results.append((y.detach().numpy(), bag.weight.grad.to_dense().numpy()))
        assert bag.weight.grad.is_sparse == sparse
    for dense, other in zip(*results, strict=True):
        np.testing.assert_allclose(dense, other, rtol=1e-6)


def test_embedding_in_other_modes():
    weight = operand((4, 2))

    def function(weight):
        return F.embedding(wg.tensor([1, 3, 1]), weight, sparse=True).sin()

    wg.autograd.gradcheck(function, weight, check_forward_ad=True)
    wg.autograd.gradgradcheck(function, weight, check_fwd_over_rev=True)
    batch = wg.vmap(lambda i: F.embedding(i, weight, sparse=True))(wg.tensor([[0, 1], [2, 3]]))
    assert batch.shape == (2, 2, 2)


@pytest.mark.parametrize(
    ("run", "error", "message"),
    [
        (lambda w: F.embedding(wg.tensor([1]), w, scale_grad_by_freq=True, sparse=True), RuntimeError, "not supported"),
        (lambda w: F.embedding_bag(wg.tensor([[1]]), w, mode="max", sparse=True), ValueError, "max mode"),
        (lambda w: F.embedding(wg.tensor([9]), w, sparse=True), IndexError, "out of bounds"),
        (lambda w: F.embedding(wg.tensor([1]), w, padding_idx=9, sparse=True), RuntimeError, "within num_embeddings"),
    ],
)
def test_refused_embeddings(weight, run, error, message):
    with pytest.raises(error, match=message):
        run(weight)


def steps(optimizer, sparse, n=4, **options):
    layer = wg.nn.Embedding(6, 2, sparse=sparse)
    with wg.no_grad():
        layer.weight.copy_(wg.arange(12.0).reshape(6, 2))
    optimizer = optimizer(layer.parameters(), **options)
    for i in range(n):
        optimizer.zero_grad()
        (layer(wg.tensor([1, 2, 1, 3 + i % 2])) ** 2).sum().backward()
        optimizer.step()
    return layer.weight.detach().numpy()


@pytest.mark.parametrize(
    ("optimizer", "options"),
    [
        (wg.optim.SGD, {"lr": 0.1}),
        (wg.optim.SGD, {"lr": 0.1, "momentum": 0.9}),
        (wg.optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
        (wg.optim.SGD, {"lr": 0.1, "maximize": True}),
        (wg.optim.Adagrad, {"lr": 0.1, "lr_decay": 0.1}),
    ],
)
def test_optimizers_do_the_same_as_with_dense_gradients(optimizer, options):
    np.testing.assert_allclose(
        steps(optimizer, True, **options), steps(optimizer, False, **options), rtol=1e-5, atol=1e-5
    )


def test_sparse_adam_is_adam_on_the_rows_that_it_has():
    def step(optimizer, sparse):
        return steps(lambda p: optimizer(p, lr=0.1, eps=1e-12), sparse, n=1)

    np.testing.assert_allclose(step(wg.optim.SparseAdam, True), step(wg.optim.Adam, False), rtol=1e-5)


def test_sparse_adam_keeps_its_state():
    layer = wg.nn.Embedding(6, 2, sparse=True)
    optimizer = wg.optim.SparseAdam(layer.parameters(), lr=0.1)
    layer(wg.tensor([1])).sum().backward()
    optimizer.step()
    other = wg.optim.SparseAdam(layer.parameters(), lr=0.1)
    other.load_state_dict(optimizer.state_dict())
    assert other.state[layer.weight]["step"] == 1


@pytest.mark.parametrize(
    ("run", "error", "message"),
    [
        (lambda: steps(wg.optim.Adam, True), RuntimeError, "Adam does not support sparse gradients, please consider"),
        (lambda: steps(wg.optim.RMSprop, True), RuntimeError, "RMSprop does not support sparse gradients"),
        (lambda: steps(wg.optim.SGD, True, weight_decay=0.1), RuntimeError, "weight_decay option is not compatible"),
        (lambda: steps(wg.optim.SparseAdam, False), RuntimeError, "does not support dense gradients"),
        (lambda: wg.optim.SparseAdam([wg.ones(2)], lr=0), ValueError, "Invalid learning rate: 0"),
        (lambda: wg.optim.SparseAdam([wg.ones(2, dtype=wg.complex64)]), ValueError, "does not support complex"),
        (lambda: wg.optim.SparseAdam([matrix(wg.ones(5))]), ValueError, "requires dense parameter"),
    ],
)
def test_refused_by_optimizers(run, error, message):
    with pytest.raises(error, match=message):
        run()


@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
def test_gradcheck_takes_sparse_inputs(layout):
    a = matrix(values(requires_grad=False), layout).requires_grad_()
    x = operand((3, 2))
    for check in (wg.autograd.gradcheck, wg.autograd.gradgradcheck):
        assert check(lambda a, x: wg.sparse.mm(a, x), (a, x), masked=True)
        assert check(lambda a: a.to_dense(masked_grad=False), a, masked=False)
        assert wg.sparse.as_sparse_gradcheck(check)(lambda a: 2 * a, a, masked=True)
    with pytest.raises(wg.autograd.gradcheck.__globals__["GradcheckError"], match="Jacobian mismatch"):
        wg.autograd.gradcheck(lambda a: wg.sparse.mm(a, x), a, masked=False)
    with pytest.raises(ValueError, match="Sparse output is not supported at gradcheck yet"):
        wg.autograd.gradcheck(lambda a: 2 * a, a, masked=True)


def test_gradcheck_finds_wrong_derivatives():
    class Wrong(wg.autograd.Function):
        @staticmethod
        def forward(ctx, v):
            return v * v

        @staticmethod
        def backward(ctx, grad):
            return 3 * grad

    a = matrix(values(requires_grad=False)).requires_grad_()
    assert not wg.autograd.gradcheck(
        lambda a: Wrong.apply(a.coalesce().values()), a, masked=True, raise_exception=False
    )


def test_clipping_a_sparse_gradient(weight):
    rows(weight, [1, 2]).backward()
    norm = wg.nn.utils.clip_grad_norm_([weight], 1.0)
    assert norm.item() == pytest.approx(2.0)
    assert weight.grad.norm().item() == pytest.approx(1.0, rel=1e-5)
