"""Optimizers step for step against PyTorch's, on a small problem with several parameters."""

import numpy as np
import pytest

import wengert as wg
from wengert import optim

torch = pytest.importorskip("torch")

CASES = [
    ("SGD", {"lr": 0.05}),
    ("SGD", {"lr": 0.05, "momentum": 0.9}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "dampening": 0.2, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.001, "momentum": 0.5, "maximize": True}),
    ("Adam", {"lr": 0.05}),
    ("Adam", {"lr": 0.05, "betas": (0.8, 0.95), "eps": 1e-4, "weight_decay": 0.01}),
    ("Adam", {"lr": 0.05, "betas": (0.5, 0.5), "amsgrad": True}),
    ("Adam", {"lr": 0.001, "amsgrad": True, "maximize": True, "weight_decay": 0.01}),
]


def make(backend, optimizers, name, hyperparameters):
    """Two parameters and an optimizer over them, equal in both backends."""
    generator = np.random.default_rng(0)
    arrays = generator.standard_normal((4, 3)), generator.standard_normal(3)
    params = [backend.tensor(array, dtype=backend.float64, requires_grad=True) for array in arrays]
    return params, getattr(optimizers, name)(params, **hyperparameters)


def advance(params, optimizer, steps):
    weight, bias = params
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ((weight * weight).sum(1) - 1).pow(2).sum() + (weight + bias).tanh().sum()
        loss.backward()
        optimizer.step()


def assert_same(ours, theirs):
    for own, their in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(own.detach().numpy(), their.detach().numpy(), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(("name", "hyperparameters"), CASES)
def test_same_path(name, hyperparameters):
    ours, own_optimizer = make(wg, optim, name, hyperparameters)
    theirs, their_optimizer = make(torch, torch.optim, name, hyperparameters)
    for _ in range(4):
        advance(ours, own_optimizer, steps=5)
        advance(theirs, their_optimizer, steps=5)
        assert_same(ours, theirs)


@pytest.mark.parametrize(("name", "hyperparameters"), CASES)
def test_same_state_dict(name, hyperparameters):
    ours, own_optimizer = make(wg, optim, name, hyperparameters)
    theirs, their_optimizer = make(torch, torch.optim, name, hyperparameters)
    advance(ours, own_optimizer, steps=3)
    advance(theirs, their_optimizer, steps=3)
    own, their = own_optimizer.state_dict(), their_optimizer.state_dict()

    for own_group, their_group in zip(own["param_groups"], their["param_groups"], strict=True):
        assert own_group == {key: their_group[key] for key in own_group}
    stored = {
        position: {key: value for key, value in entries.items() if value is not None}
        for position, entries in their["state"].items()
    }
    for position, entries in own["state"].items():
        assert list(entries) == list(stored[position])
        assert_same(entries.values(), stored[position].values())
    assert [p for p in stored if stored[p]] == list(own["state"])
