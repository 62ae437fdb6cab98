"""Samples of neural network layers: convolution, pooling, resampling, normalisation, dropout."""

from __future__ import annotations

import numpy as np

from .samples import Arguments, Entry, Maker, Sample, samples


# --- Convolution
def spatial(rank: int, *sizes: int) -> tuple[int, ...]:
    """Two batches or channels, and sizes that shrink with the rank: the samples stay small."""
    return tuple(sizes[:rank]) if len(sizes) >= rank else (sizes[0],) * rank


def convolution_samples(rank: int) -> None:
    @samples(f"conv{rank}d")
    def plain(make: Maker, entry: Entry) -> list[Arguments]:
        x, w = make.tensor(1, 2, *spatial(rank, 3, 3, 2)), make.tensor(2, 2, *spatial(rank, 2, 2, 1))
        return [
            {"input": x, "weight": w},
            {"input": x, "weight": w, "bias": make.tensor(2), "stride": [2] * rank, "padding": [1] * rank},
            {
                "input": x,
                "weight": make.tensor(2, 1, *spatial(rank, 2, 1, 1)),
                "dilation": [2] + [1] * (rank - 1),
                "groups": 2,
            },
            {"input": x[0], "weight": w},
        ]

    @samples(f"conv{rank}d_padding")
    def padded(make: Maker, entry: Entry) -> list[Arguments]:
        x, w = make.tensor(1, 1, *spatial(rank, 3, 2, 2)), make.tensor(1, 1, *spatial(rank, 2, 3, 1))
        return [
            {"input": x, "weight": w, "padding": "same"},
            {"input": x, "weight": make.tensor(1, 1, *[1] * rank), "padding": "valid"},
        ]

    @samples(f"conv_transpose{rank}d")
    def transposed(make: Maker, entry: Entry) -> list[Arguments]:
        x, w = make.tensor(1, 2, *spatial(rank, 2, 2, 1)), make.tensor(2, 2, *spatial(rank, 2, 2, 1))
        return [
            {"input": x, "weight": w},
            {"input": x, "weight": w, "bias": make.tensor(2), "stride": [2] * rank, "output_padding": [1] * rank},
            {"input": x, "weight": make.tensor(2, 1, *spatial(rank, 2, 2, 1)), "groups": 2},
        ]


for rank_ in (1, 2, 3):
    convolution_samples(rank_)

GEOMETRY = {"stride": [1, 2], "padding": [1, 0], "dilation": [1, 1], "groups": 1}  # [1,2,3,3] * [2,2,2,1] -> [1,2,4,2]


@samples("convolution")
def convolution(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"input": make.tensor(1, 2, 3, 3), "weight": make.tensor(2, 2, 2, 1), "bias": None, **GEOMETRY}]


@samples("convolution_chain")
def convolution_chain(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"input": make.tensor(1, 2, 3, 3), "weight": make.tensor(2, 2, 2, 1), **GEOMETRY}]


@samples("convolution_input")
def convolution_input(make: Maker, entry: Entry) -> list[Arguments]:
    values = {"grad_output": make.tensor(1, 2, 4, 2), "weight": make.tensor(2, 2, 2, 1)}
    return [{**values, "input_sizes": [1, 2, 3, 3], **GEOMETRY}]


@samples("convolution_weight")
def convolution_weight(make: Maker, entry: Entry) -> list[Arguments]:
    values = {"grad_output": make.tensor(1, 2, 4, 2), "input": make.tensor(1, 2, 3, 3)}
    return [{**values, "weight_sizes": [2, 2, 2, 1], **GEOMETRY}]


BLOCKS = {"kernel_size": [2, 2], "dilation": [1, 1], "padding": [0, 1], "stride": [1, 2]}  # of [1,2,3,2]: 4 blocks


@samples("im2col")
def im2col(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(1, 2, 3, 2), **BLOCKS}]


@samples("col2im")
def col2im(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(1, 8, 4), "output_size": [3, 2], **BLOCKS}]


@samples("unfold_blocks")
def unfold_blocks(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"input": make.tensor(1, 2, 3, 2), **BLOCKS}, {"input": make.tensor(1, 1, 2, 2), "kernel_size": [2, 1]}]


@samples("fold")
def fold(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"input": make.tensor(1, 8, 4), "output_size": [3, 2], **BLOCKS}]


# --- Pooling
def pool_samples(rank: int) -> None:
    shape = (1, 1, *spatial(rank, 4, 3, 2))

    @samples(f"max_pool{rank}d")
    def greatest(make: Maker, entry: Entry) -> list[Arguments]:
        x = make.distinct(*shape)
        return [
            {"input": x, "kernel_size": [2] * rank},
            {"input": x, "kernel_size": [2] * rank, "stride": [1] * rank, "padding": [1] * rank},
        ]

    @samples(f"avg_pool{rank}d")
    def average(make: Maker, entry: Entry) -> list[Arguments]:
        x = make.tensor(*shape)
        return [
            {"input": x, "kernel_size": [2] * rank},
            {
                "input": x,
                "kernel_size": [2] * rank,
                "stride": [1] * rank,
                "padding": [1] * rank,
                "count_include_pad": False,
            },
        ]

    @samples(f"adaptive_pool{rank}d")
    def adaptive(make: Maker, entry: Entry) -> list[Arguments]:
        return [{"input": make.distinct(*shape), "output_size": [2] * rank}]


for rank_ in (1, 2, 3):
    pool_samples(rank_)

WINDOWS = {"kernel_size": [2, 2], "stride": [1, 2], "padding": [0, 1]}  # of [1,1,3,2]: [1,1,2,2]
AVERAGES = {**WINDOWS, "ceil_mode": False, "count_include_pad": True, "divisor_override": None}


@samples("avg_pool")
def avg_pool(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(1, 1, 3, 2), "n": 2, **AVERAGES}]


@samples("avg_pool_backward")
def avg_pool_backward(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"grad_output": make.tensor(1, 1, 2, 2), "input_sizes": [1, 1, 3, 2], "n": 2, **AVERAGES}]


@samples("max_pool_with_indices")
def max_pool_with_indices(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.distinct(1, 1, 3, 2), "n": 2, **WINDOWS, "dilation": [1, 1], "ceil_mode": False}]


@samples("max_pool_backward")
def max_pool_backward(make: Maker, entry: Entry) -> list[Arguments]:
    indices = np.array([[[[0, 3], [2, 3]]]])
    return [{"grad_output": make.tensor(1, 1, 2, 2), "indices": indices, "input_sizes": [1, 1, 3, 2], "n": 2}]


@samples("max_pool_gather")
def max_pool_gather(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(1, 1, 3, 2), "indices": np.array([[[[0, 3], [2, 3]]]]), "n": 2}]


@samples("adaptive_pool")
def adaptive_pool(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.distinct(1, 1, 3, 4), "output_size": [2, 2]}]


@samples("adaptive_avg_pool_backward")
def adaptive_avg_pool_backward(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"grad_output": make.tensor(1, 1, 2, 2), "input_sizes": [1, 1, 3, 4], "n": 2}]


# --- Resampling and padding
@samples("interpolate")
def interpolate(make: Maker, entry: Entry) -> list[Arguments]:
    line, plane = make.tensor(1, 1, 3), make.tensor(1, 1, 2, 2)
    return [
        {"input": line, "size": [4]},
        {"input": line, "scale_factor": [2.0], "mode": "linear", "align_corners": True},
        {"input": plane, "size": [3, 2], "mode": "bilinear"},
        {"input": make.tensor(1, 1, 3, 4), "size": [2, 2], "mode": "bicubic", "antialias": True},
    ]


@samples("resample")
def resample(make: Maker, entry: Entry) -> list[Arguments]:
    values = {"self": make.tensor(1, 1, 3), "size": [4], "align_corners": False, "scales": [0.0]}
    plane = {**values, "self": make.tensor(1, 1, 5, 2), "size": [2, 3], "scales": [], "antialias": True}
    return [{**values, "mode": "linear"}, *({**plane, "mode": mode} for mode in ("bilinear", "bicubic"))]


@samples("resample_backward")
def resample_backward(make: Maker, entry: Entry) -> list[Arguments]:
    values = {"grad_output": make.tensor(1, 1, 4), "input_sizes": [1, 1, 3], "align_corners": False, "scales": [0.0]}
    return [{**values, "mode": "linear"}]


@samples("pad")
def pad(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.tensor(1, 2, 3)
    return [
        {"input": x, "pad": [1, 2], "value": 0.5},
        *({"input": x, "pad": [1, 2], "mode": m} for m in ("reflect", "replicate", "circular")),
        {"input": x, "pad": [-1, 2], "mode": "circular"},
    ]


@samples("constant_pad_nd")
def constant_pad_nd(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "pad": [1, 0, 0, 2], "value": 1.5}, {"self": make.tensor(4), "pad": [-1, 1]}]


@samples("pixel_shuffle")
def pixel_shuffle(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"input": make.tensor(1, 4, 1, 2), "upscale_factor": 2}]


@samples("pixel_unshuffle")
def pixel_unshuffle(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"input": make.tensor(1, 1, 2, 4), "downscale_factor": 2}]


# --- Normalisation
def scaled(make: Maker, *shape: int) -> Arguments:
    return {"weight": make.tensor(*shape, low=0.5, high=2), "bias": make.tensor(*shape)}


@samples("layer_norm")
def layer_norm(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.tensor(2, 3)
    return [{"input": x, "normalized_shape": [3]}, {"input": x, "normalized_shape": [3], **scaled(make, 3)},
            {"input": x, "normalized_shape": [2, 3]}]  # fmt: skip


@samples("rms_norm")
def rms_norm(make: Maker, entry: Entry) -> list[Arguments]:
    x, w = make.tensor(2, 3), make.tensor(3, low=0.5, high=2)
    return [{"input": x, "normalized_shape": [3]}, {"input": x, "normalized_shape": [3], "weight": w, "eps": 1e-3}]


@samples("group_norm")
def group_norm(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.tensor(2, 4, 2)
    return [{"input": x, "num_groups": 2}, {"input": x, "num_groups": 2, **scaled(make, 4)}]


def running(make: Maker, channels: int) -> tuple[Arguments, frozenset[str]]:
    """Running statistics: read or written, never differentiated here."""
    values = {"running_mean": make.real(channels), "running_var": make.real(channels, low=0.5, high=2)}
    return values, frozenset(values)


@samples("batch_norm")
def batch_norm(make: Maker, entry: Entry) -> list[Sample]:
    x = make.tensor(3, 2)
    statistics, constants = running(make, 2)
    absent = dict.fromkeys(statistics)
    return [
        Sample({"input": x, **absent, **scaled(make, 2), "training": True}),
        Sample({"input": make.tensor(2, 2, 2), **absent, "training": True}),
        Sample({"input": x, **statistics, **scaled(make, 2)}, constants),
    ]


@samples("instance_norm")
def instance_norm(make: Maker, entry: Entry) -> list[Sample]:
    return [Sample({"input": make.tensor(2, 2, 3)}), Sample({"input": make.tensor(2, 2, 3), **scaled(make, 2)})]


@samples("native_layer_norm")
def native_layer_norm(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"input": make.tensor(2, 3), "normalized_shape": [3], **scaled(make, 3), "eps": 1e-5}]


@samples("native_rms_norm")
def native_rms_norm(make: Maker, entry: Entry) -> list[Arguments]:
    return [
        {"input": make.tensor(2, 3), "normalized_shape": [3], "weight": make.tensor(3, low=0.5, high=2), "eps": 1e-5}
    ]


@samples("group_norm_statistics")
def group_norm_statistics(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"input": make.tensor(2, 4), "num_groups": 2, **scaled(make, 4), "eps": 1e-5}]


@samples("native_group_norm")
def native_group_norm(make: Maker, entry: Entry) -> list[Arguments]:
    sizes = {"N": 2, "C": 4, "HxW": 1, "group": 2, "eps": 1e-5}
    return [{"input": make.tensor(2, 4), **scaled(make, 4), **sizes}]


@samples("native_batch_norm")
def native_batch_norm(make: Maker, entry: Entry) -> list[Sample]:
    statistics, constants = running(make, 2)
    common = {"input": make.tensor(3, 2), **scaled(make, 2), "momentum": 0.1, "eps": 1e-5}
    return [
        Sample({**common, **dict.fromkeys(statistics), "training": True}),
        Sample({**common, **statistics, "training": False}, constants),
    ]


@samples("normalize")
def normalize(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"input": make.tensor(2, 3)}, {"input": make.tensor(2, 3), "p": 3.0, "dim": 0}]


@samples("dropout")
def dropout(make: Maker, entry: Entry) -> list[Arguments]:
    """Without chance: a derivative is that of one draw."""
    return [{"input": make.tensor(1, 2, 3, 1, 1), "training": False}, {"input": make.tensor(1, 2, 3, 1, 1), "p": 0.0}]


# --- Sampling
@samples("grid_sample")
def grid_sample(make: Maker, entry: Entry) -> list[Arguments]:
    image, points = make.tensor(1, 2, 3, 4), make.real(1, 2, 2, 2, low=-1.2, high=1.2)
    plain = [
        {"input": image, "grid": points, "mode": mode, "padding_mode": padding, "align_corners": corners}
        for mode, padding, corners in (
            ("bilinear", "zeros", False),
            ("bilinear", "border", True),
            ("bilinear", "reflection", False),
            ("bilinear", "reflection", True),
            ("nearest", "zeros", False),
            ("bicubic", "zeros", True),
            ("bicubic", "reflection", False),
        )
    ]
    return [*plain, {"input": make.tensor(1, 1, 2, 2, 3), "grid": make.real(1, 1, 2, 1, 3, low=-0.9, high=0.9)}]


@samples("affine_grid")
def affine_grid(make: Maker, entry: Entry) -> list[Arguments]:
    return [
        {"theta": make.tensor(2, 2, 3), "size": [2, 1, 2, 3]},
        {"theta": make.tensor(1, 3, 4), "size": [1, 1, 2, 1, 2], "align_corners": True},
    ]


@samples("local_response_norm")
def local_response_norm(make: Maker, entry: Entry) -> list[Arguments]:
    return [
        {"input": make.tensor(2, 4, 2), "size": 3},
        {"input": make.tensor(1, 3, 1, 2), "size": 2, "alpha": 0.5, "k": 2.0},
    ]


@samples("grid_sampler")
def grid_sampler(make: Maker, entry: Entry) -> list[Arguments]:
    image, points = make.tensor(1, 2, 3, 4), make.real(1, 2, 2, 2, low=-1.2, high=1.2)
    values = {"input": image, "grid": points, "align_corners": False}
    return [{**values, "interpolation_mode": m, "padding_mode": p} for m, p in ((0, 1), (1, 0), (2, 2))]


# --- Compositions
@samples("lp_pool")
def lp_pool(make: Maker, entry: Entry) -> list[Arguments]:
    n = int(entry["name"][-2])
    x = make.real(1, 2, *[3] * n, low=0.5, high=2)
    kernel, step = (2, 1) if n == 1 else ([2] * n, [1] * n)  # for PyTorch, whose function of one dimension takes ints
    return [{"input": x, "norm_type": 2.0, "kernel_size": kernel, "stride": step}]


@samples("max_unpool")
def max_unpool(make: Maker, entry: Entry) -> list[Arguments]:
    n = int(entry["name"][-2])
    x, places = make.tensor(1, 2, *[2] * n), np.arange(0, 2 * 2**n).reshape(1, 2, *[2] * n) % 2**n
    return [
        {"input": x, "indices": places, "kernel_size": [2] * n},
        {"input": x, "indices": places, "kernel_size": [2] * n, "output_size": [5] * n},
    ]


@samples("rrelu")
def rrelu(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.distinct(2, 3)
    return [{"input": x}, {"input": x, "lower": 0.1, "upper": 0.4, "training": True}]


@samples("gumbel_softmax")
def gumbel_softmax(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"logits": make.real(2, 3)}, {"logits": make.real(2, 3), "tau": 0.5, "dim": 0}]


@samples("upsample", "upsample_nearest", "upsample_bilinear")
def upsample(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.tensor(1, 2, 2, 3)
    return [{"input": x, "size": [3, 4]}, {"input": x, "scale_factor": [2.0, 1.5]}]
