"""Loops that choose a way by the sizes they meet, against NumPy on both sides of each switch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg

F = wg.nn.functional
RNG = np.random.default_rng(7)


def with_ties(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return RNG.integers(-3, 4, shape).astype(dtype)


# --- Short lines: sorted as numbers that hold key and index
@pytest.mark.parametrize("length", [1, 2, 3, 8, 15, 16, 17, 40])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int64, np.uint8, np.bool_])
def test_sort_is_stable_in_lines_of_any_length(length: int, dtype: Any) -> None:
    x = with_ties(50, length, 2, dtype=dtype)
    for descending in (False, True):
        values, indices = wg.sort(wg.tensor(x), dim=1, descending=descending, stable=True)
        key = -x.astype(np.int64) if descending else x.astype(np.int64)
        expected = np.argsort(key, axis=1, kind="stable")
        np.testing.assert_array_equal(indices.numpy(), expected)
        np.testing.assert_array_equal(values.numpy(), np.take_along_axis(x, expected, 1))


def test_sort_puts_nan_last_in_short_lines() -> None:
    x = wg.tensor([[np.nan, 2.0, -np.inf], [0.0, -0.0, np.nan]])
    assert wg.sort(x).indices.tolist() == [[2, 1, 0], [0, 1, 2]]
    assert wg.sort(x, descending=True).indices.tolist() == [[0, 1, 2], [2, 0, 1]]


@pytest.mark.parametrize("length", [1, 2, 3, 8, 9, 20])
def test_mode_is_the_smallest_of_the_most_frequent(length: int) -> None:
    x = with_ties(200, length)
    values, indices = wg.mode(wg.tensor(x), 1)
    for row, value, index in zip(x, values.numpy(), indices.numpy(), strict=True):
        numbers, counts = np.unique(row, return_counts=True)
        assert value == numbers[counts.argmax()]
        assert row[index] == value


# --- Searches of several numbers at once
@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 64, 5000])
@pytest.mark.parametrize("length", [0, 1, 2, 5, 1000])
def test_searches_find_what_numpy_finds(length: int, count: int) -> None:
    line = np.sort(RNG.integers(0, 300, length)).astype(np.float32)
    x = RNG.integers(-5, 305, count).astype(np.float32)
    x[3::11] = np.nan
    for side in ("left", "right"):
        found = wg.searchsorted(wg.tensor(line), wg.tensor(x), side=side)
        np.testing.assert_array_equal(found.numpy(), np.searchsorted(line, x, side))
    np.testing.assert_array_equal(wg.isin(wg.tensor(x), wg.tensor(line)).numpy(), np.isin(x, line))


# --- Series of indices, and short dimensions after them
@pytest.mark.parametrize("after", [(), (1,), (2,), (2, 3), (9,)])
@pytest.mark.parametrize(
    "index", [[3, 2, 1, 0, 1, 2, 3, 4, 5, 4, 3], [0, 0, 0, 0, 5, 5, 5, 5], [4, 1], [1, 3, 5, 0, 2]]
)
def test_index_select_of_series(index: list[int], after: tuple[int, ...]) -> None:
    x = RNG.normal(size=(7, 6, *after))
    at = wg.tensor(index)
    for array, t in ((x, wg.tensor(x)), (x[::2, ::-1], wg.tensor(x[::2, ::-1]))):
        np.testing.assert_array_equal(wg.index_select(t, 1, at).numpy(), array[:, index])
    strided = wg.tensor(x.swapaxes(0, -1).copy()).transpose(0, -1)
    np.testing.assert_array_equal(wg.index_select(strided, 1, at).numpy(), x[:, index])
    source = RNG.normal(size=(7, len(index), *after))
    expected = x.copy()
    np.add.at(expected, (slice(None), index), source)
    np.testing.assert_allclose(wg.index_add(wg.tensor(x), 1, at, wg.tensor(source)).numpy(), expected)


# --- Small matrices whose columns are reduced
@pytest.mark.parametrize("shape", [(600, 2, 3), (5, 40, 3, 2), (900, 2, 1), (100, 4, 15), (100, 5, 15), (33, 8, 2)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.bool_])
def test_columns_of_small_matrices(shape: tuple[int, ...], dtype: Any) -> None:
    x = with_ties(*shape, dtype=dtype)
    for array, t in ((x, wg.tensor(x)), (x[::2], wg.tensor(x)[::2])):
        np.testing.assert_array_equal(t.sum(-2).numpy(), array.sum(-2))
        np.testing.assert_array_equal(t.any(-2).numpy(), array.any(-2))
        if dtype == np.bool_:
            continue
        values, indices = t.max(-2)
        np.testing.assert_array_equal(values.numpy(), array.max(-2))
        np.testing.assert_array_equal(indices.numpy(), array.argmax(-2))
        np.testing.assert_array_equal(t.prod(-2).numpy(), array.prod(-2))
    if dtype in (np.float32, np.float64):
        np.testing.assert_allclose(wg.tensor(x).var(-2).numpy(), x.var(-2, ddof=1), rtol=1e-5, atol=1e-6)
        shares = wg.tensor(x, requires_grad=True)
        shares.max(-2).values.sum().backward()
        equal = x == x.max(-2, keepdims=True)
        np.testing.assert_allclose(shares.grad.numpy(), equal / equal.sum(-2, keepdims=True), rtol=1e-6)


# --- Windows
def pooled(x: np.ndarray, windows: list[tuple[slice, ...]]) -> tuple[np.ndarray, np.ndarray]:
    """The maximum of each window of a plane and where it stands: the last NaN, else the first of the greatest."""
    places = np.arange(x.size).reshape(x.shape)
    values, indices = [], []
    for window in windows:
        numbers, at = x[window].ravel(), places[window].ravel()
        nan = np.flatnonzero(np.isnan(numbers))
        best = nan[-1] if len(nan) else numbers.argmax()
        values.append(numbers[best])
        indices.append(at[best])
    return np.array(values), np.array(indices)


@pytest.mark.parametrize("shape", [(9, 18), (18, 17), (2, 70), (3, 200), (1, 500), (40, 41)])
@pytest.mark.parametrize("nan", [False, True])
def test_maxima_of_wide_windows(shape: tuple[int, int], nan: bool) -> None:
    x = with_ties(*shape)
    if nan:
        x[RNG.random(shape) < 0.02] = np.nan
    out = (1, 2)
    cut = [[(o * n // k, -(-(o + 1) * n // k)) for o in range(k)] for n, k in zip(shape, out, strict=True)]
    windows = [(slice(*y), slice(*z)) for y in cut[0] for z in cut[1]]
    values, indices = F.adaptive_max_pool2d_with_indices(wg.tensor(x)[None], out)
    for ours, expected in zip((values, indices), pooled(x, windows), strict=True):
        np.testing.assert_array_equal(ours.numpy().ravel(), expected)
    mean = F.adaptive_avg_pool2d(wg.tensor(x)[None].double(), out).numpy().ravel()
    np.testing.assert_allclose(mean, [x[w].astype(np.float64).mean() for w in windows])


@pytest.mark.parametrize("stride", [1, 2, 3, 4])
@pytest.mark.parametrize("length", [5, 64, 66, 260])
def test_maxima_of_many_windows(length: int, stride: int) -> None:
    x = with_ties(length)
    x[3] = np.nan
    windows = [(slice(s, s + 3),) for s in range(0, length - 2, stride)]
    values, indices = F.max_pool1d_with_indices(wg.tensor(x)[None], 3, stride)
    for ours, expected in zip((values, indices), pooled(x, windows), strict=True):
        np.testing.assert_array_equal(ours.numpy().ravel(), expected)


@pytest.mark.parametrize("shape", [(3, 2, 40, 40), (3, 2, 4, 4), (1, 1, 60, 60)])
def test_what_survives_of_unpooling_has_a_gradient(shape: tuple[int, ...]) -> None:
    indices = RNG.integers(0, 4 * shape[2] * shape[3], shape)
    x = wg.tensor(RNG.normal(size=shape), requires_grad=True)
    cotangent = RNG.normal(size=(*shape[:2], 2 * shape[2], 2 * shape[3]))
    F.max_unpool2d(x, wg.tensor(indices), 2).backward(wg.tensor(cotangent))
    flat, of_planes = indices.reshape(-1, shape[2] * shape[3]), cotangent.reshape(shape[0] * shape[1], -1)
    expected = np.zeros(flat.shape)
    for plane, (at, grad) in enumerate(zip(flat, of_planes, strict=True)):
        last = {place: k for k, place in enumerate(at)}
        expected[plane, list(last.values())] = grad[list(last.keys())]
    np.testing.assert_array_equal(x.grad.numpy().reshape(expected.shape), expected)


# --- Grids: values alone come from a kernel, what is differentiated from a composition
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("dims", [2, 3])
def test_samples_on_grids_do_not_depend_on_who_asks(mode: str, padding: str, corners: bool, dims: int) -> None:
    if mode == "bicubic" and dims == 3:
        pytest.skip("PyTorch has none either")
    image, points = RNG.normal(size=(2, 3, *(5, 4, 6)[:dims])), RNG.uniform(-2.5, 2.5, (2, *(7, 11, 3)[:dims], dims))
    points[0, 0, 0] = np.nan
    points[1, 1, 1, ..., 0] = np.inf
    for dtype in (np.float64, np.float32):
        t, at = wg.tensor(image.astype(dtype)), wg.tensor(points.astype(dtype))
        alone = F.grid_sample(t, at, mode, padding, corners)
        recorded = F.grid_sample(t.requires_grad_(), at, mode, padding, corners).detach()
        np.testing.assert_allclose(
            alone.numpy(), recorded.numpy(), rtol=1e-5, atol=1e-6 if dtype == np.float32 else 1e-12
        )


# --- Weights of convolutions with few filters
@pytest.mark.parametrize("filters", [1, 3, 4, 5, 8])
@pytest.mark.parametrize("width", [3, 16, 18, 33])
def test_gradients_of_few_filters(filters: int, width: int) -> None:
    x, w = RNG.normal(size=(2, 3, 5, width)), wg.tensor(RNG.normal(size=(filters, 3, 3, 3)), requires_grad=True)
    y = F.conv2d(wg.tensor(x), w, padding=1)
    cotangent = RNG.normal(size=tuple(y.shape))
    y.backward(wg.tensor(cotangent))
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    seen = np.lib.stride_tricks.sliding_window_view(padded, (5, width), axis=(2, 3))  # [N, C, 3, 3, H, W]
    np.testing.assert_allclose(w.grad.numpy(), np.einsum("nfhw,ncyxhw->fcyx", cotangent, seen), rtol=1e-10, atol=1e-10)
