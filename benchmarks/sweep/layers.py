"""Arguments of operations whose samples do not say how they grow, by the name that a row gives its samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Arguments = dict[str, Any]
Make = Callable[[np.random.Generator, int], Arguments]
LAYERS: dict[str, Make] = {}


def layer(*names: str) -> Callable[[Make], Make]:
    """Register arguments for the rows whose samples have one of these names."""

    def register(make: Make) -> Make:
        LAYERS.update(dict.fromkeys(names, make))
        return make

    return register


def image(rng: np.random.Generator, elements: int, rank: int = 2, channels: int = 8) -> np.ndarray:
    """Two images [2,channels,side,...]."""
    side = max(4, round((elements / 2 / channels) ** (1 / rank)))
    return rng.standard_normal((2, channels, *[side] * rank))


def of_rank(rank: int) -> None:
    """Convolution and pooling in `rank` dimensions."""

    @layer(f"conv{rank}d")
    def convolution(rng: np.random.Generator, elements: int) -> Arguments:
        return {"input": image(rng, elements, rank), "weight": rng.standard_normal((8, 8, *[3] * rank)) / 9}

    @layer(f"conv{rank}d_padding")
    def padded(rng: np.random.Generator, elements: int) -> Arguments:
        return {**convolution(rng, elements), "padding": "same"}

    @layer(f"conv_transpose{rank}d")
    def transposed(rng: np.random.Generator, elements: int) -> Arguments:
        return {**convolution(rng, elements), "stride": [2] * rank}

    @layer(f"max_pool{rank}d", f"avg_pool{rank}d")
    def pooled(rng: np.random.Generator, elements: int) -> Arguments:
        return {"input": image(rng, elements, rank), "kernel_size": [2] * rank}

    @layer(f"adaptive_pool{rank}d")
    def adaptive(rng: np.random.Generator, elements: int) -> Arguments:
        return {"input": image(rng, elements, rank), "output_size": [3] * rank}


for rank_ in (1, 2, 3):
    of_rank(rank_)


@layer("unfold_blocks")
def unfolded(rng: np.random.Generator, elements: int) -> Arguments:
    """Blocks of 3 x 3."""
    return {"input": image(rng, elements // 9), "kernel_size": [3, 3], "padding": [1, 1]}


@layer("interpolate")
def interpolated(rng: np.random.Generator, elements: int) -> Arguments:
    """Twice as large."""
    return {"input": image(rng, elements // 4), "scale_factor": [2.0, 2.0], "mode": "bilinear"}


@layer("upsample", "upsample_nearest", "upsample_bilinear")
def upsampled(rng: np.random.Generator, elements: int) -> Arguments:
    """Twice as large, in the mode of the function's name."""
    return {"input": image(rng, elements // 4), "scale_factor": [2.0, 2.0]}


@layer("grid_sample")
def sampled(rng: np.random.Generator, elements: int) -> Arguments:
    """At as many points as there are pixels, next to each other as a warp has them."""
    x = image(rng, elements)
    side = np.linspace(-1.05, 1.05, x.shape[-1])
    grid = np.stack(np.meshgrid(side, side, indexing="xy"), -1) + 0.01 * rng.standard_normal((2, *x.shape[-2:], 2))
    return {"input": x, "grid": grid, "align_corners": False}


@layer("pad")
def mirrored(rng: np.random.Generator, elements: int) -> Arguments:
    """Two pixels on each side."""
    return {"input": image(rng, elements), "pad": [2, 2, 2, 2], "mode": "reflect"}


@layer("attention")
def attention(rng: np.random.Generator, elements: int) -> Arguments:
    """Four heads of width 32."""
    length = max(4, elements // 256)
    return {name: rng.standard_normal((2, 4, min(length, 1024), 32)) for name in ("query", "key", "value")}


@layer("batch_norm", "instance_norm")
def of_channels(rng: np.random.Generator, elements: int) -> Arguments:
    """Of images, with scale and shift; statistics of the batch."""
    affine = {"weight": rng.uniform(0.5, 2, 8), "bias": rng.standard_normal(8)}
    return {"input": image(rng, elements), "running_mean": None, "running_var": None, **affine}


@layer("group_norm")
def of_groups(rng: np.random.Generator, elements: int) -> Arguments:
    """Of images, in two groups."""
    return {"input": image(rng, elements), "num_groups": 2}


@layer("cross_entropy", "nll_loss")
def classified(rng: np.random.Generator, elements: int) -> Arguments:
    """64 classes."""
    rows = max(1, elements // 64)
    return {"input": rng.standard_normal((rows, 64)), "target": rng.integers(0, 64, rows)}


@layer("embedding_lookup")
def looked_up(rng: np.random.Generator, elements: int) -> Arguments:
    """Vectors of 64 elements of a vocabulary of 1,000."""
    return {"input": rng.integers(0, 1000, max(1, elements // 64)), "weight": rng.standard_normal((1000, 64))}


@layer("one_hot")
def coded(rng: np.random.Generator, elements: int) -> Arguments:
    """64 classes."""
    return {"self": rng.integers(0, 64, max(1, elements // 64)), "num_classes": 64}


def picked(rng: np.random.Generator, elements: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of 64 elements, and as many numbers of rows."""
    rows = max(2, elements // 64)
    return rng.standard_normal((rows, 64)), rng.integers(0, rows, rows)


@layer("index_select")
def selected(rng: np.random.Generator, elements: int) -> Arguments:
    """Rows of 64 elements, drawn with replacement."""
    x, index = picked(rng, elements)
    return {"self": x, "dim": 0, "index": index}


@layer("index_add", "index_copy")
def added(rng: np.random.Generator, elements: int) -> Arguments:
    """Rows of 64 elements, added to drawn ones."""
    x, index = picked(rng, elements)
    return {"self": x, "dim": 0, "index": rng.permutation(len(index)), "source": x[::-1].copy()}


@layer("gather")
def gathered(rng: np.random.Generator, elements: int) -> Arguments:
    """Each element of a row from another place of it."""
    x, _ = picked(rng, elements)
    return {"self": x, "dim": 1, "index": rng.integers(0, 64, x.shape)}


@layer("scatter")
def scattered(rng: np.random.Generator, elements: int) -> Arguments:
    """Each element of a row to another place of it."""
    return {**gathered(rng, elements), "src": rng.standard_normal(picked(rng, elements)[0].shape)}


@layer("topk")
def greatest(rng: np.random.Generator, elements: int) -> Arguments:
    """Ten of each row of 1,000."""
    return {"self": rng.standard_normal((max(1, elements // 1000), 1000)), "k": 10}


@layer("kthvalue")
def ranked(rng: np.random.Generator, elements: int) -> Arguments:
    """The 100th of each row of 1,000."""
    return {"self": rng.standard_normal((max(1, elements // 1000), 1000)), "k": 100}


@layer("cat", "stack")
def joined(rng: np.random.Generator, elements: int) -> Arguments:
    """Four matrices."""
    return {"tensors": [rng.standard_normal((max(1, elements // 256), 64)) for _ in range(4)]}


@layer("kron")
def products(rng: np.random.Generator, elements: int) -> Arguments:
    """A small matrix of large ones."""
    side = max(2, round((elements / 64) ** 0.5))
    return {"self": rng.standard_normal((8, 8)), "other": rng.standard_normal((side, side))}


# --- Recurrent networks: of ten steps, 16 features and 32 hidden ones
def recurrent(name: str, gates: int) -> None:
    """A network of one layer, and its cell."""
    states = 2 if gates == 4 else 1

    def made(rng: np.random.Generator, batch: int, leading: tuple[int, ...]) -> tuple[Any, list[np.ndarray]]:
        hx = [rng.standard_normal((*leading, batch, 32)) for _ in range(states)]
        shapes = [(gates * 32, 16), (gates * 32, 32), (gates * 32,), (gates * 32,)]
        return (hx if states == 2 else hx[0]), [rng.standard_normal(shape) / 6 for shape in shapes]

    @layer(name)
    def network(rng: np.random.Generator, elements: int) -> Arguments:
        batch = max(1, elements // 160)
        hx, params = made(rng, batch, (1,))
        options = {"has_biases": True, "num_layers": 1, "dropout": 0.0, "train": False, "bidirectional": False}
        return {
            "input": rng.standard_normal((10, batch, 16)), "hx": hx, "params": params, **options, "batch_first": False
        }  # fmt: skip

    @layer(f"{name}_cell")
    def cell(rng: np.random.Generator, elements: int) -> Arguments:
        batch = max(1, elements // 16)
        hx, params = made(rng, batch, ())
        weights = dict(zip(("w_ih", "w_hh", "b_ih", "b_hh"), params, strict=True))
        return {"input": rng.standard_normal((batch, 16)), "hx": hx, **weights}


for name_, gates_ in (("rnn", 1), ("gru", 3), ("lstm", 4)):
    recurrent(name_, gates_)


@layer("lstm_steps")
def remembered(rng: np.random.Generator, elements: int) -> Arguments:
    """The same, from the part of the input on."""
    batch = max(1, elements // 1280)
    tensors = {"gates": rng.standard_normal((10, batch, 128)), "w_hh": rng.standard_normal((128, 32)) / 6}
    return {**tensors, **{name: rng.standard_normal((batch, 32)) for name in ("h", "c")}, "reverse": False}
