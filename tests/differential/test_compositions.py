"""Functions that are written in Python: python/wengert/_compositions.py, _differences.py, nn/_*.py, linear algebra."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import wengert as wg

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore")

RNG = np.random.default_rng(11)


def plain(value):
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    if isinstance(value, (wg.Tensor, torch.Tensor)):
        return value.detach().numpy()
    return value


def same(a, b):
    if isinstance(a, list):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
        return
    x, y = np.asarray(a), np.asarray(b)
    assert (x.shape, x.dtype) == (y.shape, y.dtype)
    np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-11)


def agree(function, *arrays):
    """Both packages give the same values, and gradients of all floating arrays."""
    shown = []
    for tc in (wg, torch):
        leaves = [tc.tensor(a, requires_grad=a.dtype.kind in "fc") if isinstance(a, np.ndarray) else a for a in arrays]
        result = function(tc, *leaves)
        flat = list(result if isinstance(result, (tuple, list)) else [result])
        found = [r for r in flat if isinstance(r, (wg.Tensor, torch.Tensor)) and r.requires_grad]
        inputs = [t for t in leaves if isinstance(t, (wg.Tensor, torch.Tensor)) and t.requires_grad]
        gradients = []
        if found:
            weights = [tc.tensor(np.cos(np.arange(r.numel()) + 1).reshape(tuple(r.shape))) for r in found]
            loss = sum((r * w).sum() for r, w in zip(found, weights, strict=True))
            gradients = tc.autograd.grad(loss.abs() if loss.is_complex() else loss, inputs, allow_unused=True)
            gradients = [tc.zeros_like(t) if g is None else g for t, g in zip(inputs, gradients, strict=True)]
        shown.append((plain(list(flat)), plain(list(gradients))))
    same(shown[0][0], shown[1][0])
    same(shown[0][1], shown[1][1])


# --- Sets and comparisons
INTEGERS = RNG.integers(0, 4, (3, 5))


@pytest.mark.parametrize("array", [INTEGERS, INTEGERS[0], INTEGERS.astype(float), np.zeros(0, int)], ids=repr)
def test_unique(array):
    for inverse, counts in itertools.product((False, True), repeat=2):
        agree(lambda tc, t, i=inverse, c=counts: tc.unique(t.detach(), True, i, c), array)
        agree(
            lambda tc, t, i=inverse, c=counts: tc.unique_consecutive(t.detach(), return_inverse=i, return_counts=c),
            array,
        )
    if array.size:
        agree(lambda tc, t: t.detach().unique(dim=0, return_inverse=True, return_counts=True), array)
        agree(lambda tc, t: t.detach().unique_consecutive(dim=-1, return_counts=True), array)


def test_equality():
    x = RNG.normal(size=(2, 3))
    for y in (x, x + 1e-9, x[:1], x * np.nan):
        for tc in (wg, torch):
            a, b = tc.tensor(x), tc.tensor(y)
            seen = (
                tc.equal(a, b),
                a.equal(b),
                tc.allclose(a, b),
                a.allclose(b, 0, 1e-8),
                tc.allclose(b, b, equal_nan=True),
            )
            if tc is wg:
                ours = seen
        assert ours == seen


@pytest.mark.parametrize(
    ("shape_a", "shape_b", "dims"),
    [
        ((2, 3), (3, 4), 1),
        ((2, 3, 4), (3, 4, 2), 2),
        ((2, 3), (4,), 0),
        ((2, 3, 4), (4, 2), ([2, 0], [0, 1])),
        ((2, 3), (3, 2), ([-1], [0])),
        ((2, 3), (2, 3), ([0, 1], [0, 1])),
    ],
)
def test_tensordot(shape_a, shape_b, dims):
    agree(lambda tc, a, b: tc.tensordot(a, b, dims), RNG.normal(size=shape_a), RNG.normal(size=shape_b))


# --- Combinations
def test_cartesian_products():
    a, b, c = RNG.normal(size=2), RNG.normal(size=3), RNG.normal(size=1)
    agree(lambda tc, *t: tc.cartesian_prod(*t), a, b, c)
    agree(lambda tc, t: tc.cartesian_prod(t), a)


@pytest.mark.parametrize("with_replacement", [False, True])
@pytest.mark.parametrize("r", [0, 1, 2, 3, 5])
def test_combinations(r, with_replacement):
    agree(lambda tc, t: tc.combinations(t, r, with_replacement), RNG.normal(size=4))


# --- In place
def test_powers_in_place():
    agree(lambda tc, x: (x * 1).float_power_(3), RNG.uniform(0.5, 2, (2, 3)))
    agree(lambda tc, x, p: (x * 1).float_power_(p), RNG.uniform(0.5, 2, (2, 3)), RNG.normal(size=3))
    for tc in (wg, torch):
        with pytest.raises(RuntimeError, match="the base given to float_power_ has dtype"):
            tc.ones(2).float_power_(2)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_polygamma_in_place(n):
    agree(lambda tc, x: (x * 1).polygamma_(n), RNG.uniform(0.5, 3, (2, 3)))


def test_mvlgamma_in_place():
    agree(lambda tc, x: (x * 1).mvlgamma_(2), RNG.uniform(2, 4, (2, 3)))


def test_resize_as():
    for tc in (wg, torch):
        x, y = tc.arange(6), tc.zeros(2, 2)
        assert x.resize_as_(y) is x
        assert x.tolist() == [[0, 1], [2, 3]]


COMPARISONS = [
    "eq_",
    "ne_",
    "lt_",
    "le_",
    "gt_",
    "ge_",
    "less_",
    "greater_equal_",
    "not_equal_",
    "logical_and_",
    "logical_or_",
    "logical_xor_",
]


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_in_place(name):
    x, y = RNG.integers(0, 3, (2, 3)), RNG.integers(0, 3, 3)
    numbers = [] if "logical" in name else [(x, 1), (x * 1.0, 1.5)]
    for a, b in ((x, y), (x * 1.0, y * 1.0), *numbers):
        agree(lambda tc, s, o: getattr(s.detach().clone(), name)(o.detach() if hasattr(o, "detach") else o), a, b)
    if "logical" not in name:
        agree(lambda tc, s, o: [getattr(s * 2, name)(o) + s], x * 1.0, y * 1.0)


def test_comparisons_in_place_are_constants():
    x = wg.ones(3, requires_grad=True)
    y = (x * 2).lt_(x * 3)
    assert y.tolist() == [1.0] * 3
    (gradient,) = wg.autograd.grad(y.sum() + x.sum(), x)
    assert gradient.tolist() == [1.0] * 3
    for tc in (wg, torch):
        t = tc.tensor([0.0, 2.0])
        assert t.logical_not_() is t
        assert t.tolist() == [1.0, 0.0]
        assert t._version == 1


# --- Finite differences
@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"spacing": 2.0},
        {"dim": 1},
        {"dim": (1, 0), "spacing": (0.5, 2.0)},
        {"dim": -2, "spacing": 0.25},
    ],
)
def test_gradient(options, edge_order):
    agree(lambda tc, x: tc.gradient(x, **options, edge_order=edge_order), RNG.normal(size=(3, 5)))


@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradient_at_points(edge_order):
    p, q = np.cumsum(RNG.uniform(0.5, 1.5, 4)), np.cumsum(RNG.uniform(0.5, 1.5, 6))
    for tc in (wg, torch):
        x = tc.tensor(np.outer(np.sin(p), q**2), requires_grad=True)
        spacing = (tc.tensor(p), tc.tensor(q))
        result = tc.gradient(x, spacing=spacing, edge_order=edge_order)
        result[0].square().sum().backward()
        shown = plain([*result, x.grad])
        ours = shown if tc is wg else ours  # noqa: F821
    same(ours, shown)
    same(plain(wg.gradient(wg.tensor([1, 4, 9]))), plain(torch.gradient(torch.tensor([1, 4, 9]))))


# --- Pooling
@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize(("kernel", "stride", "padding", "dilation"), [(2, None, 0, 1), (3, 2, 1, 1), (2, 1, 0, 2)])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_max_pooling(n, kernel, stride, padding, dilation, ceil_mode):
    x = RNG.permutation(2 * 3 * 6**n).reshape(2, 3, *(6,) * n) * 0.1
    for array in (x, x[0]):
        for indices in (False, True):
            agree(
                lambda tc, t, i=indices: getattr(tc.nn.functional, f"max_pool{n}d")(
                    t, kernel, stride, padding, dilation, ceil_mode, i
                ),
                array,
            )


@pytest.mark.parametrize("n", [1, 2, 3])
def test_max_unpooling(n):
    x = RNG.permutation(2 * 4**n).reshape(1, 2, *(4,) * n) * 0.1

    def function(tc, t):
        F = tc.nn.functional  # noqa: N806
        values, places = getattr(F, f"max_pool{n}d")(t, 2, return_indices=True)
        unpool = getattr(F, f"max_unpool{n}d")
        return unpool(values * values, places, 2), unpool(values[0], places[0], 2, output_size=[5] * n)

    agree(function, x)


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_lp_pooling(n, ceil_mode):
    x = RNG.uniform(0.5, 2, (1, 2, *(5,) * n))
    agree(lambda tc, t: getattr(tc.nn.functional, f"lp_pool{n}d")(t, 3, 2, None, ceil_mode), x)
    agree(lambda tc, t: getattr(tc.nn.functional, f"lp_pool{n}d")(t, 2, 3, 1, ceil_mode), x)


# --- Losses
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_losses_of_labels(reduction):
    x, w = RNG.normal(size=(3, 4)), RNG.uniform(0.5, 1, 4)
    classes, many = np.array([1, 0, 3]), np.array([[1, 0, -1, 2], [-1, 1, 1, 1], [3, 2, 1, 0]])
    agree(lambda tc, t, c: tc.nn.functional.multi_margin_loss(t, c, reduction=reduction), x, classes)
    agree(
        lambda tc, t, c, v: tc.nn.functional.multi_margin_loss(t, c, 2, 0.5, v.detach(), reduction=reduction),
        x,
        classes,
        w,
    )
    agree(lambda tc, t, c: tc.nn.functional.multi_margin_loss(t[0], c[0], reduction=reduction), x, classes)
    agree(lambda tc, t, c: tc.nn.functional.multilabel_margin_loss(t, c, reduction=reduction), x, many)
    agree(lambda tc, t, c: tc.nn.functional.multilabel_margin_loss(t[0], c[0], reduction=reduction), x, many)
    target = RNG.integers(0, 2, (3, 4)).astype(float)
    agree(
        lambda tc, t, c, v: tc.nn.functional.multilabel_soft_margin_loss(
            t, c.detach(), v.detach(), reduction=reduction
        ),
        x,
        target,
        w,
    )
    for swap in (False, True):
        agree(
            lambda tc, a, p, q, s=swap: tc.nn.functional.triplet_margin_with_distance_loss(
                a,
                p,
                q,
                swap=s,
                margin=2.0,
                reduction=reduction,
                distance_function=lambda u, v: (u - v).square().sum(-1),
            ),
            x,
            x * 0.5 + 0.1,
            x[::-1].copy(),
        )


def test_ctc_loss_behind_log_softmax():
    x = RNG.normal(size=(6, 3, 4))
    targets = np.array([[1, 2, 2], [3, 3, 0], [1, 0, 0]])
    for reduction, zero_infinity in itertools.product(("none", "mean", "sum"), (False, True)):
        agree(
            lambda tc, t, y, r=reduction, z=zero_infinity: tc.nn.functional.ctc_loss(
                t.log_softmax(-1), y, [6, 5, 4], [3, 2, 1], reduction=r, zero_infinity=z
            ),
            x,
            targets,
        )
    agree(
        lambda tc, t, y: tc.nn.functional.ctc_loss(
            t.log_softmax(-1), y, tc.tensor([2, 2, 6]), tc.tensor([2, 2, 1]), zero_infinity=True
        ),
        x,
        np.array([1, 2, 3, 3, 1]),
    )


# --- Recurrent networks
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("name", ["rnn_tanh", "rnn_relu", "gru", "lstm"])
def test_recurrent_networks(name, layers, bidirectional, batch_first):
    gates = {"gru": 3, "lstm": 4}.get(name, 1)
    steps, batch, features, hidden = 5, 3, 2, 4
    directions = 1 + bidirectional
    weights = []
    for layer in range(layers):
        for _ in range(directions):
            width = features if layer == 0 else hidden * directions
            weights += [RNG.normal(size=s) for s in ((gates * hidden, width), (gates * hidden, hidden))]
            weights += [RNG.normal(size=gates * hidden) for _ in range(2)]
    x = RNG.normal(size=(batch, steps, features) if batch_first else (steps, batch, features))
    h, c = (RNG.normal(size=(layers * directions, batch, hidden)) for _ in range(2))

    def function(tc, x, h, c, *w):
        state = (h, c) if name == "lstm" else h
        return getattr(tc, name)(x, state, list(w), True, layers, 0.0, False, bidirectional, batch_first)

    agree(function, x, h, c, *weights)


@pytest.mark.parametrize("name", ["rnn_tanh_cell", "rnn_relu_cell", "gru_cell", "lstm_cell"])
def test_recurrent_cells(name):
    gates = {"gru_cell": 3, "lstm_cell": 4}.get(name, 1)
    x, h, c = RNG.normal(size=(3, 2)), RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4))
    w = [RNG.normal(size=s) for s in ((gates * 4, 2), (gates * 4, 4), (gates * 4,), (gates * 4,))]
    agree(lambda tc, x, h, c, *w: getattr(tc, name)(x, (h, c) if gates == 4 else h, *w), x, h, c, *w)


# --- Linear algebra
def test_linear_algebra():
    a, b = RNG.normal(size=(2, 3, 3)), RNG.normal(size=(2, 3, 4))
    for p in (None, 2, -2):
        agree(lambda tc, t, p=p: tc.linalg.cond(t, p), a)
    for p in ("fro", "nuc", 1, -1, float("inf"), float("-inf")):
        agree(lambda tc, t, p=p: tc.linalg.cond(t.detach(), p), a)  # PyTorch writes over what its gradient needs
    agree(lambda tc, t: tc.linalg.cond(t), b)
    low = b[:, :, :1] @ b[:, :1]
    agree(lambda tc, t: tc.linalg.matrix_rank(t.detach()), low)
    agree(lambda tc, t: tc.linalg.matrix_rank(t.detach(), atol=0.5, rtol=0.1), b)
    agree(lambda tc, t: tc.linalg.matrix_rank(t.detach(), 1e-3), low)
    agree(lambda tc, t: tc.linalg.matrix_rank((t + t.mT).detach(), hermitian=True), a)
    agree(lambda tc, t: tc.linalg.tensorinv(t), RNG.normal(size=(2, 3, 6)))
    agree(lambda tc, t: tc.linalg.tensorinv(t, 1), RNG.normal(size=(6, 3, 2)))
    agree(lambda tc, t, y: tc.linalg.tensorsolve(t, y), RNG.normal(size=(2, 3, 6)), RNG.normal(size=(2, 3)))
    agree(lambda tc, t, y: tc.linalg.tensorsolve(t, y, (0,)), RNG.normal(size=(6, 2, 3)), RNG.normal(size=(2, 3)))


# --- Bags
def test_embedding_bags():
    w, x = RNG.normal(size=(5, 3)), RNG.integers(0, 5, 7)
    for mode, padding in itertools.product(("sum", "mean", "max"), (None, 2)):
        agree(
            lambda tc, i, t, m=mode, p=padding: tc.nn.functional.embedding_bag(
                i, t, tc.tensor([0, 2, 2, 5]), mode=m, padding_idx=p
            ),
            x,
            w,
        )
    agree(
        lambda tc, i, t, v: tc.nn.functional.embedding_bag(i[:, None], t, per_sample_weights=v[:, None], mode="sum"),
        x,
        w,
        RNG.normal(size=7),
    )
    for tc in (wg, torch):
        t = tc.tensor(w)
        result = tc.nn.functional.embedding(tc.tensor(x), t, max_norm=1.0)
        shown = plain([result, t])
        ours = shown if tc is wg else ours  # noqa: F821
    same(ours, shown)


def test_embedding_leaves_out_padding():
    w, x = RNG.normal(size=(5, 3)), RNG.integers(0, 5, (2, 4))
    for padding, scale in itertools.product((None, 1, -2), (False, True)):
        agree(
            lambda tc, i, t, p=padding, s=scale: tc.nn.functional.embedding(i, t, padding_idx=p, scale_grad_by_freq=s),
            x,
            w,
        )


def test_functions_of_in_place_methods():
    agree(lambda tc, x: tc.relu_(x * 1) + tc.sigmoid_(x * 1) + tc.clamp_(x * 1, -0.5, 0.5), RNG.normal(size=4))
    agree(lambda tc, x: tc.range(1, 4), RNG.normal(size=1))
