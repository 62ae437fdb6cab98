"""Elementwise operations on tensors that lie in memory in every way, large enough to be computed tile by tile.

The table's tests of layouts have tensors of a few elements. NumPy is the reference: what is computed has one rounding.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import wengert as wg

SHAPES = [(40, 64), (700, 3), (3, 700), (300, 2, 2), (9, 5, 31), (2, 33, 300), (17, 257), (65, 100), (6, 1, 5, 40)]
SHAPES += [(50, 2, 3, 2), (20, 2, 9, 3)]
DTYPES = ["float32", "float64", "complex128", "uint8", "int16"]


def permuted(a: np.ndarray) -> Iterator[np.ndarray]:
    """The same elements with their dimensions in memory in every order."""
    for order in itertools.permutations(range(a.ndim)):
        yield np.ascontiguousarray(a.transpose(order)).transpose(np.argsort(order))


def part(a: np.ndarray) -> np.ndarray:
    """The same elements as every second one of rows that are longer."""
    wider = np.zeros((*a.shape[:-1], 2 * a.shape[-1] + 3), a.dtype)
    wider[..., 1 : 2 * a.shape[-1] : 2] = a
    return wider[..., 1 : 2 * a.shape[-1] : 2]


def padded(a: np.ndarray) -> np.ndarray:
    wider = np.zeros((*a.shape[:-1], a.shape[-1] + 3), a.dtype)
    wider[..., : a.shape[-1]] = a
    return wider[..., : a.shape[-1]]


def layouts(a: np.ndarray) -> Iterator[np.ndarray]:
    yield from permuted(a)
    yield part(a)
    yield padded(a)
    for d in range(a.ndim):
        yield a[(slice(None),) * d + (slice(0, 1),)]


def numbers(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    whole = rng.integers(1, 100, shape)
    if "int" in dtype:
        return whole.astype(dtype)
    real = rng.normal(size=shape)
    return (real + 1j * whole if "complex" in dtype else real).astype(dtype)


def equal(result: Any, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(result.numpy(), expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_operands_in_every_layout(shape: tuple[int, ...], dtype: str) -> None:
    a, b = numbers(shape, dtype, 0), numbers(shape, dtype, 1)
    for x in layouts(a):
        for y in layouts(b):
            equal(wg.from_numpy(x) + wg.from_numpy(y), x + y)
            equal(wg.where(wg.from_numpy(x.real > 1), wg.from_numpy(y), 0), np.where(x.real > 1, y, 0))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_results_in_every_layout(shape: tuple[int, ...]) -> None:
    a, b = numbers(shape, "float32", 0), numbers(shape, "float32", 1)
    for out in (*permuted(np.zeros_like(a)), part(np.zeros_like(a)), padded(np.zeros_like(a))):
        for y in layouts(b):
            equal(wg.sub(wg.from_numpy(a), wg.from_numpy(y), out=wg.from_numpy(out)), a - y)
            out[...] = a
            equal(wg.from_numpy(out).mul_(wg.from_numpy(y)), a * y)


@pytest.mark.parametrize(
    "function", [lambda t: t.exp(), lambda t: t.double(), lambda t: t.clone()], ids=["exp", "cast", "clone"]
)
def test_threads_do_not_change_a_bit(function: Callable[[Any], Any]) -> None:
    before = wg.get_num_threads()
    wide = wg.rand(700, 1, 63) * wg.ones(700, 60, 63)
    try:
        for t in (
            wg.rand(9000, 63)[:, :61],
            wg.rand(9000, 1).expand(9000, 100),
            wg.rand(1001, 997).t(),
            wide[:, ::2],
            wide.permute(1, 2, 0),
        ):
            results = []
            for threads in (1, 3):
                wg.set_num_threads(threads)
                results.append((function(t) + t).numpy().tobytes())
            assert results[0] == results[1]
    finally:
        wg.set_num_threads(before)
