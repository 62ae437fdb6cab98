"""Functions that are written in Python, without another package to compare with."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import wengert as wg
from wengert.autograd import gradcheck, gradgradcheck

F = wg.nn.functional
RNG = np.random.default_rng(2)


def test_unique_counts_and_inverse():
    x = wg.tensor([[3, 1], [1, 3], [3, 1]])
    values, inverse, counts = wg.unique(x, return_inverse=True, return_counts=True)
    assert values.tolist() == [1, 3]
    assert counts.tolist() == [3, 3]
    assert wg.equal(values[inverse], x)
    rows, counts = x.unique(dim=0, return_counts=True)
    assert rows.tolist() == [[1, 3], [3, 1]]
    assert counts.tolist() == [1, 2]
    assert wg.unique(x).tolist() == [1, 3]


def test_unique_consecutive_runs():
    x = wg.tensor([1, 1, 2, 2, 1])
    values, inverse, counts = wg.unique_consecutive(x, return_inverse=True, return_counts=True)
    assert values.tolist() == [1, 2, 1]
    assert inverse.tolist() == [0, 0, 1, 1, 2]
    assert counts.tolist() == [2, 2, 1]


def test_equality():
    x = wg.tensor([1.0, np.nan])
    assert not wg.equal(x, x)
    assert wg.allclose(x, x, equal_nan=True)
    assert not wg.allclose(x, x)
    assert not wg.equal(wg.ones(2), wg.ones(1))
    assert wg.ones(2).equal(wg.ones(2))


@pytest.mark.parametrize("dims", [0, 1, 2, ([0, 1], [1, 0]), ([-1], [0])])
def test_tensordot_is_numpys(dims):
    a, b = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3))
    np.testing.assert_allclose(wg.tensordot(wg.tensor(a), wg.tensor(b), dims).numpy(), np.tensordot(a, b, dims))
    leaves = wg.tensor(a, requires_grad=True), wg.tensor(b, requires_grad=True)
    assert gradcheck(lambda a, b: wg.tensordot(a, b, dims), leaves, check_forward_ad=True)


def test_combinations_are_those_of_itertools():
    x = wg.tensor([4.0, 5.0, 6.0])
    assert wg.combinations(x, 2).tolist() == [list(c) for c in itertools.combinations(x.tolist(), 2)]
    assert wg.combinations(x, 3, True).tolist() == [
        list(c) for c in itertools.combinations_with_replacement(x.tolist(), 3)
    ]
    assert wg.combinations(x, 4).shape == (0, 4)
    with pytest.raises(RuntimeError, match="Expect a 1D vector"):
        wg.combinations(wg.ones(2, 2))
    with pytest.raises(RuntimeError, match="non-negative"):
        wg.combinations(x, -1)


def test_cartesian_products_are_those_of_itertools():
    a, b = wg.tensor([1, 2]), wg.tensor([3, 4, 5])
    assert wg.cartesian_prod(a, b).tolist() == [list(c) for c in itertools.product(a.tolist(), b.tolist())]
    with pytest.raises(RuntimeError, match="Expect a 1D vector"):
        wg.cartesian_prod(wg.ones(2, 2), a)


@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradient_is_numpys(edge_order):
    x, p = RNG.normal(size=(4, 5)), np.cumsum(RNG.uniform(0.5, 1, 5))
    for ours, theirs in zip(
        wg.gradient(wg.tensor(x), spacing=0.5, edge_order=edge_order),
        np.gradient(x, 0.5, edge_order=edge_order),
        strict=True,
    ):
        np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-12)
    (ours,) = wg.gradient(wg.tensor(x), spacing=[wg.tensor(p)], dim=1, edge_order=edge_order)
    np.testing.assert_allclose(ours.numpy(), np.gradient(x, p, axis=1, edge_order=edge_order), rtol=1e-12)
    leaves = wg.tensor(x, requires_grad=True), wg.tensor(p, requires_grad=True)
    function = lambda x, p: wg.gradient(x, spacing=[p], dim=1, edge_order=edge_order)[0]  # noqa: E731
    assert gradcheck(function, leaves, check_forward_ad=True)
    assert gradgradcheck(function, leaves)


def test_gradient_says_what_is_wrong():
    with pytest.raises(RuntimeError, match="edge_order"):
        wg.gradient(wg.ones(3), edge_order=3)
    with pytest.raises(RuntimeError, match="at least edge_order"):
        wg.gradient(wg.ones(1))
    with pytest.raises(RuntimeError, match="expected spacing"):
        wg.gradient(wg.ones(3, 3), spacing=[1.0])
    with pytest.raises(IndexError, match="out of range"):
        wg.gradient(wg.ones(3), dim=1)


# --- In place
def test_polygamma_in_place_has_a_history():
    x = wg.tensor([0.5, 1.5], dtype=wg.float64, requires_grad=True)
    assert gradcheck(lambda x: (x * 1).polygamma_(1), x)


def test_float_power_in_place_wants_float64():
    x = wg.tensor([2.0], dtype=wg.float64)
    assert x.float_power_(2) is x
    assert x.item() == 4
    with pytest.raises(RuntimeError, match="the base given to float_power_ has dtype"):
        wg.ones(1).float_power_(2)


def test_functions_of_in_place_methods():
    x = wg.tensor([-1.0, 1.0])
    assert wg.relu_(x) is x
    assert x.tolist() == [0.0, 1.0]
    with pytest.raises(AttributeError, match="no attribute 'nothing_'"):
        wg.nothing_  # noqa: B018


def test_what_is_not_there_says_so():
    with pytest.raises(RuntimeError, match=r"\[cuda\]"):
        wg.ones(1).cuda()


# --- Pooling
@pytest.mark.parametrize("n", [1, 2, 3])
def test_max_pooling_and_back(n):
    x = wg.tensor(RNG.permutation(4**n).reshape(1, *(4,) * n) * 0.1, requires_grad=True)
    pool, unpool = getattr(F, f"max_pool{n}d"), getattr(F, f"max_unpool{n}d")
    values, places = pool(x, 2, return_indices=True)
    assert wg.equal(values, pool(x, 2))
    assert wg.equal(x.reshape(-1)[places.reshape(-1)], values.reshape(-1))
    back = unpool(values, places, 2)
    assert back.shape == x.shape
    assert wg.equal(pool(back, 2), values)
    assert gradcheck(lambda x: unpool(*pool(x, 2, return_indices=True), 2), x, check_forward_ad=True)
    with pytest.raises(ValueError, match="invalid output_size"):
        unpool(values, places, 2, output_size=[9] * n)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_max_pooling_and_back_of_an_empty_batch(n):
    unpool = getattr(F, f"max_unpool{n}d")
    values, places = wg.ones(0, 3, *(2,) * n), wg.zeros(0, 3, *(2,) * n, dtype=wg.int64)
    assert unpool(values, places, 2).shape == (0, 3, *(4,) * n)
    assert wg.func.vmap(lambda v, p: unpool(v, p, 2))(values, places).shape == (0, 3, *(4,) * n)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_lp_pooling(n):
    x = wg.tensor(RNG.uniform(0.5, 2, (1, *(4,) * n)), requires_grad=True)
    pool = getattr(F, f"lp_pool{n}d")
    size = 2**n
    expected = (getattr(F, f"avg_pool{n}d")(x.square(), 2) * size).sqrt()
    np.testing.assert_allclose(pool(x, 2, 2).detach().numpy(), expected.detach().numpy(), rtol=1e-12)
    assert gradcheck(lambda x: pool(x, 3, 2), x)


# --- Random
def test_gumbel_softmax():
    wg.manual_seed(0)
    logits = wg.tensor(np.log([0.1, 0.2, 0.7]), requires_grad=True)
    hard = F.gumbel_softmax(logits.expand(4000, 3), hard=True)
    assert set(hard.detach().reshape(-1).round(decimals=6).tolist()) == {0.0, 1.0}
    np.testing.assert_allclose(hard.detach().mean(0).numpy(), [0.1, 0.2, 0.7], atol=0.03)
    soft = F.gumbel_softmax(logits, tau=0.5)
    soft[0].backward()
    assert abs(soft.sum().item() - 1) < 1e-12
    assert logits.grad.any()


def test_rrelu():
    x = wg.tensor([-1.0, 2.0], requires_grad=True)
    assert F.rrelu(x, 0.2, 0.4).tolist() == pytest.approx([-0.3, 2.0])
    drawn = F.rrelu(x.expand(100, 2), 0.2, 0.4, training=True)
    assert -0.4 <= drawn.min().item() < drawn[:, 0].max().item() <= -0.2


# --- Losses
def test_ctc_sums_over_all_alignments():
    steps, classes, target = 4, 3, [1, 2]
    log_probs = wg.tensor(RNG.normal(size=(steps, classes))).log_softmax(-1)
    total = 0.0
    for path in itertools.product(range(classes), repeat=steps):
        labels = [k for k, _ in itertools.groupby(path)]
        if [k for k in labels if k != 0] == target:
            total += np.exp(sum(log_probs[t, k].item() for t, k in enumerate(path)))
    loss = F.ctc_loss(log_probs, wg.tensor(target), [steps], [2], reduction="sum")
    assert loss.item() == pytest.approx(-np.log(total))


def test_ctc_without_an_alignment():
    log_probs = wg.zeros(1, 1, 3).log_softmax(-1).requires_grad_()
    targets = wg.tensor([[1, 1]])
    assert F.ctc_loss(log_probs, targets, [1], [2]).item() == np.inf
    loss = F.ctc_loss(log_probs, targets, [1], [2], zero_infinity=True)
    loss.backward()
    assert loss.item() == 0
    assert not log_probs.grad.any()


# --- Recurrent networks
def test_a_layer_is_a_loop_over_cells():
    x, h, c = (wg.tensor(RNG.normal(size=s)) for s in ((5, 2, 3), (1, 2, 4), (1, 2, 4)))
    w = [wg.tensor(RNG.normal(size=s)) for s in ((16, 3), (16, 4), (16,), (16,))]
    output, h_n, c_n = wg.lstm(x, (h, c), w, True, 1, 0.0, False, False, False)
    state = (h[0], c[0])
    for t in range(5):
        state = wg.lstm_cell(x[t], state, *w)
        assert wg.allclose(output[t], state[0])
    assert wg.allclose(h_n[0], state[0])
    assert wg.allclose(c_n[0], state[1])


def test_projections_of_lstm():
    x, h, c = (wg.tensor(RNG.normal(size=s)) for s in ((5, 2, 3), (1, 2, 2), (1, 2, 4)))
    w = [wg.tensor(RNG.normal(size=s)) for s in ((16, 3), (16, 2), (16,), (16,), (2, 4))]
    output, h_n, c_n = wg.lstm(x, (h, c), w, True, 1, 0.0, False, False, False)
    assert output.shape == (5, 2, 2)
    assert h_n.shape == (1, 2, 2)
    assert c_n.shape == (1, 2, 4)


def test_wrong_weights_are_counted():
    with pytest.raises(RuntimeError, match="expected 4 weights for 1 layers, got 3"):
        wg.gru(wg.ones(2, 1, 1), wg.ones(1, 1, 1), [wg.ones(3, 1)] * 3, True, 1, 0.0, False, False, False)


# --- Bags
def test_bags_of_rows():
    w = wg.tensor(RNG.normal(size=(4, 2)), requires_grad=True)
    i = wg.tensor([0, 1, 1, 3])
    for mode, reduce in (("sum", np.sum), ("mean", np.mean), ("max", np.max)):
        result = F.embedding_bag(i, w, wg.tensor([0, 3, 3]), mode=mode)
        table = w.detach().numpy()
        expected = [reduce(table[[0, 1, 1]], axis=0), np.zeros(2), table[3]]
        np.testing.assert_allclose(result.detach().numpy(), expected)
        assert gradcheck(
            lambda w, m=mode: F.embedding_bag(i, w, wg.tensor([0, 3, 3]), mode=m), w, check_forward_ad=True
        )
    with pytest.raises(ValueError, match=r"offsets\[0\] has to be 0"):
        F.embedding_bag(i, w, wg.tensor([1, 2]))
    with pytest.raises(ValueError, match="offsets has to be None"):
        F.embedding_bag(i.reshape(2, 2), w, wg.tensor([0]))


# --- Linear algebra
def test_condition_numbers():
    a = wg.tensor([[2.0, 0.0], [0.0, 4.0]], dtype=wg.float64)
    for p in (None, 2, 1, -1, np.inf, "nuc"):
        assert wg.linalg.cond(a, p).item() == pytest.approx(np.linalg.cond(a.numpy(), p) if p != "nuc" else 6 * 0.75)
    assert wg.linalg.cond(wg.ones(2, 2), 1).item() == np.inf
    with pytest.raises(RuntimeError, match="square"):
        wg.linalg.cond(wg.ones(2, 3), 1)


def test_ranks():
    x = wg.tensor(RNG.normal(size=(3, 1)))
    assert wg.linalg.matrix_rank(x @ x.T).item() == 1
    assert wg.linalg.matrix_rank(wg.stack([x @ x.T, wg.eye(3, dtype=wg.float64)]), hermitian=True).tolist() == [1, 3]


def test_tensor_equations():
    a = wg.tensor(RNG.normal(size=(2, 3, 6)))
    inverse = wg.linalg.tensorinv(a)
    np.testing.assert_allclose(wg.tensordot(inverse, a, 2).numpy(), np.eye(6), atol=1e-10)
    b = wg.tensor(RNG.normal(size=(2, 3)))
    np.testing.assert_allclose(wg.tensordot(a, wg.linalg.tensorsolve(a, b), 1).numpy(), b.numpy(), atol=1e-10)
    with pytest.raises(RuntimeError, match="strictly positive"):
        wg.linalg.tensorinv(a, 0)
    with pytest.raises(RuntimeError, match=r"prod\(self.shape"):
        wg.linalg.tensorsolve(a, wg.ones(2))


# --- Signals
def test_a_signal_comes_back():
    x = wg.tensor(RNG.normal(size=(2, 30)), requires_grad=True)
    window = wg.hann_window(8, dtype=wg.float64)
    spectra = wg.stft(x, 8, window=window, return_complex=True)
    assert spectra.shape == (2, 5, 16)
    back = wg.istft(spectra, 8, window=window, length=30)
    np.testing.assert_allclose(back.detach().numpy(), x.detach().numpy(), atol=1e-12)
    assert gradcheck(lambda x: wg.stft(x[0, :12], 4, 2, return_complex=True), x)
    with pytest.raises(RuntimeError, match="return_complex"):
        wg.stft(x, 8)
    with pytest.raises(RuntimeError, match="window overlap add min"):
        wg.istft(spectra, 8, window=window, center=False)
