"""What all families share: shapes, expansion, checks, what is computed when it is asked for, batches."""

import copy
import math

import pytest

import wengert as wg
from tests.python.distributions.families import CONTINUOUS, DISCRETE, ROWS, VECTORS, t
from wengert import distributions as D  # noqa: N812

BY_NAME = {row.name: row for row in ROWS}


@pytest.mark.parametrize("name", BY_NAME)
def test_shapes_and_expansion(name):
    d = BY_NAME[name]()
    event = d.event_shape
    for batch in ((), (2,), (3, 2), (0,)):
        e = d.expand(batch)
        assert type(e) is type(d)
        assert (e.batch_shape, e.event_shape) == (batch, event)
        x = e.sample((4,))
        assert x.shape == (4, *batch, *event)
        assert e.log_prob(x).shape == (4, *batch)
        assert e.support.check(x).all()
        for moment in ("mean", "mode", "variance", "stddev"):
            try:
                assert getattr(e, moment).shape == (*batch, *event)
            except NotImplementedError:
                assert moment in ("mean", "mode", "variance", "stddev")
        try:
            assert e.entropy().shape == batch
        except NotImplementedError as error:
            assert "Inhomogeneous" in str(error) or "closed form" in str(error)  # noqa: PT017
    assert d.expand((2,)).expand((3, 2)).batch_shape == (3, 2)
    with pytest.raises(RuntimeError):
        d.expand((2,)).expand((3,))


def test_expansion_copies_nothing():
    d = D.Normal(t(0.0), t(1.0)).expand((1000,))
    assert d.loc.stride() == (0,)
    e = D.MultivariateNormal(wg.zeros(3), wg.eye(3)).expand((1000,))
    assert e.scale_tril.stride()[0] == 0


def test_what_was_computed_is_not_taken_over_by_an_expanded_copy():
    d = D.Bernoulli(logits=t(0.3, 0.4))
    assert d.probs.shape == (2,)
    e = d.expand((5, 2))
    assert e.probs.shape == (5, 2)
    assert d.probs is d.probs


def test_what_is_computed_without_recording_has_its_derivative_later():
    logits = t(0.3).requires_grad_()
    d = D.Bernoulli(logits=logits)
    with wg.no_grad():
        d.sample()
    assert d.probs.requires_grad


@pytest.mark.parametrize("name", [r.name for r in CONTINUOUS + DISCRETE if r.name != "Categorical"])
def test_parameters_broadcast(name):
    row = BY_NAME[name]
    if len(row.parameters) < 2:
        return
    first, *others = row.parameters
    d = row.make(first.expand(3, 1), *[p.expand(2) for p in others])
    assert d.batch_shape == (3, 2)
    assert wg.allclose(d.log_prob(row.values[:1]), row().log_prob(row.values[:1]).expand(3, 2))


@pytest.mark.parametrize("name", BY_NAME)
def test_vmap(name):
    row = BY_NAME[name]
    if row.values is None:
        return
    stacked = [wg.stack([p, p]) for p in row.parameters]
    batch = wg.vmap(lambda *p: row.make(*p).log_prob(row.values))(*stacked)
    assert wg.allclose(batch[0], row().log_prob(row.values))
    assert wg.vmap(lambda *p: row.make(*p).sample((2,)), randomness="different")(*stacked).shape[:2] == (2, 2)
    values = wg.stack([row.values] * 3)
    assert wg.allclose(wg.vmap(row().log_prob)(values)[1], row().log_prob(row.values))


@pytest.mark.parametrize("name", [r.name for r in CONTINUOUS + VECTORS if r.name != "Multinomial"])
def test_every_family_with_differentiable_samples(name):
    row = BY_NAME[name]
    inputs = [p.clone().requires_grad_() for p in row.parameters]
    d = row.make(*inputs)
    assert not d.sample().requires_grad
    if d.has_rsample:
        grads = wg.autograd.grad(d.rsample((5,)).sum(), inputs, allow_unused=True)
        assert all(g is None or g.isfinite().all() for g in grads)
    else:
        with pytest.raises(NotImplementedError, match="no reparameterised samples"):
            d.rsample()


def test_numbers_have_the_dtype_of_the_tensors_beside_them():
    assert D.Normal(0, 1).loc.dtype == wg.float32
    assert D.Normal(t(0.0), 1).scale.dtype == wg.float64
    assert D.Binomial(wg.tensor(3), 0.5).sample().dtype == wg.float32
    assert D.Binomial(3, t(0.5)).total_count.dtype == wg.float64
    assert D.NegativeBinomial(wg.tensor(3), t(0.5)).total_count.dtype == wg.float64


def test_support_can_be_listed():
    assert D.Bernoulli(t(0.5, 0.2)).enumerate_support().tolist() == [[0, 0], [1, 1]]
    assert D.Bernoulli(t(0.5, 0.2)).enumerate_support(expand=False).shape == (2, 1)
    assert D.Categorical(t(0.5, 0.2, 0.3)).enumerate_support().tolist() == [0, 1, 2]
    assert D.OneHotCategorical(t(0.5, 0.5)).enumerate_support().tolist() == [[1, 0], [0, 1]]
    assert D.Binomial(2, t(0.5)).enumerate_support().tolist() == [0, 1, 2]
    with pytest.raises(NotImplementedError, match="Inhomogeneous"):
        D.Binomial(t(2.0, 3.0), 0.5).enumerate_support()
    with pytest.raises(NotImplementedError, match="closed form"):
        D.Normal(0.0, 1.0).enumerate_support()


WRONG = [
    (lambda: D.Normal(0.0, -1.0), "Expected parameter scale .* to satisfy the constraint GreaterThan"),
    (lambda: D.Normal(t(0.0, math.nan), 1.0), "Expected parameter loc"),
    (lambda: D.Normal("a", 1.0), "number or a Tensor"),
    (lambda: D.Exponential(1.0).log_prob(t(-1.0)), r"to be within the support \(GreaterThanEq"),
    (lambda: D.Normal(t(0.0, 1.0), 1.0).log_prob(t(0.0, 1.0, 2.0)), "not broadcastable with batch_shape"),
    (lambda: D.Dirichlet(t(1.0, 1.0)).log_prob(t(0.2, 0.3, 0.5)), "right-most size of value must match event_shape"),
    (lambda: D.Normal(0.0, 1.0).log_prob(0.0), "must be a Tensor"),
    (lambda: D.Bernoulli(), "Either `probs` or `logits`"),
    (lambda: D.Bernoulli(0.5, 0.5), "but not both"),
    (lambda: D.Geometric(0.0), "positive"),
    (lambda: D.Uniform(1.0, 1.0), "low >= high"),
    (lambda: D.Chi2(-1.0), "Expected parameter df"),
    (lambda: D.Wishart(1.5, wg.eye(3)), "greater than ndim - 1"),
    (lambda: D.MultivariateNormal(wg.zeros(2)), "Exactly one of"),
    (lambda: D.MultivariateNormal(wg.zeros(2), wg.eye(2), wg.eye(2)), "Exactly one of"),
    (lambda: D.LowRankMultivariateNormal(wg.zeros(2), wg.ones(3, 1), wg.ones(2)), "shape 2 x m"),
    (lambda: D.Independent(D.Normal(0.0, 1.0), 1), "Expected reinterpreted_batch_ndims"),
    (lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform()), "at least 1"),
    (
        lambda: D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(wg.zeros(2), 1.0)),
        "instance of distributions.Categorical",
    ),
    (lambda: D.MixtureSameFamily(D.Categorical(wg.ones(3)), D.Normal(wg.zeros(2), 1.0)), "does not equal"),
]


@pytest.mark.parametrize(("make", "message"), WRONG, ids=range(len(WRONG)))
def test_mistakes(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_checks_can_be_left_out():
    d = D.Normal(0.0, -1.0, validate_args=False)
    assert d.log_prob(t(0.0)).isnan()
    assert D.Exponential(1.0, validate_args=False).log_prob(t(-1.0)) == 1
    D.Distribution.set_default_validate_args(False)
    try:
        D.Normal(0.0, -1.0)
    finally:
        D.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match="True or False"):
        D.Distribution.set_default_validate_args(None)


def test_checks_inside_transforms():
    with pytest.raises(ValueError, match="Expected parameter scale"):
        wg.vmap(lambda s: D.Normal(0.0, s).log_prob(t(0.0)))(t(1.0, -1.0))
    with pytest.raises(ValueError, match="within the support"):
        wg.func.grad(lambda x: D.Exponential(1.0).log_prob(x))(t(-1.0))


def test_a_family_of_a_user():
    """A subclass as it is written for PyTorch: with its own sample and log_prob."""

    class Coin(D.Distribution):
        arg_constraints = {"p": D.constraints.unit_interval}  # noqa: RUF012
        support = D.constraints.boolean

        def __init__(self, p, validate_args=None):
            self.p = p
            super().__init__(p.shape, validate_args=validate_args)

        def sample(self, sample_shape=()):
            return wg.rand(self._extended_shape(sample_shape)) < self.p

        def log_prob(self, value):
            if self._validate_args:
                self._validate_sample(value)
            return wg.where(value == 1, self.p, 1 - self.p).log()

    coin = Coin(t(0.25))
    assert D.Independent(Coin(t(0.25, 0.5)), 1).log_prob(t(1.0, 1.0)).item() == pytest.approx(math.log(0.125))
    assert coin.sample((3,)).shape == (3,)
    assert coin.log_prob(t(1.0)).item() == math.log(0.25)
    with pytest.raises(ValueError, match="Expected parameter p"):
        Coin(t(2.0))
    for missing in ("entropy", "rsample", "enumerate_support"):
        with pytest.raises(NotImplementedError):
            getattr(coin, missing)()
    for missing in ("mean", "mode", "variance", "stddev"):
        with pytest.raises(NotImplementedError, match="no closed form"):
            getattr(coin, missing)


@pytest.mark.parametrize(
    "make",
    [
        lambda: D.HalfCauchy(-1.0, validate_args=True),
        lambda: D.HalfNormal(-1.0, validate_args=True),
        lambda: D.LogNormal(0.0, -1.0, validate_args=True),
        lambda: D.InverseGamma(-1.0, 1.0, validate_args=True),
        lambda: D.RelaxedBernoulli(t(1.0), t(2.0), validate_args=True),
    ],
)
def test_parameters_of_transformed_distributions_are_checked(make):
    with pytest.raises(ValueError, match="Expected parameter"):
        make()


def test_copies():
    d = D.Gamma(t(2.0), t(1.0))
    assert copy.deepcopy(d).log_prob(t(1.0)) == d.log_prob(t(1.0))


def test_printing():
    assert str(D.Normal(0.0, 1.0)) == "Normal(loc: 0.0, scale: 1.0)"
    assert str(D.Normal(wg.zeros(2), 1.0)) == "Normal(loc: wengert.Size([2]), scale: wengert.Size([2]))"
    assert str(D.Independent(D.Normal(wg.zeros(2), 1.0), 1)).startswith("Independent(Normal(")
    assert str(D.Chi2(2.0)) == "Chi2(df: 2.0)"
    assert "ExpTransform()" in str(D.TransformedDistribution(D.Normal(0.0, 1.0), D.ExpTransform()))
    assert str(D.constraints.interval(0, 1)) == "Interval(lower_bound=0, upper_bound=1)"


def test_old_names():
    assert D.Normal(0.0, 1.0).sample_n(3).shape == D.Normal(0.0, 1.0).rsample_n(3).shape == (3,)
    assert D.Normal(t(0.0), t(1.0)).perplexity().item() == pytest.approx(math.exp(0.5 + 0.5 * math.log(2 * math.pi)))
