"""How layers and losses are called in Wengert and in PyTorch: masks, packed sequences, old arguments, mistakes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from .nn_programs import Programs, agree, numbers, tried, weights

program = Programs()


@program
def masks_of_attention(b: Any) -> list[Any]:
    m = weights(b, b.nn.MultiheadAttention(6, 2, batch_first=True))
    q, k = numbers(b, 2, 3, 6), numbers(b, 2, 4, 6, seed=2)
    causal = b.ones(3, 4).triu(2).bool()
    hidden = b.tensor([[False, False, False, True], [False, True, False, False]])
    log = []
    for need in (True, False):
        for options in (
            {"attn_mask": causal},
            {"key_padding_mask": hidden},
            {"attn_mask": causal, "key_padding_mask": hidden, "average_attn_weights": False},
            {"attn_mask": numbers(b, 4, 3, 4, seed=3)},
            {"attn_mask": causal, "is_causal": False},
        ):
            log.append(m(q, k, k, need_weights=need, **options))
    return log


@program
def masks_of_transformers(b: Any) -> list[Any]:
    m = weights(b, b.nn.Transformer(6, 2, 2, 2, 8, 0.0, batch_first=True))
    src, tgt = numbers(b, 2, 4, 6), numbers(b, 2, 3, 6, seed=2)
    mask = b.nn.Transformer.generate_square_subsequent_mask(3, dtype=b.float64)
    hidden = b.tensor([[0.0, 0.0, 0.0, -np.inf], [0.0, 0.0, 0.0, 0.0]], dtype=b.float64)
    return [
        mask,
        m(src, tgt, tgt_mask=mask, tgt_is_causal=True),
        m(src, tgt, src_key_padding_mask=hidden, memory_key_padding_mask=hidden),
        m(src, tgt, tgt_mask=mask.isinf()),
        tried(lambda: m(src, tgt[:1])),
        tried(lambda: m(src[..., :5], tgt)),
    ]


@program
def packing(b: Any) -> list[Any]:
    rnn = b.nn.utils.rnn
    x = numbers(b, 4, 3, 2, grad=True)
    packed = rnn.pack_padded_sequence(x, [2, 4, 1], enforce_sorted=False)
    padded, lengths = rnn.pad_packed_sequence(packed, batch_first=True, padding_value=-1.0, total_length=5)
    (padded * padded).sum().backward()
    parts = [numbers(b, n, 2, seed=n) for n in (3, 2, 1)]
    again = rnn.pack_sequence(parts)
    return [
        *packed,
        padded,
        lengths,
        x.grad,
        *again[:2],
        rnn.unpack_sequence(again),
        rnn.pad_sequence(parts),
        rnn.pad_sequence(parts, True, 7.0, "left"),
        rnn.unpad_sequence(rnn.pad_sequence(parts), b.tensor([3, 2, 1])),
        tried(lambda: rnn.pack_padded_sequence(x, [2, 4, 1])),
        tried(lambda: rnn.pad_packed_sequence(packed, total_length=2)),
        packed.float().data.dtype,
        type(packed.to(b.float32)).__name__,
    ]


@program
def recurrent_layers_of_packed_sequences(b: Any) -> list[Any]:
    log: list[Any] = []
    for make in (
        lambda: b.nn.LSTM(2, 3, 2, bidirectional=True, proj_size=2),
        lambda: b.nn.LSTM(2, 3, bias=False),
        lambda: b.nn.GRU(2, 3, 2, bidirectional=True),
        lambda: b.nn.RNN(2, 3, nonlinearity="relu"),
    ):
        m = weights(b, make())
        for batch_sorted in (True, False):
            x = numbers(b, 4, 3, 2, grad=True)
            lengths = [4, 2, 1] if batch_sorted else [2, 4, 1]
            packed = b.nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=batch_sorted)
            out, last = m(packed)
            flat = [out.data, *(last if isinstance(last, tuple) else [last])]
            sum((t * t).sum() for t in flat).backward()
            log += [*flat, x.grad, *(p.grad for p in m.parameters())]
            _, again = m(packed, last)
            log.append(again)
    return log


@program
def errors_of_recurrent_layers(b: Any) -> list[str]:
    nn = b.nn
    m, c = nn.LSTM(2, 3), nn.GRUCell(2, 3)
    return [
        tried(call)
        for call in (
            lambda: nn.LSTM(2, 3, proj_size=3),
            lambda: nn.LSTM(2, 0),
            lambda: nn.LSTM(2, 3, 0),
            lambda: nn.LSTM(2, 3, dropout=2),
            lambda: nn.RNN(2, 3, nonlinearity="x"),
            lambda: m(b.ones(2)),
            lambda: m(b.ones(4, 2, 5)),
            lambda: m(b.ones(4, 2, 2), (b.ones(1, 2, 4), b.ones(1, 2, 3))),
            lambda: m(b.ones(4, 2, 2), (b.ones(1, 2, 3), b.ones(1, 3, 3))),
            lambda: c(b.ones(1, 1, 1)),
            lambda: nn.MultiheadAttention(0, 1),
            lambda: nn.MultiheadAttention(5, 2),
            lambda: nn.Conv2d(3, 4, 2, groups=2),
            lambda: nn.Conv2d(4, 4, 2, padding="same", stride=2),
            lambda: nn.Dropout(2),
            lambda: nn.BatchNorm2d(2)(b.ones(2, 2)),
            lambda: nn.TripletMarginLoss(-1.0),
            lambda: nn.MultiMarginLoss(3),
            lambda: nn.TransformerEncoderLayer(4, 2, activation="x"),
            lambda: nn.Softmax2d()(b.ones(2)),
            lambda: nn.Unflatten(0, ("a",)),
            lambda: nn.ConvTranspose2d(1, 1, 2, padding_mode="reflect"),
            lambda: nn.ReLU(1, 2),
            lambda: nn.GaussianNLLLoss(True),
        )
    ]


@program
def output_sizes_of_transposed_convolutions(b: Any) -> list[Any]:
    m = weights(b, b.nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1))
    x = numbers(b, 1, 2, 3, 3)
    return [m(x, output_size=(6, 6)), m(x, (1, 3, 5, 6)), tried(lambda: m(x, (7, 7))), tried(lambda: m(x, (7,)))]


@program
def embeddings_made_of_matrices(b: Any) -> list[Any]:
    matrix = numbers(b, 4, 3)
    e = b.nn.Embedding.from_pretrained(matrix, padding_idx=1)
    f = b.nn.EmbeddingBag.from_pretrained(matrix, freeze=False, mode="sum")
    return [
        e,
        e.weight.requires_grad,
        e.padding_idx,
        f,
        f.weight.requires_grad,
        f(b.tensor([[0, 1]])),
        e(b.tensor([2])),
    ]


@program
def softmax_without_a_dimension(b: Any) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [b.nn.Softmax()(numbers(b, 2, 3)), b.nn.Softmin()(numbers(b, 2, 3, 2)), b.nn.LogSoftmax()(numbers(b, 3))]


@program
def reductions_of_old(b: Any) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            b.nn.MSELoss(size_average=False).reduction,
            b.nn.L1Loss(reduce=False).reduction,
            b.nn.CrossEntropyLoss(size_average=True).reduction,
            b.nn.KLDivLoss(False, True).reduction,
        ]


@program
def losses_of_programs(b: Any) -> list[Any]:
    loss = b.nn.modules.loss

    class Scaled(loss._Loss):
        def __init__(self, scale: float, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> None:
            super().__init__(size_average, reduce, reduction)
            self.scale = scale

        def forward(self, input: Any, target: Any) -> Any:
            return b.nn.functional.mse_loss(input, target, reduction=self.reduction) * self.scale

    class Focal(loss._WeightedLoss):
        def __init__(self, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean"):
            super().__init__(weight, size_average, reduce, reduction)

        def forward(self, input: Any, target: Any) -> Any:
            return b.nn.functional.cross_entropy(input, target, self.weight, reduction=self.reduction)

    x, y = numbers(b, 3, 2), numbers(b, 3, 2, seed=2)
    weight = b.tensor([0.5, 2.0], dtype=b.float64)
    made = [Scaled(2.0), Scaled(2.0, reduction="sum"), loss._Loss(reduction="none"), loss._WeightedLoss(weight)]
    focal = [Focal(), Focal(weight), Focal(weight, reduction="sum")]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        old = [Scaled(2.0, False), Focal(weight, None, False), loss._Loss(True)]
    return [
        *((repr(m), m.reduction, m.state_dict(), "weight" in m._buffers) for m in (*made, *focal, *old)),
        *(m(x, y) for m in (*made[:2], old[0])),
        *(m(x, b.tensor([0, 1, 1])) for m in (*focal, old[1])),
        [str(w.message) for w in caught],
        [isinstance(m, loss._Loss) for m in (b.nn.HuberLoss(), b.nn.MSELoss(), b.nn.BCELoss(), focal[0])],
    ]


@pytest.mark.parametrize("name", program)
def test_program(name: str) -> None:
    agree(program[name])
