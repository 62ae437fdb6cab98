"""Divergences against quadrature, sums and the mean over samples; which formula is taken."""

import math

import numpy as np
import pytest
from scipy import integrate

import wengert as wg
from tests.python.distributions.families import MATRIX, t
from wengert import distributions as D  # noqa: N812
from wengert.distributions._kl.registry import _FORMULAS

# Two distributions of each family of numbers, with supports that fit where they can.
PAIRS = {
    D.Normal: (D.Normal(t(0.3), t(0.8)), D.Normal(t(-0.2), t(1.3))),
    D.HalfNormal: (D.HalfNormal(t(0.8)), D.HalfNormal(t(1.3))),
    D.Cauchy: (D.Cauchy(t(0.3), t(0.8)), D.Cauchy(t(-0.2), t(1.3))),
    D.Laplace: (D.Laplace(t(0.3), t(0.8)), D.Laplace(t(-0.2), t(1.3))),
    D.Gumbel: (D.Gumbel(t(0.3), t(0.8)), D.Gumbel(t(-0.2), t(1.3))),
    D.Exponential: (D.Exponential(t(0.8)), D.Exponential(t(1.3))),
    D.Gamma: (D.Gamma(t(2.8), t(1.2)), D.Gamma(t(1.3), t(0.7))),
    D.Beta: (D.Beta(t(1.8), t(2.5)), D.Beta(t(1.3), t(1.1))),
    D.Pareto: (D.Pareto(t(1.2), t(4.5)), D.Pareto(t(0.7), t(2.0))),
    D.Uniform: (D.Uniform(t(0.2), t(0.9)), D.Uniform(t(-0.3), t(1.4))),
    D.ContinuousBernoulli: (D.ContinuousBernoulli(t(0.3)), D.ContinuousBernoulli(t(0.8))),
    D.Bernoulli: (D.Bernoulli(t(0.3)), D.Bernoulli(logits=t(0.8))),
    D.Binomial: (D.Binomial(6, t(0.3)), D.Binomial(6, t(0.8))),
    D.Geometric: (D.Geometric(t(0.3)), D.Geometric(t(0.8))),
    D.Poisson: (D.Poisson(t(2.3)), D.Poisson(t(0.8))),
}  # fmt: skip
SPECIAL = {(D.Uniform, D.Pareto): (D.Uniform(t(1.2), t(1.9)), D.Pareto(t(0.7), t(2.0)))}
NUMBERS = [pair for pair in _FORMULAS if pair[0] in PAIRS and pair[1] in PAIRS]


def ends(d):
    low, high = -math.inf, math.inf
    support = d.support
    low = float(getattr(support, "lower_bound", low))
    return low, float(getattr(support, "upper_bound", high))


def exact(p, q):
    """Return the divergence by quadrature or by a sum."""
    if p.support.is_discrete:
        top = {"Bernoulli": 2, "Binomial": 7}.get(type(p).__name__, 200)
        x = wg.arange(top, dtype=wg.float64)
        first, second = p.log_prob(x), q.log_prob(x) if top < 200 or type(q) is type(p) else None
        return (first.exp() * (first - second)).sum().item()

    def integrand(x):
        first = p.log_prob(t(x)).item()
        return math.exp(first) * (first - q.log_prob(t(x)).item()) if first > -700 else 0.0

    low, high = ends(p)
    middle = p.sample().item() if math.isinf(low) else (low + min(high, low + 1)) / 2
    return sum(integrate.quad(integrand, *part, limit=400)[0] for part in ((low, middle), (middle, high)))


def contained(p, q):
    """Whether q has values wherever p has."""
    if (type(p), type(q)) in [(D.Poisson, D.Bernoulli), (D.Poisson, D.Binomial)]:
        return False
    (low, high), (least, most) = ends(p), ends(q)
    return p.support.is_discrete or (least <= low and high <= most)


@pytest.mark.parametrize("pair", NUMBERS, ids=lambda pair: f"{pair[0].__name__}-{pair[1].__name__}")
def test_numbers(pair):
    wg.manual_seed(0)
    p, q = SPECIAL.get(pair, (PAIRS[pair[0]][0], PAIRS[pair[1]][1]))
    actual = D.kl_divergence(p, q).item()
    assert actual >= 0
    if contained(p, q):
        q = q if q._validate_args is False else q.expand(q.batch_shape)
        q._validate_args = False
        assert actual == pytest.approx(exact(p, q), rel=1e-6, abs=1e-8)
    else:
        assert actual == math.inf


@pytest.mark.parametrize("pair", NUMBERS, ids=lambda pair: f"{pair[0].__name__}-{pair[1].__name__}")
def test_equal_distributions_do_not_diverge(pair):
    if pair[0] is pair[1]:
        p = PAIRS[pair[0]][0]
        assert abs(D.kl_divergence(p, p).item()) < 1e-14


def normals():
    covariance = t(MATRIX)
    full = D.MultivariateNormal(t(0.5, -1.0, 0.0), covariance)
    low = D.LowRankMultivariateNormal(t(0.1, 0.0, 0.3), t([[1.0], [2.0], [0.5]]), t(0.5, 1.0, 2.0))
    return {
        "full": full, "low": low, "batch": full.expand((4,)),
        "other": D.MultivariateNormal(t([[0.0, 1.0, 2.0]] * 4), wg.eye(3).double() * 2),
        "low batch": D.LowRankMultivariateNormal(t([[0.0, 1.0, 2.0]] * 4), wg.ones(4, 3, 2).double(), t(0.5, 1.0, 2.0)),
    }  # fmt: skip


@pytest.mark.parametrize("first", ["full", "low", "batch", "other", "low batch"])
@pytest.mark.parametrize("second", ["full", "low", "batch", "other", "low batch"])
def test_normal_vectors(first, second):
    p, q = normals()[first], normals()[second]
    difference = q.mean - p.mean
    precision = q.precision_matrix
    trace = (precision @ p.covariance_matrix).diagonal(0, -2, -1).sum(-1)
    distance = (difference.unsqueeze(-2) @ precision @ difference.unsqueeze(-1)).squeeze(-1).squeeze(-1)
    expected = 0.5 * (q.covariance_matrix.logdet() - p.covariance_matrix.logdet() + trace + distance - 3)
    actual = D.kl_divergence(p, q)
    assert actual.shape == wg.broadcast_shapes(p.batch_shape, q.batch_shape)
    assert wg.allclose(actual, expected.expand(actual.shape))


MONTE_CARLO = {
    "Dirichlet": (D.Dirichlet(t(1.5, 3.0, 0.5)), D.Dirichlet(t(1.0, 1.0, 1.5))),
    "Wishart": (D.Wishart(t(4.5), t(MATRIX)), D.Wishart(t(6.0), wg.eye(3).double())),
    "LogNormal": (D.LogNormal(t(0.1), t(1.0)), D.LogNormal(t(0.5), t(1.5))),
    "Independent": (D.Independent(D.Gamma(t(2.0, 3.0), 1.0), 1), D.Independent(D.Gamma(t(1.0, 2.0), 1.0), 1)),
    "OneHotCategorical": (D.OneHotCategorical(t(0.2, 0.8)), D.OneHotCategorical(t(0.5, 0.5))),
    "Categorical": (D.Categorical(t(0.2, 0.8)), D.Categorical(logits=t(0.5, 0.0))),
    "InverseGamma": (D.InverseGamma(t(3.0), t(1.0)), D.InverseGamma(t(2.0), t(2.0))),
    "Chi2": (D.Chi2(t(3.0)), D.Chi2(t(5.0))),
}


@pytest.mark.parametrize("name", MONTE_CARLO)
def test_mean_over_samples(name):
    wg.manual_seed(0)
    p, q = MONTE_CARLO[name]
    x = p.sample((20_000,))
    ratio = p.log_prob(x) - q.log_prob(x)
    assert abs(ratio.mean() - D.kl_divergence(p, q)) < 5 * ratio.std() / math.sqrt(20_000)


def test_families_by_their_normalizers():
    """The formula of the base class gives what the formulas of the families give."""
    general = _FORMULAS[D.ExponentialFamily, D.ExponentialFamily]
    for family in (D.Normal, D.Exponential, D.Gamma, D.Beta, D.Bernoulli, D.ContinuousBernoulli, D.Poisson):
        p, q = PAIRS[family]
        assert general(p, q).item() == pytest.approx(D.kl_divergence(p, q).item(), rel=1e-9)
    p, q = MONTE_CARLO["Dirichlet"]
    assert general(p, q).item() == pytest.approx(D.kl_divergence(p, q).item(), rel=1e-9)


def test_impossible_and_certain_events():
    sure, fair = D.Categorical(t(1.0, 0.0)), D.Categorical(t(0.5, 0.5))
    assert D.kl_divergence(sure, fair).item() == pytest.approx(math.log(2))
    assert D.kl_divergence(fair, sure) == math.inf
    assert D.kl_divergence(D.Bernoulli(t(1.0)), D.Bernoulli(t(0.5))).item() == pytest.approx(math.log(2))
    assert D.kl_divergence(D.Bernoulli(t(0.5)), D.Bernoulli(t(1.0))) == math.inf
    assert D.kl_divergence(D.Poisson(t(0.0)), D.Poisson(t(1.0))) == 1


def test_close_distributions_keep_their_digits():
    """Divergences of nearly equal distributions are squares of small numbers."""
    h = 2.0**-30
    assert D.kl_divergence(D.Cauchy(t(0.0), t(1.0)), D.Cauchy(t(h), t(1.0))).item() == pytest.approx(
        h * h / 4, rel=1e-9
    )
    assert D.kl_divergence(D.Normal(t(0.0), t(1.0)), D.Normal(t(h), t(1.0))).item() == pytest.approx(
        h * h / 2, rel=1e-9
    )


def test_derivatives():
    scale = t(0.7).requires_grad_()
    assert wg.autograd.gradcheck(lambda s: D.kl_divergence(D.Normal(t(0.3), s), D.Laplace(t(0.0), s)), [scale])
    assert wg.autograd.gradcheck(lambda s: D.kl_divergence(D.Chi2(s), D.Chi2(2 * s)), [scale])
    batch = wg.vmap(lambda s: D.kl_divergence(D.Gamma(s, 1.0), D.Gamma(1.0, s)))(t(0.5, 1.0))
    assert np.isfinite(batch.numpy()).all()


def test_which_formula_is_taken():
    class First(D.Normal):
        pass

    class Second(First):
        pass

    @D.register_kl(First, D.Normal)
    def _(p, q):
        return "first"

    @D.register_kl(D.Normal, First)
    def _(p, q):
        return "second"

    plain, first, second = (kind(0.0, 1.0) for kind in (D.Normal, First, Second))
    assert D.kl_divergence(second, plain) == "first"
    assert D.kl_divergence(plain, second) == "second"
    with pytest.warns(RuntimeWarning, match="Ambiguous kl_divergence"):
        assert D.kl_divergence(first, second) == "first"
    with pytest.raises(
        NotImplementedError, match=r"No KL\(p \|\| q\) is implemented for p type Cauchy and q type Normal"
    ):
        D.kl_divergence(D.Cauchy(0.0, 1.0), plain)
    with pytest.raises(NotImplementedError, match="Bregman"):
        D.kl_divergence(D.Poisson(1.0), plain)
    with pytest.raises(TypeError, match="subclass of Distribution"):
        D.register_kl(int, D.Normal)
    for pair in ((First, D.Normal), (D.Normal, First)):
        del _FORMULAS[pair]
