"""Calls that PyTorch takes in several spellings: what stands for nothing, tensors for numbers, None for a size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg

F = wg.nn.functional
X = wg.tensor([[1.0, 2.0, 4.0], [0.0, 3.0, -1.0]], dtype=wg.float64)
PAIRS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "var_mean(unbiased)": (lambda: wg.var_mean(X, unbiased=False), lambda: wg.var_mean(X, correction=0)),
    "var_mean(dim, unbiased)": (lambda: wg.var_mean(X, 1, True), lambda: wg.var_mean(X, 1)),
    "std_mean(dim=, unbiased=)": (
        lambda: wg.std_mean(X, dim=1, unbiased=False, keepdim=True),
        lambda: wg.std_mean(X, 1, correction=0, keepdim=True),
    ),
    "var(correction=None)": (lambda: wg.var(X, correction=None), lambda: wg.var(X)),
    "std_mean(correction=None)": (lambda: wg.std_mean(X, correction=None), lambda: wg.std_mean(X)),
    "adaptive_avg_pool2d(None)": (
        lambda: F.adaptive_avg_pool2d(X[None], (None, 2)),
        lambda: F.adaptive_avg_pool2d(X[None], (2, 2)),
    ),
    "adaptive_max_pool1d(return_indices)": (
        lambda: F.adaptive_max_pool1d(X, 2, return_indices=True),
        lambda: F.adaptive_max_pool1d_with_indices(X, 2),
    ),
    "adaptive_max_pool2d(None, return_indices)": (
        lambda: F.adaptive_max_pool2d(X[None], (None, None), True)[0],
        lambda: X[None],
    ),
    "tensor_split(vector)": (lambda: X.tensor_split(wg.tensor([1, 2]), 1), lambda: X.tensor_split([1, 2], 1)),
    "tensor_split(number)": (lambda: X.tensor_split(wg.tensor(2), 1), lambda: X.tensor_split(2, 1)),
    "nonzero(as_tuple=False)": (lambda: X.nonzero(as_tuple=False), lambda: X.nonzero()),
    "take_along_dim(negative)": (
        lambda: wg.take_along_dim(X, wg.tensor([[-1], [0]]), 1),
        lambda: wg.take_along_dim(X, wg.tensor([[2], [0]]), 1),
    ),
    "x[[slice, int]]": (lambda: X[[slice(None), 1]], lambda: X[:, 1]),
    "x[[None, int]]": (lambda: X[[None, 0]], lambda: X[None, 0]),
    "x[[tensor, slice]]": (lambda: X[[wg.tensor([0, 1]), slice(0, 2)]], lambda: X[wg.tensor([0, 1]), :2]),
    "x[[..., int]]": (lambda: X[[..., 0]], lambda: X[..., 0]),
    "repeat_interleave(output_size)": (
        lambda: wg.repeat_interleave(X, wg.tensor([1, 2]), 0, output_size=3),
        lambda: wg.repeat_interleave(X, wg.tensor([1, 2]), 0),
    ),
    "max(0-dim tensor)": (lambda: wg.max(X, wg.tensor(2)), lambda: wg.maximum(X, wg.tensor(2))),
    "min(0-dim tensor)": (lambda: X.min(wg.tensor(1)), lambda: wg.minimum(X, wg.tensor(1))),
    "rsub(alpha)": (lambda: wg.rsub(X, 3, alpha=2), lambda: 3 - 2 * X),
    "rsub(tensor, alpha)": (lambda: wg.rsub(X, X + 1, alpha=0.5), lambda: X + 1 - 0.5 * X),
    "gradient(spacing=None)": (lambda: wg.gradient(X, spacing=None, dim=None), lambda: wg.gradient(X)),
    "diff(n=0)": (lambda: wg.diff(X, 0, prepend=X), lambda: X),
    "mse_loss(size_average=None)": (
        lambda: F.mse_loss(X, X + 1, size_average=None, reduce=None, reduction="sum"),
        lambda: F.mse_loss(X, X + 1, reduction="sum"),
    ),
    "multi_margin_loss(0-dim)": (lambda: F.multi_margin_loss(wg.tensor(0.3), wg.tensor(0)), lambda: wg.tensor(0.0)),
    "multilabel_margin_loss(0-dim)": (
        lambda: F.multilabel_margin_loss(wg.tensor(0.3), wg.tensor(0)),
        lambda: wg.tensor(0.0),
    ),
    "linalg.vander(0-dim)": (lambda: wg.linalg.vander(wg.tensor(2.0), N=3), lambda: wg.tensor([[1.0, 2.0, 4.0]])),
    "tril_indices(device)": (lambda: wg.tril_indices(2, 2, device="cpu"), lambda: wg.tril_indices(2, 2)),
    "pad of whole numbers": (lambda: F.pad(wg.tensor([1, 2]), (1, 0), value=1.0), lambda: wg.tensor([1, 1, 2])),
    "lcm(0, 0)": (lambda: wg.lcm(wg.tensor([0, 4]), wg.tensor([0, 6])), lambda: wg.tensor([0, 12])),
    "kl_div": (lambda: wg.kl_div(X, X.exp()), lambda: F.kl_div(X, X.exp())),
    "max_pool2d": (lambda: wg.max_pool2d(X[None], 2), lambda: F.max_pool2d(X[None], 2)),
    "dropout": (lambda: wg.dropout(X, 0.5, False), lambda: X),
    "native_group_norm": (
        lambda: wg.native_group_norm(X, None, None, 2, 3, 1, 3, 1e-5)[0],
        lambda: F.group_norm(X, 3),
    ),
    "grid_sampler_2d": (
        lambda: wg.grid_sampler_2d(X[None, None], wg.zeros(1, 1, 1, 2, dtype=wg.float64), 1, 0, True),
        lambda: F.grid_sample(
            X[None, None], wg.zeros(1, 1, 1, 2, dtype=wg.float64), mode="nearest", align_corners=True
        ),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_spelling(name: str) -> None:
    found, wanted = (function() for function in PAIRS[name])
    several = isinstance(wanted, (tuple, list))
    for a, b in zip(found if several else [found], wanted if several else [wanted], strict=True):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_what_asks_for_something_is_refused() -> None:
    with pytest.raises(TypeError, match="size_average"):
        F.mse_loss(X, X, size_average=True)
    with pytest.raises(RuntimeError, match="output_size is 5, but the result has 3"):
        wg.repeat_interleave(X, wg.tensor([1, 2]), 0, output_size=5)


def test_unravel_index() -> None:
    flat = wg.tensor([[0, 5], [11, 7]])
    for ours, numpys in zip(wg.unravel_index(flat, (3, 4)), np.unravel_index(flat.numpy(), (3, 4)), strict=True):
        np.testing.assert_array_equal(ours.numpy(), numpys)


def test_broadcast_shapes() -> None:
    assert wg.broadcast_shapes((2,), (3, 1), 1) == (3, 2)
    assert wg.broadcast_shapes() == ()
    with pytest.raises(RuntimeError):
        wg.broadcast_shapes((2,), (3,))


def test_histogramdd_is_numpys() -> None:
    points = np.random.default_rng(0).normal(size=(50, 2))
    for density in (False, True):
        want, edges = np.histogramdd(points, bins=[4, 3], range=[(-1, 2), (-2, 1)], density=density)
        got = wg.histogramdd(wg.tensor(points), [4, 3], range=[-1, 2, -2, 1], density=density)
        np.testing.assert_allclose(got.hist.numpy(), want, rtol=1e-13)
        for a, b in zip(got.bin_edges, edges, strict=True):
            np.testing.assert_allclose(a.numpy(), b, rtol=1e-15)
    assert wg.histogramdd(wg.tensor(points), 3).hist.sum() == 50


def test_hash_tensor() -> None:
    x = wg.tensor([[1.5, -2.0], [0.0, 7.0]])
    bits = x.numpy().astype(np.float64).view(np.int64)
    assert wg.hash_tensor(x).item() == np.bitwise_xor.reduce(bits.ravel())
    np.testing.assert_array_equal(wg.hash_tensor(x, 1).numpy(), np.bitwise_xor.reduce(bits, 1))
    assert wg.hash_tensor(x, 0, keepdim=True).shape == (1, 2)
