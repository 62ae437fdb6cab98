"""Constraints beside PyTorch's, and the transforms that lead to them."""

import inspect

import numpy as np
import pytest

import wengert as wg
from tests.differential.test_distributions import FACTOR, MATRIX, assert_same, in_double  # noqa: F401
from wengert import distributions as ours

torch = pytest.importorskip("torch")
theirs = torch.distributions

CONSTRAINTS = {
    "real": lambda c: c.real,
    "vector": lambda c: c.real_vector,
    "positive": lambda c: c.positive,
    "nonnegative": lambda c: c.nonnegative,
    "greater": lambda c: c.greater_than(2.0),
    "less": lambda c: c.less_than(2.0),
    "unit": lambda c: c.unit_interval,
    "interval": lambda c: c.interval(-1.0, 3.0),
    "half open": lambda c: c.half_open_interval(-1.0, 3.0),
    "simplex": lambda c: c.simplex,
    "cat": lambda c: c.cat([c.positive, c.real], -1, [1, 2]),
    "stack": lambda c: c.stack([c.positive, c.real, c.unit_interval], -1),
}


@pytest.mark.parametrize("registry", ["biject_to", "transform_to"])
@pytest.mark.parametrize("name", CONSTRAINTS)
def test_registries(registry, name):
    a = getattr(ours, registry)(CONSTRAINTS[name](ours.constraints))
    b = getattr(theirs, registry)(CONSTRAINTS[name](theirs.constraints))
    x = np.random.default_rng(0).normal(size=(5, 3))
    assert_same(a(wg.tensor(x)), b(torch.tensor(x)), 1e-6)


@pytest.mark.parametrize("name", theirs.constraints.__all__)
def test_constraints_agree(name):
    own, their = getattr(ours.constraints, name), getattr(theirs.constraints, name)
    if inspect.isclass(their) or inspect.isfunction(their) or name in ("dependent", "dependent_property"):
        return
    assert (str(own), own.event_dim, own.is_discrete) == (str(their), their.event_dim, their.is_discrete)
    matrices = np.stack([np.eye(3), MATRIX, -MATRIX, FACTOR, np.triu(MATRIX), np.full((3, 3), 1 / 3), np.zeros((3, 3))])
    # One by one: PyTorch skips a check of all matrices if another one is not symmetric.
    a = own.check(wg.tensor(matrices)) if name != "one_hot" else wg.stack([own.check(wg.tensor(m)) for m in matrices])
    b = torch.stack([their.check(torch.tensor(m)) for m in matrices])
    assert a.tolist() == b.tolist()
