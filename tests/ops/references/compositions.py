"""What is composed of other rows."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import scipy.special

from . import reference, relation
from .layers import interpolate
from .losses import REDUCE


# --- Losses of margins: a number for each sample, by loops
def rows_of(array: np.ndarray) -> np.ndarray:
    return np.atleast_2d(array)


@reference("multi_margin_loss")
def multi_margin_loss(input: Any, target: Any, p: int = 1, margin: float = 1.0, weight: Any = None,
                      reduction: str = "mean") -> Any:  # fmt: skip
    losses = []
    for scores, label in zip(rows_of(input), np.atleast_1d(target), strict=True):
        factor = 1 if weight is None else weight[label]
        terms = [factor * max(0, margin - scores[label] + s) ** p for c, s in enumerate(scores) if c != label]
        losses.append(sum(terms) / len(scores))
    return REDUCE[reduction](np.array(losses) if input.ndim == 2 else np.array(losses[0]))


@reference("multilabel_margins")
def multilabel_margins(input: Any, target: Any) -> Any:
    return multilabel_margin_loss(input, target, "none"), None


@reference("multilabel_margin_loss")
def multilabel_margin_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    losses = []
    for scores, labels in zip(rows_of(input), rows_of(target), strict=True):
        named = list(itertools.takewhile(lambda label: label >= 0, labels))
        others = [s for c, s in enumerate(scores) if c not in named]
        losses.append(sum(max(0, 1 - scores[label] + s) for label in named for s in others) / len(scores))
    return REDUCE[reduction](np.array(losses) if input.ndim == 2 else np.array(losses[0]))


@reference("multilabel_soft_margin_loss")
def multilabel_soft_margin_loss(input: Any, target: Any, weight: Any = 1, reduction: str = "mean") -> Any:
    logistic = scipy.special.log_expit
    losses = -weight * (target * logistic(input) + (1 - target) * logistic(-input))
    return REDUCE[reduction](losses.mean(-1))


# --- Pooling
def windows_of(plane: np.ndarray, size: Any, step: Any) -> Any:
    counts = [(n - k) // s + 1 for n, k, s in zip(plane.shape, size, step, strict=True)]
    for place in np.ndindex(*counts):
        yield place, plane[tuple(slice(i * s, i * s + k) for i, s, k in zip(place, step, size, strict=True))]


@reference("lp_pool1d", "lp_pool2d", "lp_pool3d")
def lp_pool(input: Any, norm_type: float, kernel_size: Any, stride: Any) -> Any:
    planes = []
    kernel_size, stride = np.atleast_1d(kernel_size), np.atleast_1d(stride)
    for plane in input.reshape(-1, *input.shape[2:]):
        found = {place: (w**norm_type).sum() ** (1 / norm_type) for place, w in windows_of(plane, kernel_size, stride)}
        planes.append(np.reshape(list(found.values()), np.add(max(found), 1)))
    return np.stack(planes).reshape(*input.shape[:2], *planes[0].shape)


@reference("max_unpool1d", "max_unpool2d", "max_unpool3d")
def max_unpool(input: Any, indices: Any, kernel_size: Any, output_size: Any = None) -> Any:
    sizes = output_size or np.multiply(input.shape[2:], kernel_size)
    out = np.zeros((*input.shape[:2], np.prod(sizes)), input.dtype)
    np.put_along_axis(out, indices.reshape(*input.shape[:2], -1), input.reshape(*input.shape[:2], -1), -1)
    return out.reshape(*input.shape[:2], *sizes)


@relation("rrelu")
def slopes(out: Any, input: Any, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False) -> None:
    slope = out[0] / input
    assert (slope[input > 0] == 1).all()
    assert ((lower <= slope) & (slope <= upper))[input < 0].all()
    assert training or np.allclose(slope[input < 0], (lower + upper) / 2)


@relation("gumbel_softmax")
def probabilities(out: Any, logits: Any, tau: float = 1, dim: int = -1) -> None:
    assert out[0].shape == logits.shape
    np.testing.assert_allclose(out[0].sum(dim), 1)


reference("upsample", "upsample_nearest")(interpolate)
reference("upsample_bilinear")(lambda **arguments: interpolate(**arguments, mode="bilinear", align_corners=True))


# --- Matrices
@reference("linalg_cond", "linalg_cond_name")
def cond(A: Any, p: Any = None) -> Any:
    return np.linalg.cond(A, p)


@reference("linalg_matrix_rank")
def matrix_rank(A: Any, tol: float = 0, hermitian: bool = False, atol: float = 0) -> Any:
    return np.linalg.matrix_rank(A, tol or atol or None, hermitian)


reference("linalg_tensorinv")(lambda A, ind=2: np.linalg.tensorinv(A, ind))
reference("linalg_tensorsolve")(lambda A, B, dims=None: np.linalg.tensorsolve(A, B, dims))


# --- Spectra of windows, by sums over points
@reference("stft")
def stft(self: Any, n_fft: int, hop_length: int = 1, win_length: int = 4, window: Any = None, center: bool = True,
         pad_mode: str = "reflect", normalized: bool = False, onesided: Any = None,
         return_complex: bool = True) -> Any:  # fmt: skip
    signal = np.pad(rows_of(self), [(0, 0), (n_fft // 2 * center,) * 2], mode=pad_mode)  # type: ignore[call-overload]
    shape = np.zeros(n_fft)
    left = (n_fft - win_length) // 2
    shape[left : left + win_length] = 1 if window is None else window
    half = not np.iscomplexobj(self) if onesided is None else onesided
    waves = np.exp(-2j * np.pi * np.outer(np.arange(n_fft // 2 + 1 if half else n_fft), np.arange(n_fft)) / n_fft)
    starts = range(0, signal.shape[1] - n_fft + 1, hop_length)
    frames = np.stack([signal[:, s : s + n_fft] * shape for s in starts], -1)
    spectra = waves @ frames / (np.sqrt(n_fft) if normalized else 1)
    return spectra if self.ndim == 2 else spectra[0]


@reference("istft")
def istft(self: Any, n_fft: int, hop_length: int = 1, window: Any = 1, normalized: bool = False,
          onesided: bool = True, length: Any = None, return_complex: bool = False) -> Any:  # fmt: skip
    spectra = self if self.ndim == 3 else self[None]
    inverse = np.fft.irfft if onesided else np.fft.ifft
    frames = inverse(spectra, n_fft, axis=1) * (np.sqrt(n_fft) if normalized else 1)
    total = np.zeros((len(spectra), n_fft + hop_length * (spectra.shape[2] - 1)), frames.dtype)
    energy = np.zeros(total.shape[1])
    for i in range(spectra.shape[2]):
        place = slice(i * hop_length, i * hop_length + n_fft)
        total[:, place] += frames[:, :, i] * window
        energy[place] += np.broadcast_to(window, n_fft) ** 2
    start = n_fft // 2
    stop = len(energy) - start if length is None else start + length
    signal = (total / np.where(energy == 0, 1, energy))[:, start:stop]
    return signal if self.ndim == 3 else signal[0]


# --- Whole tensors
reference("equal")(lambda self, other: self.shape == other.shape and bool((self == other).all()))
reference("allclose")(lambda self, other: bool(np.allclose(self, other)))
reference("cartesian_prod")(
    lambda tensors: np.array(list(itertools.product(*tensors))) if len(tensors) > 1 else tensors[0]
)


@reference("combinations")
def combinations(self: Any, r: int = 2, with_replacement: bool = False) -> Any:
    chosen = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    return np.array(list(chosen(self, r)), self.dtype).reshape(-1, r)
