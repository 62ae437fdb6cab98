"""Antialiased resampling, padding that crops and wraps, transposed convolutions: against their definitions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.autograd import grad, gradcheck, gradgradcheck

F = wg.nn.functional


def filter_matrix(size: int, out: int, cubic: bool) -> np.ndarray:
    """[out, size]: the filter around the centre of each output pixel, as wide as the wider of both pixels."""
    step = size / out
    width = max(step, 1.0)
    x = np.abs((np.arange(size) + 0.5)[None] - step * (np.arange(out) + 0.5)[:, None]) / width
    if cubic:
        near, far = (1.5 * x - 2.5) * x * x + 1, ((-0.5 * x + 2.5) * x - 4) * x + 2
        weights = np.where(x <= 1, near, np.where(x < 2, far, 0))
    else:
        weights = np.maximum(1 - x, 0)
    return weights / weights.sum(1, keepdims=True)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("size", [(2, 3), (5, 9), (8, 4), (1, 1)])
def test_antialiased_resampling(mode: str, size: tuple[int, int]) -> None:
    image = np.random.default_rng(0).normal(size=(1, 2, 7, 6))
    rows, columns = (filter_matrix(n, m, mode == "bicubic") for n, m in zip((7, 6), size, strict=True))
    x = wg.tensor(image, requires_grad=True)
    out = F.interpolate(x, size, mode=mode, antialias=True)
    np.testing.assert_allclose(out.detach().numpy(), rows @ image @ columns.T, rtol=1e-12, atol=1e-13)
    cotangent = wg.tensor(np.random.default_rng(1).normal(size=out.shape))
    (got,) = grad(out, x, cotangent)
    np.testing.assert_allclose(got.numpy(), rows.T @ cotangent.numpy() @ columns, rtol=1e-11, atol=1e-13)


def test_antialias_is_for_images() -> None:
    with pytest.raises(ValueError, match="restricted to bilinear and bicubic modes"):
        F.interpolate(wg.ones(1, 1, 4), 2, mode="linear", antialias=True)
    with pytest.raises(ValueError, match="restricted to bilinear and bicubic modes"):
        F.interpolate(wg.ones(1, 1, 4, 4), 2, mode="nearest", antialias=True)


@pytest.mark.parametrize("widths", list(itertools.product([-3, -1, 0, 1, 2], repeat=2)))
def test_circular_padding_crops_first(widths: tuple[int, int]) -> None:
    x = np.arange(1.0, 5.0)
    before, after = widths
    kept = x[max(-before, 0) : len(x) - max(-after, 0)]
    if max(widths) > len(kept) or max(-before, 0) + max(-after, 0) > len(x):
        with pytest.raises(RuntimeError):
            F.pad(wg.tensor(x)[None], widths, mode="circular")
        return
    want = np.pad(kept, (max(before, 0), max(after, 0)), mode="wrap") if len(kept) else kept
    np.testing.assert_array_equal(F.pad(wg.tensor(x)[None], widths, mode="circular")[0].numpy(), want)


def written(x: np.ndarray, w: np.ndarray, options: dict[str, Any]) -> np.ndarray:
    """A transposed convolution by what it does: each input writes the kernel, scaled, to a larger image."""
    stride, padding, extra, dilation = (options[k] for k in ("stride", "padding", "output_padding", "dilation"))
    reach = [
        (n - 1) * s + d * (k - 1) + 1 for n, s, d, k in zip(x.shape[2:], stride, dilation, w.shape[2:], strict=True)
    ]
    full = np.zeros((x.shape[0], w.shape[1], *(r + e for r, e in zip(reach, extra, strict=True))))
    for place in itertools.product(*map(range, x.shape[2:])):
        for tap in itertools.product(*map(range, w.shape[2:])):
            at = tuple(p * s + t * d for p, s, t, d in zip(place, stride, tap, dilation, strict=True))
            full[(..., *at)] += x[(..., *place)] @ w[(..., *tap)]
    return full[(..., *(slice(p, n - p) for p, n in zip(padding, full.shape[2:], strict=True)))]


@pytest.mark.parametrize("seed", range(24))
def test_transposed_convolution(seed: int) -> None:
    """Output paddings up to the greater of stride and dilation, kernels of any sizes; derivatives to second order."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 3))
    stride, dilation, kernel, size = (rng.integers(1, 4, n).tolist() for _ in range(4))
    options = {
        "stride": stride,
        "dilation": dilation,
        "padding": rng.integers(0, 2, n).tolist(),
        "output_padding": [int(rng.integers(0, max(s, d))) for s, d in zip(stride, dilation, strict=True)],
    }
    x, w = rng.normal(size=(1, 2, *size)), rng.normal(size=(2, 1, *kernel))
    want = written(x, w, options)
    if min(want.shape) <= 0:
        return

    def function(a: Any, b: Any) -> Any:
        return getattr(F, f"conv_transpose{n}d")(a, b, None, **options)

    inputs = wg.tensor(x, requires_grad=True), wg.tensor(w, requires_grad=True)
    np.testing.assert_allclose(function(*inputs).detach().numpy(), want, rtol=1e-12, atol=1e-13)
    assert gradcheck(function, inputs)
    assert gradgradcheck(function, inputs)
