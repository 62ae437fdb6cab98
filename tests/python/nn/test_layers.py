"""Layers against their definitions in NumPy, how they start, print, and travel."""

from __future__ import annotations

import copy
import inspect
import math
import pickle
from typing import Any

import numpy as np
import pytest

import wengert as wg

nn = wg.nn
X = np.random.default_rng(0).normal(size=(4, 3))


def call(layer: Any, *arrays: Any) -> Any:
    return layer.double()(*map(wg.tensor, arrays)).detach().numpy()


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


ACTIVATIONS = [
    (nn.ReLU(), lambda x: np.maximum(x, 0)),
    (nn.ReLU6(), lambda x: np.clip(x, 0, 6)),
    (nn.LeakyReLU(0.1), lambda x: np.where(x > 0, x, 0.1 * x)),
    (nn.PReLU(init=0.25), lambda x: np.where(x > 0, x, 0.25 * x)),
    (nn.ELU(2.0), lambda x: np.where(x > 0, x, 2 * np.expm1(x))),
    (nn.CELU(2.0), lambda x: np.where(x > 0, x, 2 * np.expm1(x / 2))),
    (nn.SiLU(), lambda x: x * sigmoid(x)),
    (nn.Mish(), lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    (nn.Sigmoid(), sigmoid),
    (nn.Hardsigmoid(), lambda x: np.clip(x / 6 + 0.5, 0, 1)),
    (nn.Hardswish(), lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    (nn.Tanh(), np.tanh),
    (nn.Tanhshrink(), lambda x: x - np.tanh(x)),
    (nn.Hardtanh(-0.5, 0.3), lambda x: np.clip(x, -0.5, 0.3)),
    (nn.Softplus(2.0), lambda x: np.log1p(np.exp(2 * x)) / 2),
    (nn.Softsign(), lambda x: x / (1 + abs(x))),
    (nn.Softshrink(0.2), lambda x: np.sign(x) * np.maximum(abs(x) - 0.2, 0)),
    (nn.Hardshrink(0.2), lambda x: np.where(abs(x) > 0.2, x, 0)),
    (nn.Threshold(0.1, 7.0), lambda x: np.where(x > 0.1, x, 7)),
    (nn.LogSigmoid(), lambda x: np.log(sigmoid(x))),
    (nn.Softmax(1), lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True)),
    (nn.Softmin(1), lambda x: np.exp(-x) / np.exp(-x).sum(1, keepdims=True)),
    (nn.LogSoftmax(1), lambda x: x - np.log(np.exp(x).sum(1, keepdims=True))),
]


@pytest.mark.parametrize(("layer", "formula"), ACTIVATIONS, ids=[repr(layer) for layer, _ in ACTIVATIONS])
def test_activation(layer: Any, formula: Any) -> None:
    np.testing.assert_allclose(call(layer, X), formula(X), rtol=1e-12, atol=1e-14)
    for copied in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert repr(copied) == repr(layer)
        np.testing.assert_array_equal(call(copied, X), call(layer, X))


def weights(layer: Any) -> list[Any]:
    return [p.detach().numpy() for p in layer.double().parameters()]


def test_linear_maps() -> None:
    layer = nn.Linear(3, 2)
    w, b = weights(layer)
    np.testing.assert_allclose(call(layer, X), X @ w.T + b, rtol=1e-12)
    layer = nn.Bilinear(3, 3, 2)
    w, b = weights(layer)
    np.testing.assert_allclose(
        call(layer, X, X[::-1].copy()), np.einsum("ni,kij,nj->nk", X, w, X[::-1]) + b, rtol=1e-12
    )


@pytest.mark.parametrize(
    ("layer", "axes"),
    [(nn.LayerNorm(3), 1), (nn.BatchNorm1d(3), 0), (nn.GroupNorm(1, 3), 1), (nn.LayerNorm((4, 3)), (0, 1))],
    ids=repr,
)
def test_norms(layer: Any, axes: Any) -> None:
    want = (X - X.mean(axes, keepdims=True)) / np.sqrt(X.var(axes, keepdims=True) + 1e-5)
    np.testing.assert_allclose(call(layer, X), want, rtol=1e-10)


def test_running_statistics() -> None:
    layer = nn.BatchNorm1d(3, momentum=0.2).double()
    call(layer, X)
    np.testing.assert_allclose(layer.running_mean.numpy(), 0.2 * X.mean(0))
    np.testing.assert_allclose(layer.running_var.numpy(), 0.8 + 0.2 * X.var(0, ddof=1))
    assert layer.num_batches_tracked.item() == 1
    want = (X - 0.2 * X.mean(0)) / np.sqrt(0.8 + 0.2 * X.var(0, ddof=1) + 1e-5)
    np.testing.assert_allclose(call(layer.eval(), X), want)
    layer = nn.BatchNorm1d(3, momentum=None).double()
    for part in (X[:2], X[2:]):
        call(layer, part)
    np.testing.assert_allclose(layer.running_mean.numpy(), X.mean(0))


def test_rms_norm() -> None:
    np.testing.assert_allclose(call(nn.RMSNorm(3, eps=0.1), X), X / np.sqrt((X**2).mean(1, keepdims=True) + 0.1))


def test_convolution_by_its_definition() -> None:
    layer = nn.Conv2d(2, 3, (2, 3), stride=2, padding=1, padding_mode="circular")
    w, b = weights(layer)
    x = np.random.default_rng(1).normal(size=(1, 2, 5, 6))
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), "wrap")
    out = call(layer, x)
    for i in range(out.shape[2]):
        for j in range(out.shape[3]):
            patch = padded[0, :, 2 * i : 2 * i + 2, 2 * j : 2 * j + 3]
            np.testing.assert_allclose(out[0, :, i, j], np.einsum("oikl,ikl->o", w, patch) + b, rtol=1e-10)


def test_a_transposed_convolution_is_transposed() -> None:
    a, t = nn.Conv1d(2, 3, 3, stride=2, bias=False).double(), nn.ConvTranspose1d(3, 2, 3, stride=2, bias=False).double()
    t.load_state_dict(a.state_dict())
    x, y = wg.randn(1, 2, 9, dtype=wg.float64), wg.randn(1, 3, 4, dtype=wg.float64)
    assert (a(x) * y).sum().item() == pytest.approx((t(y) * x).sum().item())


def test_dropout() -> None:
    wg.manual_seed(0)
    x = wg.ones(50, 40, 3)
    out = nn.Dropout(0.25)(x)
    assert set(np.unique(out.numpy())) == {0.0, np.float32(1 / 0.75)}
    assert abs((out == 0).double().mean().item() - 0.25) < 0.03
    channels = nn.Dropout1d(0.5)(x).numpy()
    assert set(np.unique(channels.std(-1))) == {0.0}
    assert bool((nn.Dropout(0.25).eval()(x) == x).all())
    with pytest.raises(ValueError, match="dropout probability has to be between 0 and 1, but got -1"):
        nn.Dropout(-1)


def test_embedding() -> None:
    layer = nn.Embedding(5, 3, padding_idx=-1)
    assert layer.padding_idx == 4
    assert layer.weight[4].tolist() == [0, 0, 0]
    layer(wg.tensor([1, 4, 1])).sum().backward()
    assert layer.weight.grad.tolist() == [[0] * 3, [2] * 3, [0] * 3, [0] * 3, [0] * 3]  # type: ignore[union-attr]
    bag = nn.EmbeddingBag.from_pretrained(wg.eye(3), mode="sum")
    assert bag(wg.tensor([0, 1, 1]), wg.tensor([0, 1])).tolist() == [[1, 0, 0], [0, 2, 0]]
    assert not bag.weight.requires_grad


STARTS = [
    (nn.Linear(50, 40), 1 / math.sqrt(50)),
    (nn.Conv2d(6, 40, 3, groups=2), 1 / math.sqrt(27)),
    (nn.ConvTranspose1d(6, 40, 5), 1 / math.sqrt(200)),
    (nn.Bilinear(10, 20, 15), 1 / math.sqrt(10)),
    (nn.LSTM(20, 30), 1 / math.sqrt(30)),
    (nn.GRUCell(20, 30), 1 / math.sqrt(30)),
]


@pytest.mark.parametrize(("layer", "bound"), STARTS, ids=[repr(layer) for layer, _ in STARTS])
def test_parameters_start_uniformly(layer: Any, bound: float) -> None:
    for parameter in layer.parameters():
        assert parameter.abs().max().item() <= bound * (1 + 1e-6)
        assert parameter.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.4)


REPRS = [
    (
        "Conv2d(3, 4, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), bias=False)",
        nn.Conv2d(3, 4, 3, 2, 1, bias=False),
    ),
    ("MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)", nn.MaxPool2d(2)),
    ("LSTM(2, 3, num_layers=2, bidirectional=True)", nn.LSTM(2, 3, 2, bidirectional=True)),
    ("ELU(alpha=1.0, inplace=True)", nn.ELU(inplace=True)),
    ("CrossEntropyLoss()", nn.CrossEntropyLoss()),
    ("BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)", nn.BatchNorm2d(3)),
    (
        "Sequential(\n  (0): Linear(in_features=2, out_features=3, bias=True)\n  (1): Sequential(\n    (0): ReLU()\n"
        "  )\n)",
        nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU())),
    ),
]


@pytest.mark.parametrize(("text", "layer"), REPRS, ids=[type(layer).__name__ for _, layer in REPRS])
def test_repr(text: str, layer: Any) -> None:
    assert repr(layer) == text


def test_constructors_of_declared_layers() -> None:
    assert str(inspect.signature(nn.ELU)) == "(alpha=1.0, inplace=False)"
    assert list(inspect.signature(nn.GaussianNLLLoss).parameters) == ["full", "eps", "reduction"]
    for arguments, keywords, message in (
        ((1, 2, 3), {}, "takes from 1 to 3 positional arguments but 4 were given"),
        ((1,), {"alpha": 2}, "got multiple values for argument 'alpha'"),
        ((), {"beta": 2}, "got an unexpected keyword argument 'beta'"),
    ):
        with pytest.raises(TypeError, match=message):
            nn.ELU(*arguments, **keywords)
    with pytest.raises(TypeError, match="missing a required argument: 'threshold'"):
        nn.Threshold()  # type: ignore[call-arg]

    class Own(nn.ELU):
        def __init__(self, scale: float) -> None:
            super().__init__(scale * 2)

    assert Own(2.0).alpha == 4
    assert str(inspect.signature(Own)) == "(scale: 'float') -> 'None'"
    layer = nn.LeakyReLU()
    layer.negative_slope = 0.5
    assert layer(wg.tensor([-1.0])).item() == -0.5


def test_losses() -> None:
    p, t = wg.tensor(X), wg.tensor([0, 2, 1, 1])
    want = -(X - np.log(np.exp(X).sum(1, keepdims=True)))[np.arange(4), t.numpy()]
    assert nn.CrossEntropyLoss()(p, t).item() == pytest.approx(want.mean())
    weight = wg.tensor([1.0, 2.0, 3.0], dtype=wg.float64)
    weighted = nn.CrossEntropyLoss(weight)
    assert list(weighted.state_dict()) == ["weight"]
    w = weight.numpy()[t.numpy()]
    assert weighted(p, t).item() == pytest.approx((want * w).sum() / w.sum())
    assert nn.MSELoss(reduction="sum")(p, p * 0).item() == pytest.approx((X**2).sum())
    with pytest.warns(UserWarning, match="please use reduction='sum' instead") as caught:
        assert nn.MSELoss(size_average=False).reduction == "sum"
    assert caught[0].filename == __file__


def test_losses_that_programs_derive() -> None:
    class Focal(nn.modules.loss._WeightedLoss):
        def __init__(self, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean"):
            super().__init__(weight, size_average, reduce, reduction)

    weight = wg.ones(3)
    assert list(Focal(weight).state_dict()) == ["weight"]
    assert Focal().weight is None
    assert Focal(None, None, None, "sum").reduction == "sum"
    assert nn.modules.loss._Loss().reduction == "mean"
    assert str(inspect.signature(nn.modules.loss._Loss)) == "(size_average=None, reduce=None, reduction='mean')"
    assert str(inspect.signature(nn.HuberLoss)) == "(reduction='mean', delta=1.0)"
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        nn.GaussianNLLLoss(True)  # type: ignore[misc]


def test_lazy_layers() -> None:
    layer = nn.LazyLinear(3)
    assert repr(layer) == "LazyLinear(in_features=0, out_features=3, bias=True)"
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter"):
        layer.weight.shape  # noqa: B018
    copied = copy.deepcopy(layer)
    layer(wg.ones(2, 5))
    assert type(layer) is nn.Linear
    assert layer.weight.shape == (3, 5)
    assert type(layer.weight) is nn.Parameter
    assert not layer._forward_pre_hooks
    copied.load_state_dict(layer.state_dict())
    x = wg.randn(2, 5)
    assert bool((copied(x) == layer(x)).all())
    norm = nn.LazyBatchNorm1d()
    norm(wg.randn(4, 3))
    assert list(norm.state_dict()) == ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]


def test_converting() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    optimizer = wg.optim.SGD(model.parameters(), lr=1.0)
    assert model.double() is model
    assert optimizer.param_groups[0]["params"][0] is model[0].weight
    assert model[1].num_batches_tracked.dtype == wg.int64
    assert {p.dtype for p in model.to(dtype=wg.float32).parameters()} == {wg.float32}
    assert {p.dtype for p in model.to("cpu", wg.float64).parameters()} == {wg.float64}
    with pytest.raises(TypeError, match="only accepts floating point or complex dtypes"):
        model.to(wg.int64)
    calls: list[Any] = []
    model.apply(calls.append)
    assert calls == [model[0], model[1], model]
    assert model.to_empty(device="cpu")[0].weight.shape == (2, 2)


def test_attention_is_a_mean_of_values() -> None:
    layer = nn.MultiheadAttention(4, 2, batch_first=True)
    x = wg.randn(2, 3, 4)
    out, attention = layer(x, x, x)
    assert out.shape == (2, 3, 4)
    np.testing.assert_allclose(attention.sum(-1).detach().numpy(), 1, rtol=1e-5)
    assert layer(x, x, x, need_weights=False)[1] is None
    hidden = wg.tensor([[False, False, True], [False, True, True]])
    assert layer(x, x, x, key_padding_mask=hidden)[1][1, :, 1:].abs().max().item() == 0


def test_a_decoder_does_not_see_what_follows() -> None:
    model = nn.Transformer(4, 2, 1, 1, 8, 0.0, batch_first=True).eval()
    src, tgt = wg.randn(1, 3, 4), wg.randn(1, 4, 4)
    mask = nn.Transformer.generate_square_subsequent_mask(4)
    out = model(src, tgt, tgt_mask=mask)
    changed = tgt.clone()
    changed[:, 2:] += 1
    again = model(src, changed, tgt_mask=mask)
    np.testing.assert_allclose(again[:, :2].detach().numpy(), out[:, :2].detach().numpy(), rtol=1e-4, atol=1e-6)
    assert (again[:, 2:] - out[:, 2:]).abs().max().item() > 1e-3


def test_packed_sequences_are_the_sequences_one_by_one() -> None:
    rnn = nn.utils.rnn
    layer = nn.LSTM(2, 3, 2, bidirectional=True).double()
    parts = [wg.randn(n, 2, dtype=wg.float64) for n in (2, 4, 3)]
    out, (hidden, cell) = layer(rnn.pack_sequence(parts, enforce_sorted=False))
    for i, (part, packed) in enumerate(zip(parts, rnn.unpack_sequence(out), strict=True)):
        alone, (h, c) = layer(part)
        np.testing.assert_allclose(packed.detach().numpy(), alone.detach().numpy(), rtol=1e-10)
        np.testing.assert_allclose(hidden[:, i].detach().numpy(), h.detach().numpy(), rtol=1e-10)
        np.testing.assert_allclose(cell[:, i].detach().numpy(), c.detach().numpy(), rtol=1e-10)
    copied = pickle.loads(pickle.dumps(out))
    assert type(copied) is rnn.PackedSequence


def test_cells_are_steps_of_layers() -> None:
    layer, cell = nn.GRU(2, 3), nn.GRUCell(2, 3)
    cell.load_state_dict({name.removesuffix("_l0"): value for name, value in layer.state_dict().items()})
    x, h = wg.randn(4, 5, 2), None
    out, _ = layer(x)
    for step, want in zip(x, out, strict=True):
        h = cell(step, h)
        np.testing.assert_allclose(h.detach().numpy(), want.detach().numpy(), rtol=1e-4, atol=1e-6)
