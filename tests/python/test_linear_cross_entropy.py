"""linear_cross_entropy: the loss of cross_entropy of a linear map, whose scores are not held."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.autograd import grad
from wengert.autograd.profiler import profile

F = wg.nn.functional
OPTIONS: list[dict[str, Any]] = [
    {},
    {"reduction": "sum"},
    {"reduction": "none"},
    {"ignore_index": 2},
    {"label_smoothing": 0.2},
    {"label_smoothing": 0.2, "ignore_index": 2, "weighted": True},
    {"weighted": True},
]


def problem(rows: int, classes: int, features: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    x = wg.tensor(rng.normal(size=(rows, features)), requires_grad=True)
    w = wg.tensor(rng.normal(size=(classes, features)), requires_grad=True)
    b = wg.tensor(rng.normal(size=classes), requires_grad=True)
    return x, w, b, wg.tensor(rng.integers(0, classes, rows)), wg.tensor(rng.uniform(0.5, 2, classes))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_equals_cross_entropy(options: dict[str, Any]) -> None:
    x, w, b, target, weight = problem(6, 4, 3)
    options = dict(options)
    if options.pop("weighted", False):
        options["weight"] = weight
    ours = F.linear_cross_entropy(x, w, target, linear_bias=b, **options)
    plain = F.cross_entropy(F.linear(x, w, b), target, **options)
    np.testing.assert_allclose(ours.detach().numpy(), plain.detach().numpy(), rtol=1e-13)
    first = [grad(loss.square().sum(), (x, w, b), create_graph=True) for loss in (ours, plain)]
    for got, want in zip(*first, strict=True):
        np.testing.assert_allclose(got.detach().numpy(), want.detach().numpy(), rtol=1e-11, atol=1e-13)
    second = [grad(sum(g.square().sum() for g in gs), (x, w, b)) for gs in first]
    for got, want in zip(*second, strict=True):
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-10, atol=1e-12)


def test_blocks_give_what_all_rows_give() -> None:
    """More scores than are held at a time: 300,000 classes and nine rows are three blocks."""
    x, w, b, target, _ = problem(9, 300_000, 2)
    ours = F.linear_cross_entropy(x, w, target, linear_bias=b)
    plain = F.cross_entropy(F.linear(x, w, b), target)
    np.testing.assert_allclose(ours.item(), plain.item(), rtol=1e-12)
    for got, want in zip(grad(ours, (x, w, b)), grad(plain, (x, w, b)), strict=True):
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-9, atol=1e-15)


def test_scores_are_not_held() -> None:
    x, w, _, target, _ = problem(2000, 4000, 2)
    scores = 2000 * 4000 * 8
    with profile(profile_memory=True) as prof:
        F.linear_cross_entropy(x, w, target).backward()
    largest = max(event.cpu_memory_usage for event in prof.function_events)
    assert largest < scores / 20


def test_far_apart_scores() -> None:
    x = wg.tensor([[1000.0, 0.0]], requires_grad=True)
    loss = F.linear_cross_entropy(x, wg.eye(2), wg.tensor([1]))
    assert loss.item() == 1000
    loss.backward()
    assert x.grad.tolist() == [[1, -1]]
