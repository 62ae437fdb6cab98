"""Divergences beside PyTorch's: the same pairs of families, with the same values."""

import itertools

import numpy as np
import pytest

import wengert as wg
from tests.differential.test_distributions import CASES, MATRIX, assert_same, in_double, pair  # noqa: F401
from wengert import distributions as ours

torch = pytest.importorskip("torch")
theirs = torch.distributions

SECOND = {
    "Normal": {"loc": np.array([0.1, -1.0]), "scale": np.array([0.7, 0.6])},
    "Beta": {"concentration1": np.array([2.5, 1.0]), "concentration0": np.array([1.0, 1.7])},
    "Binomial": {"total_count": 5, "probs": np.array([0.4, 0.6])},
    "Pareto": {"scale": np.array([0.4, 2.0]), "alpha": np.array([1.5, 1.7])},
    "Uniform": {"low": np.array([0.1, -4.0]), "high": np.array([3.5, 1.7])},
    "LowRankMultivariateNormal": {"loc": np.array([0.5, 1.0, 0.0]), "cov_factor": MATRIX[:, 1:],
                                  "cov_diag": np.array([0.5, 1.0, 2.0])},
}  # fmt: skip
KL_PAIRS = sorted({(p.__name__, q.__name__) for p, q in theirs.kl._KL_REGISTRY})


def examples_of(name):
    found = [parameters for family, parameters in CASES if family == name]
    return [*found, *([SECOND[name]] if name in SECOND else [])]


@pytest.mark.parametrize(("p", "q"), KL_PAIRS, ids=["-".join(pair) for pair in KL_PAIRS])
def test_divergences(p, q):
    compared = 0
    for first, second in itertools.product(examples_of(p), examples_of(q)):
        (a, b), (c, d) = pair(p, first), pair(q, second)
        try:
            expected = theirs.kl_divergence(b, d)
        except (NotImplementedError, RuntimeError):  # the latter: batches that it does not broadcast
            continue
        compared += 1
        assert_same(ours.kl_divergence(a, c), expected, 1e-7, 1e-9)
    assert compared or p in ("ExponentialFamily", "Independent", "TransformedDistribution")


def test_as_many_divergences_as_there():
    from wengert.distributions._kl.registry import _FORMULAS

    assert {(p.__name__, q.__name__) for p, q in _FORMULAS} == set(KL_PAIRS)


def test_divergences_of_composed_distributions():
    for wrap in (
        lambda m, b: m.Independent(m.Normal(b.tensor([0.0, 1.0]), 1.0), 1),
        lambda m, b: m.LogNormal(b.tensor([0.0, 1.0]), 2.0),
        lambda m, b: m.TransformedDistribution(m.Exponential(b.tensor([1.0, 2.0])), [m.AffineTransform(1.0, 2.0)]),
        lambda m, b: m.Chi2(b.tensor([1.0, 2.0])),
    ):
        p, their_p = wrap(ours, wg), wrap(theirs, torch)
        q, their_q = p.expand((3, *p.batch_shape)), their_p.expand((3, *their_p.batch_shape))
        assert_same(ours.kl_divergence(p, q), theirs.kl_divergence(their_p, their_q), 1e-5, 1e-6)
