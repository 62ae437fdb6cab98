"""Transforms beside PyTorch's, and distributions that are made of others: mixtures and transformed ones."""

import numpy as np
import pytest

import wengert as wg
from tests.differential.test_distributions import assert_same, in_double, outcome, values_of  # noqa: F401
from wengert import distributions as ours

torch = pytest.importorskip("torch")
theirs = torch.distributions

COMPOSED = {
    "mixture": lambda m, b: m.MixtureSameFamily(
        m.Categorical(b.tensor([0.3, 0.7])), m.Normal(b.tensor([-1.0, 2.0]), b.tensor([1.0, 0.5]))
    ),
    "mixture of vectors": lambda m, b: m.MixtureSameFamily(
        m.Categorical(logits=b.tensor([[0.3, 0.7]] * 3)), m.Independent(m.Normal(b.ones(3, 2, 4), 1.0), 1)
    ),
    "affine": lambda m, b: m.TransformedDistribution(m.Normal(0.0, 1.0), m.AffineTransform(b.tensor([1.0, 2.0]), -3.0)),
    "exp of affine": lambda m, b: m.TransformedDistribution(
        m.Normal(b.zeros(2), 1.0), [m.AffineTransform(1.0, 0.5), m.ExpTransform()]
    ),
    "stick breaking": lambda m, b: m.TransformedDistribution(m.Normal(b.zeros(3, 2), 1.0), m.StickBreakingTransform()),
    "independent": lambda m, b: m.TransformedDistribution(
        m.Independent(m.Normal(b.zeros(3, 2), 1.0), 1), m.IndependentTransform(m.TanhTransform(), 1)
    ),
    "reshaped": lambda m, b: m.TransformedDistribution(m.Normal(b.zeros(5, 6), 1.0), m.ReshapeTransform((6,), (2, 3))),
    "vector as matrix": lambda m, b: m.TransformedDistribution(m.Normal(b.zeros(5, 3), 1.0), m.CorrCholeskyTransform()),
}


@pytest.mark.parametrize("name", COMPOSED)
def test_composed(name):
    own, their = COMPOSED[name](ours, wg), COMPOSED[name](theirs, torch)
    for a, b in ((own, their), (own.expand((4, *own.batch_shape)), their.expand((4, *their.batch_shape)))):
        assert (tuple(a.batch_shape), tuple(a.event_shape)) == (tuple(b.batch_shape), tuple(b.event_shape))
        assert tuple(a.sample((2,)).shape) == tuple(b.sample((2,)).shape)
        value = values_of(b, (2,))
        assert_same(a.log_prob(wg.tensor(value)), b.log_prob(torch.tensor(value)), 1e-4, 1e-4)
        for method in ("cdf", "icdf"):
            at = torch.rand(2, *b.batch_shape)
            expected = outcome(lambda b=b, method=method, at=at: getattr(b, method)(at)) if not b.event_shape else None
            if expected is not None:
                assert_same(getattr(a, method)(wg.tensor(at.numpy())), expected, 1e-5, 1e-5)
        assert str(a.support).replace("wengert", "torch") == str(b.support)


TRANSFORMS = {
    "ExpTransform": ((), (4,)),
    "PowerTransform": ((-1.5,), (4,)),
    "SigmoidTransform": ((), (4,)),
    "SoftplusTransform": ((), (4,)),
    "TanhTransform": ((), (4,)),
    "AbsTransform": ((), (4,)),
    "AffineTransform": ((0.5, -2.0), (4,)),
    "SoftmaxTransform": ((), (2, 4)),
    "StickBreakingTransform": ((), (2, 4)),
    "CorrCholeskyTransform": ((), (2, 6)),
    "LowerCholeskyTransform": ((), (2, 3, 3)),
    "PositiveDefiniteTransform": ((), (2, 3, 3)),
    "ReshapeTransform": (((2, 2), (4,)), (3, 2, 2)),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name):
    arguments, shape = TRANSFORMS[name]
    a, b = getattr(ours, name)(*arguments), getattr(theirs, name)(*arguments)
    x = np.random.default_rng(0).normal(size=shape)
    x = np.abs(x) if name == "PowerTransform" else x
    y, z = a(wg.tensor(x)), b(torch.tensor(x))
    assert_same(y, z, 1e-8)
    assert_same(a.inv(y), b.inv(z), 1e-7, 1e-8)
    if b.bijective:
        assert_same(a.log_abs_det_jacobian(wg.tensor(x), y), b.log_abs_det_jacobian(torch.tensor(x), z), 1e-7, 1e-8)
    assert a.bijective == b.bijective
    assert (a.domain.event_dim, a.codomain.event_dim) == (b.domain.event_dim, b.codomain.event_dim)
    assert tuple(a.forward_shape(wg.Size(shape))) == tuple(b.forward_shape(torch.Size(shape))) == tuple(y.shape)
    assert tuple(a.inverse_shape(y.shape)) == tuple(b.inverse_shape(z.shape))
    assert outcome(lambda: int(a.sign)) == outcome(lambda: int(b.sign))
