"""What random numbers satisfy; their distributions are measured in tests/python/test_random.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import relation


def shape_of(arguments: dict[str, Any]) -> tuple[int, ...]:
    return tuple(arguments["size"]) if "size" in arguments else np.shape(arguments["self"])


def between(values: Any, low: float, high: float) -> bool:
    parts = [values.real, values.imag] if np.iscomplexobj(values) else [values]
    return all(bool(((low <= p) & (p < high)).all()) for p in parts)


@relation("rand", "rand_like", "uniform_")
def unit_interval(out: Any, **arguments: Any) -> None:
    assert out[0].shape == shape_of(arguments)
    assert between(out[0], 0, 1)


@relation("randn", "randn_like", "normal_", "normal_float_float", "log_normal_", "cauchy_", "exponential_")
def distinct(out: Any, **arguments: Any) -> None:
    assert out[0].shape == shape_of(arguments)
    assert len(np.unique(out[0])) == out[0].size


@relation("normal")
def around(out: Any, mean: Any, std: Any = 1) -> None:
    assert out[0].shape == np.broadcast_shapes(np.shape(mean), np.shape(std))
    assert (np.abs((out[0] - mean) / std) < 6).all()


@relation("randint", "randint_low", "randint_like", "randint_like_low", "random_to_", "random_from_")
def whole_numbers(out: Any, **arguments: Any) -> None:
    low = arguments.get("low", arguments.get("from", 0))
    assert out[0].shape == shape_of(arguments)
    assert between(out[0], low, arguments.get("high", arguments.get("to")))
    assert (out[0] == np.floor(out[0])).all()


@relation("random_", "geometric_")
def positive(out: Any, self: Any, p: float = 0) -> None:
    assert (out[0] == np.floor(out[0])).all()
    assert (out[0] >= (p > 0)).all()


@relation("randperm")
def permutation(out: Any, n: int) -> None:
    assert sorted(out[0]) == list(range(n))


@relation("bernoulli", "bernoulli_p", "bernoulli_", "bernoulli_tensor_")
def zeros_and_ones(out: Any, self: Any, p: Any = None) -> None:
    assert out[0].shape == self.shape
    assert np.isin(out[0], (0, 1)).all()


@relation("multinomial")
def indices(out: Any, self: Any, num_samples: int, replacement: bool = False) -> None:
    assert out[0].shape == (*self.shape[:-1], num_samples)
    assert between(out[0], 0, self.shape[-1])
    assert replacement or all(len(set(row)) == num_samples for row in out[0].reshape(-1, num_samples))
