"""Initialisation: distributions by their moments and bounds, matrices by their properties."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import wengert as wg

init = wg.nn.init
W = (60, 30, 2)  # fan_in 60, fan_out 120

MOMENTS: list[tuple[str, Any, float, float]] = [  # function, its arguments, standard deviation, bound
    ("uniform_", {"a": -2.0, "b": 2.0}, 2 / math.sqrt(3), 2),
    ("normal_", {"std": 0.5}, 0.5, math.inf),
    ("xavier_uniform_", {"gain": 2.0}, 2 * math.sqrt(2 / 180), 2 * math.sqrt(6 / 180)),
    ("xavier_normal_", {}, math.sqrt(2 / 180), math.inf),
    ("kaiming_uniform_", {}, math.sqrt(2 / 60), math.sqrt(6 / 60)),
    ("kaiming_uniform_", {"a": 1.0, "mode": "fan_out"}, math.sqrt(1 / 120), math.sqrt(3 / 120)),
    ("kaiming_normal_", {"nonlinearity": "relu", "mode": "fan_out"}, math.sqrt(2 / 120), math.inf),
    ("trunc_normal_", {"std": 0.5, "a": -0.5, "b": 0.5}, 0.5 * 0.53956, 0.5),
]


@pytest.mark.parametrize(("name", "arguments", "std", "bound"), MOMENTS, ids=[f"{m[0]}-{m[1]}" for m in MOMENTS])
def test_moments(name: str, arguments: Any, std: float, bound: float) -> None:
    wg.manual_seed(0)
    tensor = wg.nn.Parameter(wg.empty(W))
    assert getattr(init, name)(tensor, **arguments) is tensor
    assert tensor.grad_fn is None
    assert tensor.std().item() == pytest.approx(std, rel=0.06)
    assert abs(tensor.mean().item()) < 0.1 * std
    assert tensor.abs().max().item() <= bound * (1 + 1e-6)


def test_generators() -> None:
    draws = [init.orthogonal_(wg.empty(3, 3), generator=wg.Generator().manual_seed(3)) for _ in range(2)]
    assert bool((draws[0] == draws[1]).all())


@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (5, 3), (6, 2, 2)])
def test_orthogonal(shape: tuple[int, ...]) -> None:
    m = init.orthogonal_(wg.empty(*shape, dtype=wg.float64), gain=2.0).reshape(shape[0], -1).numpy() / 2
    small = m @ m.T if m.shape[0] <= m.shape[1] else m.T @ m
    np.testing.assert_allclose(small, np.eye(min(m.shape)), atol=1e-12)


def test_constants_and_patterns() -> None:
    assert init.constant_(wg.empty(2), 3.0).tolist() == [3, 3]
    assert init.ones_(wg.empty(2)).tolist() == [1, 1]
    assert init.zeros_(wg.empty(2)).tolist() == [0, 0]
    assert init.eye_(wg.empty(2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]
    x = wg.randn(1, 4, 5)
    weight = init.dirac_(wg.empty(4, 2, 3), groups=2)
    assert bool((wg.nn.functional.conv1d(x, weight, padding=1, groups=2) == x).all())
    sparse = init.sparse_(wg.empty(10, 4), 0.25)
    assert (sparse == 0).sum(0).tolist() == [3, 3, 3, 3]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: init.calculate_gain("swish"), "Unsupported nonlinearity swish"),
        (lambda: init.calculate_gain("leaky_relu", "a"), "negative_slope a not a valid number"),
        (lambda: init.kaiming_uniform_(wg.empty(2)), "fewer than 2 dimensions"),
        (lambda: init.kaiming_uniform_(wg.empty(2, 2), mode="fan"), "Mode fan not supported"),
        (lambda: init.eye_(wg.empty(2)), "Only tensors with 2 dimensions are supported"),
        (lambda: init.dirac_(wg.empty(2, 2)), "Only tensors with 3, 4, or 5 dimensions"),
        (lambda: init.dirac_(wg.empty(3, 2, 1), groups=2), "dim 0 must be divisible by groups"),
        (lambda: init.orthogonal_(wg.empty(2)), "2 or more dimensions"),
        (lambda: init.sparse_(wg.empty(2), 0.1), "2 dimensions"),
    ],
    ids=range(9),
)
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_old_names_and_empty_tensors() -> None:
    with pytest.warns(FutureWarning, match="in favor of `nn.init.constant_`"):
        assert init.constant(wg.empty(1), 2.0).item() == 2
    with pytest.warns(UserWarning, match="no-op"):
        init.kaiming_normal_(wg.empty(0, 2))
