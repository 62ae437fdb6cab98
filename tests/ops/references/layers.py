"""Layers of neural networks: convolution, pooling, resampling, normalisation, recurrence. Plain loops over results."""

from __future__ import annotations

from itertools import product
from math import ceil, floor
from typing import Any

import numpy as np
from scipy.special import expit

from . import reference, transposed

Sizes = Any


# --- Convolution
def listed(value: Any, n: int) -> list[int]:
    return list(value) if isinstance(value, (list, tuple)) else [value] * n


def correlated(
    x: np.ndarray, w: np.ndarray, stride: Sizes = 1, padding: Sizes = 0, dilation: Sizes = 1, groups: int = 1
) -> np.ndarray:
    """[N, C, *in] with [O, C / groups, *kernel] -> [N, O, *out]."""
    n = x.ndim - 2
    stride, padding, dilation = (listed(v, n) for v in (stride, padding, dilation))
    x = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    kernel = w.shape[2:]
    sizes = [(i - d * (k - 1) - 1) // s + 1 for i, k, s, d in zip(x.shape[2:], kernel, stride, dilation, strict=True)]
    out = np.zeros((len(x), len(w), *sizes), np.result_type(x, w))
    per_group, inputs = len(w) // groups, w.shape[1]
    for o in range(len(w)):
        channels = slice(o // per_group * inputs, (o // per_group + 1) * inputs)
        for at in np.ndindex(*sizes):
            window = tuple(slice(a * s, a * s + d * (k - 1) + 1, d)
                           for a, s, d, k in zip(at, stride, dilation, kernel, strict=True))  # fmt: skip
            out[(slice(None), o, *at)] = np.sum(x[(slice(None), channels, *window)] * w[o], tuple(range(1, n + 2)))
    return out


def with_bias(x: np.ndarray, bias: Any) -> np.ndarray:
    return x if bias is None else x + bias.reshape(-1, *[1] * (x.ndim - 2))


def batched(function: Any, rank: int) -> Any:
    """The same for a sample without a batch."""

    def run(input: np.ndarray, *arguments: Any, **more: Any) -> Any:
        if input.ndim == rank + 1:
            return function(input[None], *arguments, **more)[0]
        return function(input, *arguments, **more)

    return run


def conv(rank: int) -> Any:
    def run(
        input: np.ndarray, weight: np.ndarray, bias: Any = None, padding: Any = 0, dilation: Any = 1, **how: Any
    ) -> np.ndarray:
        if padding == "valid":
            padding = 0
        if padding == "same":
            total = [k - 1 for k in weight.shape[2:]]
            input = np.pad(input, [(0, 0), (0, 0), *((t // 2, t - t // 2) for t in total)])
            padding = 0
        return with_bias(correlated(input, weight, padding=padding, dilation=dilation, **how), bias)

    return batched(run, rank)


def conv_transpose(rank: int) -> Any:
    def run(
        input: np.ndarray,
        weight: np.ndarray,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> np.ndarray:
        """What the input of a convolution gets from its output: each element adds its multiple of the kernel."""
        stride, padding, more, dilation = (listed(v, rank) for v in (stride, padding, output_padding, dilation))
        sizes = [(i - 1) * s + d * (k - 1) + 1 for i, s, d, k in
                 zip(input.shape[2:], stride, dilation, weight.shape[2:], strict=True)]  # fmt: skip
        inputs, per_group = len(weight), weight.shape[1]
        full = np.zeros((len(input), per_group * groups, *(n + m for n, m in zip(sizes, more, strict=True))),
                        np.result_type(input, weight))  # fmt: skip
        for c, at in product(range(inputs), np.ndindex(*input.shape[2:])):
            group = c // (inputs // groups)
            window = tuple(slice(a * s, a * s + d * (k - 1) + 1, d)
                           for a, s, d, k in zip(at, stride, dilation, weight.shape[2:], strict=True))  # fmt: skip
            part = (slice(None), slice(group * per_group, (group + 1) * per_group), *window)
            value = input[(slice(None), c, *at)].reshape(-1, *[1] * (rank + 1))
            full[part] += value * weight[c]
        inside = tuple(slice(p, n - p) for p, n in zip(padding, full.shape[2:], strict=True))
        return with_bias(full[(slice(None), slice(None), *inside)], bias)

    return batched(run, rank)


for n in (1, 2, 3):
    reference(f"conv{n}d", f"conv{n}d_padding")(conv(n))
    reference(f"conv_transpose{n}d")(conv_transpose(n))


@reference("convolution", "convolution_chain")
def convolution(input: Any, weight: Any, bias: Any = None, **geometry: Any) -> np.ndarray:
    return with_bias(correlated(input, weight, **geometry), bias)


# Transposes without conjugates: formulas give them conjugated factors.
reference("convolution_input", "convolution_input_chain")(
    lambda grad_output, weight, input_sizes, **how: transposed(
        lambda x: correlated(x, weight, **how), grad_output, input_sizes
    )
)
reference("convolution_weight", "convolution_weight_chain")(
    lambda grad_output, input, weight_sizes, **how: transposed(
        lambda w: correlated(input, w, **how), grad_output, weight_sizes
    )
)


# --- Blocks of images
def blocks(x: np.ndarray, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> np.ndarray:
    """[N, C, H, W] -> [N, C * kernel, blocks]."""
    n, c, *_ = x.shape
    kernels = np.eye(kernel_size[0] * kernel_size[1]).reshape(-1, 1, *kernel_size)
    each = correlated(x.reshape(n * c, 1, *x.shape[2:]), kernels, stride, padding, dilation)
    return each.reshape(n, -1, each.shape[-2] * each.shape[-1])


reference("im2col")(lambda self, **how: blocks(self, **how))
reference("unfold_blocks")(lambda input, **how: blocks(input, **how))


def folded(columns: np.ndarray, output_size: Any, **how: Any) -> np.ndarray:
    channels = columns.shape[1] // (how["kernel_size"][0] * how["kernel_size"][1])
    return transposed(lambda x: blocks(x, **how), columns, (len(columns), channels, *output_size))


reference("col2im")(lambda self, **how: folded(self, **how))
reference("fold")(lambda input, **how: folded(input, **how))


# --- Pooling
def pooled(
    x: np.ndarray, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Any:
    """Of each window: the elements' places in the padded image; NaN stands for padding."""
    n = x.ndim - 2
    kernel, padding, dilation = (listed(v, n) for v in (kernel_size, padding, dilation))
    stride = kernel if stride is None else listed(stride, n)
    image = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)], constant_values=np.nan)
    sizes = [
        (i - d * (k - 1) - 1) // s + 1 for i, k, s, d in zip(image.shape[2:], kernel, stride, dilation, strict=True)
    ]
    windows = np.empty((*x.shape[:2], *sizes, *kernel), x.dtype)
    for at in np.ndindex(*sizes):
        window = tuple(slice(a * s, a * s + d * (k - 1) + 1, d)
                       for a, s, d, k in zip(at, stride, dilation, kernel, strict=True))  # fmt: skip
        windows[(slice(None), slice(None), *at)] = image[(slice(None), slice(None), *window)]
    return windows, tuple(range(-n, 0))


def greatest(x: np.ndarray, **how: Any) -> np.ndarray:
    windows, inner = pooled(x, **how)
    return np.nanmax(windows, inner)


def greatest_with_places(x: np.ndarray, **how: Any) -> Any:
    places = np.broadcast_to(np.arange(x[0, 0].size, dtype=float).reshape(x.shape[2:]), x.shape)
    (windows, inner), (where, _) = pooled(x, **how), pooled(places, **how)
    flat = (*windows.shape[: -len(inner)], -1)
    best = np.nanargmax(windows.reshape(flat), -1)[..., None]
    return np.nanmax(windows, inner), np.take_along_axis(where.reshape(flat), best, -1)[..., 0].astype(np.int64)


def averaged(x: np.ndarray, count_include_pad: bool = True, divisor_override: int | None = None, **how: Any) -> Any:
    windows, inner = pooled(x, **how)
    padded = np.isnan(windows)
    total = np.where(padded, 0, windows).sum(inner)
    whole = np.prod([windows.shape[i] for i in inner])
    counts = np.full(total.shape, whole) if count_include_pad else (~padded).sum(inner)
    return total / (divisor_override or counts)


def adaptive(x: np.ndarray, output_size: Any, function: Any) -> np.ndarray:
    out = np.empty((*x.shape[:2], *output_size), x.dtype)
    for at in np.ndindex(*output_size):
        window = tuple(slice(floor(a * i / o), ceil((a + 1) * i / o))
                       for a, i, o in zip(at, x.shape[2:], output_size, strict=True))  # fmt: skip
        out[(slice(None), slice(None), *at)] = function(
            x[(slice(None), slice(None), *window)], axis=tuple(range(2, x.ndim))
        )
    return out


for n in (1, 2, 3):
    reference(f"max_pool{n}d")(lambda input, **how: greatest(input, **how))
    reference(f"max_pool{n}d_with_indices")(lambda input, **how: greatest_with_places(input, **how))
    reference(f"avg_pool{n}d")(lambda input, **how: averaged(input, **how))
    reference(f"adaptive_avg_pool{n}d")(lambda input, output_size: adaptive(input, output_size, np.mean))
    reference(f"adaptive_max_pool{n}d_with_indices")(
        lambda input, output_size: adaptive_max_pool_with_indices(input, output_size)
    )
    reference(f"adaptive_max_pool{n}d")(lambda input, output_size: adaptive(input, output_size, np.max))

reference("max_pool_with_indices")(lambda self, n, **how: greatest_with_places(self, **how))
reference("avg_pool")(lambda self, n, **how: averaged(self, **how))
reference("avg_pool_backward")(
    lambda grad_output, input_sizes, n, **how: transposed(lambda x: averaged(x, **how), grad_output, input_sizes)
)
reference("adaptive_avg_pool")(lambda self, output_size: adaptive(self, output_size, np.mean))
reference("adaptive_avg_pool_backward")(
    lambda grad_output, input_sizes, n: transposed(
        lambda x: adaptive(x, grad_output.shape[2:], np.mean), grad_output, input_sizes
    )
)


@reference("adaptive_max_pool_with_indices")
def adaptive_max_pool_with_indices(self: np.ndarray, output_size: Any) -> Any:
    values = adaptive(self, output_size, np.max)  # of distinct elements: each stands at one place
    flat = self.reshape(*self.shape[:2], -1)
    return values, np.argmax(flat[:, :, None] == values.reshape(*values.shape[:2], -1, 1), -1).reshape(values.shape)


def at_places(x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    flat = x.reshape(*x.shape[:2], -1)
    return np.take_along_axis(flat, indices.reshape(*x.shape[:2], -1), -1).reshape(indices.shape)


reference("max_pool_gather")(lambda self, indices, n: at_places(self, indices))
reference("max_pool_backward")(
    lambda grad_output, indices, input_sizes, n: transposed(lambda x: at_places(x, indices), grad_output, input_sizes)
)


# --- Resampling and padding
def linear_weights(size: int, target: int, corners: bool) -> np.ndarray:
    """[target, size]: how much of each element goes into each new one."""
    weights = np.zeros((target, size))
    for i in range(target):
        x = i * (size - 1) / (target - 1) if corners else max((i + 0.5) * size / target - 0.5, 0)
        low = min(int(x), size - 1)
        weights[i, low] += 1 - (x - low)
        weights[i, min(low + 1, size - 1)] += x - low
    return weights


def filter_weights(size: int, target: int, mode: str) -> np.ndarray:
    """[target, size]: a filter around the centre of each new element, as wide as the wider of the two kinds."""
    step = size / target
    x = np.abs((np.arange(size) + 0.5)[None] - step * (np.arange(target) + 0.5)[:, None]) / max(step, 1)
    near, far = (1.5 * x - 2.5) * x * x + 1, ((-0.5 * x + 2.5) * x - 4) * x + 2
    weights = np.maximum(1 - x, 0) if mode == "bilinear" else np.where(x <= 1, near, np.where(x < 2, far, 0))
    return weights / weights.sum(1, keepdims=True)


def resampled(
    x: np.ndarray, size: Any, mode: str = "nearest", corners: bool = False, antialias: bool = False
) -> np.ndarray:
    for d, target in enumerate(size, 2):
        if antialias:
            x = np.moveaxis(np.tensordot(filter_weights(x.shape[d], target, mode), x, (1, d)), 0, d)
        elif mode == "nearest":
            x = np.take(x, [i * x.shape[d] // target for i in range(target)], d)
        else:
            x = np.moveaxis(np.tensordot(linear_weights(x.shape[d], target, corners), x, (1, d)), 0, d)
    return x


@reference("interpolate")
def interpolate(
    input: np.ndarray,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    antialias: bool = False,
) -> np.ndarray:
    target = size or [int(n * s) for n, s in zip(input.shape[2:], scale_factor, strict=True)]
    return resampled(input, target, mode, align_corners, antialias)


reference("resample")(
    lambda self, size, mode, align_corners, scales, antialias=False: resampled(
        self, size, mode, align_corners, antialias
    )
)
reference("resample_backward")(
    lambda grad_output, input_sizes, mode, align_corners, scales: transposed(
        lambda x: resampled(x, grad_output.shape[2:], mode, align_corners), grad_output, input_sizes
    )
)


@reference("constant_pad_nd")
def constant_pad(self: np.ndarray, pad: Any, value: complex = 0) -> np.ndarray:
    pairs = [(0, 0)] * self.ndim
    for i in range(len(pad) // 2):
        pairs[-1 - i] = (pad[2 * i], pad[2 * i + 1])
    inside = tuple(slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(self.shape, pairs, strict=True))
    return np.pad(self[inside], [(max(a, 0), max(b, 0)) for a, b in pairs], constant_values=value)


@reference("pad")
def pad(input: np.ndarray, pad: Any, mode: str = "constant", value: float | None = None) -> np.ndarray:
    if mode == "constant":
        return constant_pad(input, pad, value or 0)
    names = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    before, after = pad
    input = input[..., max(-before, 0) : input.shape[-1] - max(-after, 0)]
    return np.pad(input, [(0, 0), (0, 0), (max(before, 0), max(after, 0))], mode=names[mode])


# --- Sampling
@reference("affine_grid")
def affine_grid(theta: np.ndarray, size: Any, align_corners: bool = False) -> np.ndarray:
    corners = align_corners
    lines = [np.linspace(-1, 1, n) if corners and n > 1 else (2 * np.arange(n) + 1) / n - 1 for n in size[2:]]
    points = np.stack([*np.meshgrid(*lines, indexing="ij")[::-1], np.ones(size[2:])], -1)
    return np.einsum("nij,...j->n...i", theta, points)


def reflected(x: float, low: float, high: float) -> float:
    if high == low:
        return low
    span = high - low
    x = abs(x - low) % (2 * span)
    return low + min(x, 2 * span - x)


def inside(x: float, size: int, padding: str, corners: bool) -> float:
    """A coordinate, brought into the image as the mode of padding wants it."""
    if padding == "reflection":
        x = reflected(x, 0, size - 1) if corners else reflected(x, -0.5, size - 0.5)
    return x if padding == "zeros" else min(max(x, 0), size - 1)


def cubic(t: float, a: float = -0.75) -> list[float]:
    """Keys' weights of the four neighbours."""
    near = lambda x: ((a + 2) * x - (a + 3)) * x * x + 1  # noqa: E731
    far = lambda x: ((a * x - 5 * a) * x + 8 * a) * x - 4 * a  # noqa: E731
    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


@reference("grid_sample")
def grid_sample(
    input: np.ndarray,
    grid: np.ndarray,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> np.ndarray:
    sizes = input.shape[2:]
    out = np.zeros((*input.shape[:2], *grid.shape[1:-1]), input.dtype)
    for place in np.ndindex(grid.shape[:-1]):
        neighbours = []  # along each dimension: (index, weight)
        for x, n in zip(grid[place][::-1], sizes, strict=True):
            x = (x + 1) / 2 * (n - 1) if align_corners else ((x + 1) * n - 1) / 2
            if mode == "bicubic":
                low = floor(x)
                weights = cubic(x - low)
                neighbours.append([(inside(low - 1 + k, n, padding_mode, align_corners), weights[k]) for k in range(4)])
                continue
            x = inside(x, n, padding_mode, align_corners)
            low = floor(x)
            neighbours.append([(np.rint(x), 1.0)] if mode == "nearest" else [(low, 1 - x + low), (low + 1, x - low)])
        for corner in product(*neighbours):
            at = tuple(int(np.rint(i)) for i, _ in corner)
            if all(0 <= i < n for i, n in zip(at, sizes, strict=True)):
                weight = np.prod([w for _, w in corner])
                out[(place[0], slice(None), *place[1:])] += weight * input[(place[0], slice(None), *at)]
    return out


# --- Normalisation
def scaled(x: np.ndarray, weight: Any, bias: Any, channel: bool = True) -> np.ndarray:
    shape = (-1, *[1] * (x.ndim - 2)) if channel else None
    fit = lambda v: v.reshape(shape) if channel else v  # noqa: E731
    x = x if weight is None else x * fit(weight)
    return x if bias is None else x + fit(bias)


def standardized(x: np.ndarray, axes: Any, eps: float) -> Any:
    mean, rstd = x.mean(axes, keepdims=True), 1 / np.sqrt(x.var(axes, keepdims=True) + eps)
    return (x - mean) * rstd, mean, rstd


@reference("native_layer_norm")
def native_layer_norm(
    input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    axes = tuple(range(-len(normalized_shape), 0))
    x, mean, rstd = standardized(input, axes, eps)
    return scaled(x, weight, bias, channel=False), mean, rstd


reference("layer_norm")(lambda **how: native_layer_norm(**how)[0])


@reference("native_rms_norm")
def native_rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Any:
    axes = tuple(range(-len(normalized_shape), 0))
    eps = np.finfo(input.dtype).eps if eps is None else eps
    rstd = 1 / np.sqrt((input**2).mean(axes, keepdims=True) + eps)
    return scaled(input * rstd, weight, None, channel=False), rstd


reference("rms_norm")(lambda **how: native_rms_norm(**how)[0])


@reference("group_norm_statistics")
def group_norm_statistics(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    x, mean, rstd = standardized(input.reshape(len(input), num_groups, -1), 2, eps)
    return scaled(x.reshape(input.shape), weight, bias), mean[..., 0], rstd[..., 0]


reference("group_norm")(lambda **how: group_norm_statistics(**how)[0])
reference("native_group_norm")(
    lambda input, weight, bias, N, C, HxW, group, eps: group_norm_statistics(input, group, weight, bias, eps)
)


@reference("native_batch_norm")
def native_batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    axes = (0, *range(2, input.ndim))
    if training:
        x, mean, rstd = standardized(input, axes, eps)
        return scaled(x, weight, bias), mean.reshape(-1), rstd.reshape(-1)
    centred = scaled(input, None, -running_mean)
    return scaled(scaled(centred, 1 / np.sqrt(running_var + eps), None), weight, bias), None, None


reference("batch_norm")(lambda **how: native_batch_norm(**how)[0])


@reference("instance_norm")
def instance_norm(input: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> np.ndarray:
    return scaled(standardized(input, tuple(range(2, input.ndim)), eps)[0], weight, bias)


@reference("normalize")
def normalize(input: np.ndarray, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> np.ndarray:
    return input / np.maximum(np.linalg.vector_norm(input, ord=p, axis=dim, keepdims=True), eps)


@reference("local_response_norm")
def local_response_norm(
    input: np.ndarray, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> np.ndarray:
    squares = np.pad(input**2, [(0, 0), (size // 2, (size - 1) // 2), *[(0, 0)] * (input.ndim - 2)])
    total = sum(squares[:, i : i + input.shape[1]] for i in range(size))
    return input / (k + alpha * total / size) ** beta


# Without chance, as the samples are.
reference("dropout", "dropout1d", "alpha_dropout", "feature_alpha_dropout")(lambda input, p=0.5, training=True: input)


# --- Softmax
def softmax(x: np.ndarray, dim: int) -> np.ndarray:
    e = np.exp(x - x.max(dim, keepdims=True))
    return e / e.sum(dim, keepdims=True)


reference("softmax", "softmax_along")(lambda self, dim, keepdim=None: softmax(self, dim))
reference("log_softmax", "log_softmax_along")(lambda self, dim, keepdim=None: np.log(softmax(self, dim)))
reference("softmin")(lambda self, dim, keepdim=None: softmax(-self, dim))


# --- Recurrence
def affine(x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any = 0.0, b_hh: Any = 0.0) -> tuple[np.ndarray, np.ndarray]:
    return x @ w_ih.T + b_ih, h @ w_hh.T + b_hh


def rnn_step(activation: Any) -> Any:
    return lambda x, h, *w: activation(sum(affine(x, h, *w)))


def gru_step(x: Any, h: Any, *w: Any) -> np.ndarray:
    (ri, zi, ni), (rh, zh, nh) = (np.split(gates, 3, -1) for gates in affine(x, h, *w))
    r, z = expit(ri + rh), expit(zi + zh)
    return (1 - z) * np.tanh(ni + r * nh) + z * h


def lstm_step(x: Any, state: Any, *w: Any) -> tuple[np.ndarray, np.ndarray]:
    h, c = state
    i, f, g, o = np.split(sum(affine(x, h, *w)), 4, -1)
    c = expit(f) * c + expit(i) * np.tanh(g)
    return expit(o) * np.tanh(c), c


@reference("lstm_steps")
def lstm_steps(gates: Any, h: Any, c: Any, w_hh: Any, reverse: bool) -> tuple[np.ndarray, ...]:
    outputs, seen = np.empty((*gates.shape[:2], h.shape[1])), np.empty((*gates.shape[:2], 5 * h.shape[1]))
    for t in range(len(gates))[:: -1 if reverse else 1]:
        i, f, g, o = np.split(gates[t] + h @ w_hh.T, 4, -1)
        i, f, g, o = expit(i), expit(f), np.tanh(g), expit(o)
        c = f * c + i * g
        outputs[t] = h = o * np.tanh(c)
        seen[t] = np.concatenate([i, f, g, o, c], -1)
    return outputs, c, seen


STEPS = {"rnn_tanh": rnn_step(np.tanh), "rnn_relu": rnn_step(lambda x: np.maximum(x, 0)), "gru": gru_step,
         "lstm": lstm_step}  # fmt: skip

for kind, step in STEPS.items():
    reference(f"{kind}_cell")(lambda input, hx, step=step, **w: step(input, hx, *w.values()))


def network(kind: str) -> Any:
    """Layer after layer, each in one direction or in both, step after step."""

    def run(
        input: np.ndarray,
        hx: Any,
        params: list[np.ndarray],
        has_biases: bool,
        num_layers: int,
        bidirectional: bool,
        batch_first: bool,
        **_: Any,
    ) -> Any:
        x = input.swapaxes(0, 1) if batch_first else input
        states = list(zip(*hx, strict=True)) if kind == "lstm" else list(hx)
        per_layer, directions = 4 if has_biases else 2, 2 if bidirectional else 1
        last = []
        for layer in range(num_layers):
            outputs = []
            for direction in range(directions):
                k = layer * directions + direction
                state, w, steps = states[k], params[k * per_layer : (k + 1) * per_layer], []
                for t in range(len(x))[:: -1 if direction else 1]:
                    state = STEPS[kind](x[t], state, *w)
                    steps.append(state[0] if kind == "lstm" else state)
                last.append(state)
                outputs.append(np.stack(steps[:: -1 if direction else 1]))
            x = np.concatenate(outputs, -1)
        finals = [np.stack(s) for s in zip(*last, strict=True)] if kind == "lstm" else [np.stack(last)]
        return (x.swapaxes(0, 1) if batch_first else x, *finals)

    return run


for kind in STEPS:
    reference(kind)(network(kind))


@reference("grid_sampler")
def grid_sampler(
    input: np.ndarray, grid: np.ndarray, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> np.ndarray:
    modes, paddings = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    return grid_sample(input, grid, modes[interpolation_mode], paddings[padding_mode], align_corners)
