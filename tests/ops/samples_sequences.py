"""Samples of Fourier transforms, recurrent networks, bags of rows, sequences of labels. Importing it registers them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .samples import Arguments, Entry, Maker, Sample, integers, samples


def complex_tensor(make: Maker, *shape: int) -> np.ndarray:
    return make.real(*shape) + 1j * make.real(*shape)


# --- Fourier transforms
@samples("fft_c2c")
def fft_c2c(make: Maker, entry: Entry) -> list[Arguments]:
    if not make.is_complex:
        return fft_c2c(Maker(entry, True), entry)
    return [
        {"self": make.tensor(2, 3), "dim": [1], "normalization": 0, "forward": True},
        {"self": make.tensor(2, 3), "dim": [0, -1], "normalization": 1, "forward": False},
        {"self": make.tensor(3), "dim": [0], "normalization": 2, "forward": True},
    ]


@samples("fft_r2c")
def fft_r2c(make: Maker, entry: Entry) -> list[Arguments]:
    return [
        {"self": make.real(2, 3), "dim": [1], "normalization": 0, "onesided": True},
        {"self": make.real(4), "dim": [0], "normalization": 2, "onesided": True},
        {"self": make.real(3, 2), "dim": [0, 1], "normalization": 1, "onesided": True},
        {"self": make.real(2, 3), "dim": [1, 0], "normalization": 0, "onesided": False},
    ]


@samples("fft_c2r")
def fft_c2r(make: Maker, entry: Entry) -> list[Arguments]:
    if not make.is_complex:
        return fft_c2r(Maker(entry, True), entry)
    return [
        {"self": make.tensor(2, 3), "dim": [1], "normalization": 0, "last_dim_size": 4},
        {"self": make.tensor(2, 3), "dim": [1], "normalization": 2, "last_dim_size": 5},
        {"self": make.tensor(2, 2), "dim": [1, 0], "normalization": 1, "last_dim_size": 3},
    ]


@samples("fft")
def fft(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.tensor(2, 3)
    return [
        {"self": x},
        {"self": x, "n": 4, "norm": "ortho"},
        {"self": x, "n": 2, "dim": 0, "norm": "forward"},
        {"self": x[0], "n": 2},
    ]


@samples("fft_of_halves")
def fft_of_halves(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.tensor(2, 3)
    return [
        {"self": x},
        {"self": x, "n": 3, "norm": "ortho"},
        {"self": x, "n": 7},
        {"self": x, "n": 5, "dim": 0, "norm": "forward"},
    ]


@samples("fftn")
def fftn(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.tensor(2, 3)
    return [
        {"self": x},
        {"self": x, "s": [3, 2], "norm": "ortho"},
        {"self": x, "s": [4], "norm": "forward"},
        {"self": x, "dim": [0]},
        {"self": x, "s": [-1, 2], "dim": [1, 0]},
    ]


@samples("fftn_of_halves")
def fftn_of_halves(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.tensor(2, 3)
    return [
        {"self": x},
        {"self": x, "s": [3, 3], "norm": "ortho"},
        {"self": x, "s": [5], "norm": "forward"},
        {"self": x, "dim": [0]},
        {"self": x, "s": [-1, 2], "dim": [1, 0]},
    ]


@samples("fft2")
def fft2(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.tensor(2, 3)
    return [{"self": x}, {"self": x, "s": [2, 2], "norm": "ortho"}, {"self": x, "dim": [1, 0]}]


@samples("fftshift")
def fftshift(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3)}, {"self": make.tensor(2, 3), "dim": [1]}]


# --- Recurrent networks
def weights(make: Maker, gates: int, features: int, hidden: int, *, biases: bool = True) -> list[np.ndarray]:
    shapes: list[tuple[int, ...]] = [(gates * hidden, features), (gates * hidden, hidden)]
    shapes += [(gates * hidden,)] * 2 if biases else []
    return [make.real(*shape, low=-1, high=1) for shape in shapes]


def cell(gates: int) -> Any:
    def generate(make: Maker, entry: Entry) -> list[Arguments]:
        made = []
        for biases in (True, False):
            w = weights(make, gates, 2, 1, biases=biases)
            state: Any = [make.real(2, 1), make.real(2, 1)] if gates == 4 else make.real(2, 1)
            names = ("w_ih", "w_hh", "b_ih", "b_hh")
            made.append({"input": make.real(2, 2), "hx": state, **dict(zip(names, w, strict=False))})
        return made

    return generate


def network(gates: int) -> Any:
    def generate(make: Maker, entry: Entry) -> list[Arguments]:
        def states(layers: int) -> Any:
            return [make.real(layers, 1, 1), make.real(layers, 1, 1)] if gates == 4 else make.real(layers, 1, 1)

        common = {"dropout": 0.0, "train": False}
        return [
            {
                "input": make.real(2, 1, 1),
                "hx": states(1),
                "params": weights(make, gates, 1, 1),
                "has_biases": True,
                "num_layers": 1,
                **common,
                "bidirectional": False,
                "batch_first": False,
            },
            {
                "input": make.real(1, 2, 1),
                "hx": states(4),
                "params": [w for features in (1, 1, 2, 2) for w in weights(make, gates, features, 1, biases=False)],
                "has_biases": False,
                "num_layers": 2,
                **common,
                "bidirectional": True,
                "batch_first": True,
            },
        ]

    return generate


@samples("lstm_steps")
def lstm_steps(make: Maker, entry: Entry) -> list[Arguments]:
    """Two steps forwards, three backwards."""

    def made(steps: int, batch: int, hidden: int, reverse: bool) -> Arguments:
        shapes = {"gates": (steps, batch, 4 * hidden), "h": (batch, hidden), "c": (batch, hidden)}
        tensors = {name: make.real(*shape) for name, shape in shapes.items()}
        return {**tensors, "w_hh": make.real(4 * hidden, hidden, low=-1, high=1), "reverse": reverse}

    return [made(2, 2, 2, False), made(3, 2, 1, True)]


samples("rnn_cell")(cell(1))
samples("gru_cell")(cell(3))
samples("lstm_cell")(cell(4))
samples("rnn")(network(1))
samples("gru")(network(3))
samples("lstm")(network(4))


# --- Rows of a table
@samples("embedding_lookup")
def embedding_lookup(make: Maker, entry: Entry) -> list[Arguments]:
    w = make.tensor(3, 2)
    return [
        {"input": integers(0, 2, 0), "weight": w},
        {"input": integers([1, 1], [0, 2]), "weight": w},
    ]


@samples("embedding_bag")
def embedding_bag(make: Maker, entry: Entry) -> list[Arguments]:
    w, flat = make.distinct(4, 2), integers(0, 2, 3, 1)
    return [
        {"input": integers([0, 2], [1, 3]), "weight": w},
        {"input": flat, "weight": w, "offsets": integers(0, 1, 1), "mode": "sum"},
        {
            "input": flat,
            "weight": w,
            "offsets": integers(0, 3),
            "mode": "sum",
            "per_sample_weights": make.real(4),
        },
        {"input": flat, "weight": w, "offsets": integers(0, 2), "mode": "max"},
        {"input": flat, "weight": w, "offsets": integers(0, 2, 4), "include_last_offset": True, "padding_idx": 3},
    ]


def bags(make: Maker) -> dict[str, Any]:
    return {"indices": integers(0, 2, 3, 1, 1), "offsets": integers(0, 2, 2, 4)}  # one is empty, one index in none


@samples("bag_sums")
def bag_sums(make: Maker, entry: Entry) -> list[Arguments]:
    a = {"weight": make.real(4, 2), "factors": make.real(5), **bags(make)}
    flags = ((-1, False, False), (3, False, True))
    return [{**a, "padding_idx": p, "scale_grad_by_freq": s, "chain": c} for p, s, c in flags]


@samples("bag_rows")
def bag_rows(make: Maker, entry: Entry) -> list[Arguments]:
    a = {"grad_output": make.real(3, 2), "factors": make.real(5), **bags(make), "num_weights": 4}
    return [{**a, "padding_idx": p, "chain": c} for p, c in ((-1, True), (3, False))]


@samples("bag_dots")
def bag_dots(make: Maker, entry: Entry) -> list[Arguments]:
    a = {"grad_output": make.real(3, 2), "weight": make.real(4, 2), **bags(make)}
    return [{**a, "padding_idx": p, "chain": c} for p, c in ((-1, True), (3, False))]


@samples("bag_maxima")
def bag_maxima(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"weight": make.distinct(4, 2), **bags(make), "padding_idx": p} for p in (-1, 3)]


# --- Sequences of labels
def log_softmax(x: np.ndarray) -> np.ndarray:
    return np.asarray(x - np.log(np.exp(x).sum(-1, keepdims=True)))


@samples("ctc_likelihood")
def ctc_likelihood(make: Maker, entry: Entry) -> list[Arguments]:
    labels = integers([0, 1, 0, 2, 0], [0, 2, 0, 2, 0])
    skips, ends = labels < 0, labels < 0
    skips[0, 3] = ends[:, 3:] = True
    states = {"labels": labels, "skips": skips, "ends": ends}
    return [
        {"log_probs": log_softmax(make.real(4, 2, 3)), **states, "input_lengths": lengths}
        for lengths in ([4, 3], [2, 4])
    ]


@samples("ctc_loss")
def ctc_loss(make: Maker, entry: Entry) -> list[Arguments]:
    x = log_softmax(make.real(3, 2, 3))
    targets = integers([1, 2], [2, 2])
    return [
        {"log_probs": x, "targets": targets, "input_lengths": [3, 3], "target_lengths": [2, 1]},
        {"log_probs": x, "targets": targets, "input_lengths": [2, 3], "target_lengths": [2, 2], "reduction": "none"},
        {
            "log_probs": x,
            "targets": integers(0, 1, 1),
            "input_lengths": [3, 2],
            "target_lengths": [1, 2],
            "blank": 2,
            "reduction": "sum",
            "zero_infinity": True,
        },
        {"log_probs": x[:, 0], "targets": integers(1), "input_lengths": [3], "target_lengths": [1]},
    ]


@samples("ctc_loss_tensors")
def ctc_loss_tensors(make: Maker, entry: Entry) -> list[Arguments]:
    x = log_softmax(make.real(3, 2, 3))
    lengths = {"input_lengths": integers(3, 3), "target_lengths": integers(0, 2)}
    return [{"log_probs": x, "targets": integers([1, 2], [2, 2]), **lengths, "reduction": r} for r in ("none", "mean")]


@samples("stft")
def stft(make: Maker, entry: Entry) -> list[Sample]:
    signal, window = make.tensor(2, 9), make.real(4, low=0.5, high=1)
    given = {"self": signal, "n_fft": 4, "return_complex": True}
    constant = frozenset({"window"})
    return [
        Sample(given),
        Sample({**given, "self": signal[0], "hop_length": 2, "window": window, "normalized": True}, constant),
        Sample({**given, "center": False, "win_length": 3, "onesided": False}, constant),
        Sample({**given, "pad_mode": "constant", "window": window}, constant),
    ]


@samples("istft")
def istft(make: Maker, entry: Entry) -> list[Sample]:
    if not make.is_complex:
        return istft(Maker(entry, True), entry)
    half, whole, window = make.tensor(2, 3, 5), make.tensor(4, 5), make.real(4, low=0.5, high=1)
    constant = frozenset({"window"})
    return [
        Sample({"self": half, "n_fft": 4}),
        Sample({"self": half[0], "n_fft": 4, "hop_length": 2, "window": window, "normalized": True}, constant),
        Sample({"self": whole, "n_fft": 4, "onesided": False, "return_complex": True, "length": 5}),
    ]
