"""Samples have the distribution they should, and derivatives through them are right."""

import math

import numpy as np
import pytest
from scipy import special, stats

import wengert as wg
from tests.python.distributions.families import CONTINUOUS, DISCRETE, MATRIX, THREE, VECTORS, t
from wengert import distributions as D  # noqa: N812

BY_NAME = {row.name: row for row in [*CONTINUOUS, *DISCRETE, *VECTORS]}
COUNT = 20_000
RARE = 1e-4  # a test fails by chance once in ten thousand seeds; the seed is fixed


@pytest.fixture(autouse=True)
def seed():
    wg.manual_seed(7)


def distribution_function(row):
    """Return the distribution function of a row: SciPy's, ours, or an integral of the density."""
    d = row()
    if row.reference is not None:
        return row.reference.cdf
    try:
        d.cdf(row.values)
        return lambda x: d.cdf(t(x.tolist())).numpy()
    except NotImplementedError:
        grid = np.linspace(0, 1, 20_001)[1:-1]
        density = np.exp(d.log_prob(t(grid.tolist())).numpy())
        sums = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2) * (grid[1] - grid[0])])
        return lambda x: np.interp(x, grid, sums / sums[-1])


@pytest.mark.parametrize("name", [r.name for r in CONTINUOUS])
@pytest.mark.parametrize("dtype", [wg.float32, wg.float64])
def test_continuous(name, dtype):
    row = BY_NAME[name]
    d = row.make(*[p.to(dtype) for p in row.parameters])
    drawn = d.sample((COUNT,))
    assert drawn.dtype == dtype
    x = drawn.double().numpy()
    if name.startswith("VonMises"):
        x = (x - 0.5 + math.pi) % (2 * math.pi) - math.pi + 0.5  # around the mean, as SciPy has it
    assert stats.kstest(x, distribution_function(row)).pvalue > RARE


@pytest.mark.parametrize("name", [r.name for r in DISCRETE if r.reference])
def test_discrete(name):
    row = BY_NAME[name]
    x = row().sample((COUNT,)).numpy()
    top = int(row.reference.ppf(0.999)) + 1
    observed = np.array([*[(x == k).sum() for k in range(top)], (x >= top).sum()])
    expected = np.array([*row.reference.pmf(np.arange(top)), row.reference.sf(top - 1)]) * COUNT
    kept = expected > 5
    scaled = expected[kept] * observed[kept].sum() / expected[kept].sum()
    assert stats.chisquare(observed[kept], scaled).pvalue > RARE
    assert (observed[~kept].sum() < 10 + 10 * expected[~kept].sum()).all()


def test_categories():
    x = D.Categorical(t(THREE)).sample((COUNT,))
    assert stats.chisquare(np.bincount(x.numpy(), minlength=3), np.array(THREE) * COUNT).pvalue > RARE
    y = D.OneHotCategorical(t(THREE)).sample((COUNT,))
    assert y.sum(-1).eq(1).all()
    assert stats.chisquare(y.sum(0).numpy(), np.array(THREE) * COUNT).pvalue > RARE
    z = D.Multinomial(6, t(THREE)).sample((COUNT,))
    assert z.sum(-1).eq(6).all()
    np.testing.assert_allclose(z.mean(0).numpy(), 6 * np.array(THREE), atol=0.05)


@pytest.mark.parametrize("name", ["Dirichlet", "MultivariateNormal", "LowRankMultivariateNormal", "Wishart"])
def test_vectors_have_their_mean_and_variance(name):
    d = BY_NAME[name]()
    x = d.sample((COUNT,))
    error = (d.variance / COUNT).sqrt()
    assert ((x.mean(0) - d.mean).abs() < 5 * error + 1e-12).all()
    np.testing.assert_allclose(x.var(0).numpy(), d.variance.numpy(), rtol=0.15)


def test_covariance_of_vectors():
    for name in ("MultivariateNormal", "LowRankMultivariateNormal"):
        d = BY_NAME[name]()
        np.testing.assert_allclose(d.sample((4 * COUNT,)).T.cov().numpy(), d.covariance_matrix.numpy(), atol=0.15)


def test_matrices_given_in_three_ways_are_the_same():
    covariance = t(MATRIX)
    for family, first in ((D.MultivariateNormal, wg.zeros(3).double()), (D.Wishart, t(4.5))):
        given = {
            "covariance_matrix": covariance,
            "precision_matrix": wg.linalg.inv(covariance),
            "scale_tril": wg.linalg.cholesky(covariance),
        }
        for name, matrix in given.items():
            d = family(first, **{name: matrix})
            for other, expected in given.items():
                assert wg.allclose(getattr(d, other), expected)


@pytest.mark.parametrize("dim", [2, 3, 5])
@pytest.mark.parametrize("concentration", [0.5, 1.0, 4.0])
def test_lkj(dim, concentration):
    """Each correlation of a random matrix has a beta distribution on (-1, 1), whichever rows it belongs to."""
    factor = D.LKJCholesky(dim, t(concentration)).sample((COUNT // 4,))
    matrix = (factor @ factor.mT).numpy()
    shape = concentration - 1 + dim / 2
    for i in range(dim):
        for j in range(i):
            assert stats.kstest((matrix[:, i, j] + 1) / 2, stats.beta(shape, shape).cdf).pvalue > RARE


def test_mixtures():
    d = D.MixtureSameFamily(D.Categorical(t(0.3, 0.7)), D.Normal(t(-1.0, 2.0), t(1.0, 0.5)))
    assert stats.kstest(d.sample((COUNT,)).numpy(), lambda x: d.cdf(t(x.tolist())).numpy()).pvalue > RARE


def test_small_shapes_do_not_underflow():
    """Shapes of 1e-3 make gamma variables of e-300 and less: their quotients are still what they should be."""
    x = D.Beta(t(1e-3), t(1e-3)).sample((1000,))
    assert x.isfinite().all()
    assert 0.4 < x.round().mean() < 0.6
    y = D.Dirichlet(wg.full((1000, 3), 1e-3, dtype=wg.float32).requires_grad_()).rsample()
    assert (y.sum(-1) - 1).abs().max() < 1e-5
    y.max(-1)[0].sum().backward()
    assert (D.Gamma(t(1e-3), t(1.0)).sample((1000,)) > 0).all()


# --- Derivatives of samples
@pytest.mark.parametrize("shape", [1e-2, 0.3, 1.0, 7.5, 300.0, 1e4])
def test_gamma_samples_move_with_their_quantile(shape):
    """A sample is a quantile: its derivative is that of the quantile at a fixed probability."""
    a = t(shape).requires_grad_()
    x = D.Gamma(a, t(1.0)).rsample((50,))
    step = 1e-5 * shape
    probability = special.gammainc(shape, x.detach().numpy())
    expected = (special.gammaincinv(shape + step, probability) - special.gammaincinv(shape - step, probability)) / (
        2 * step
    )
    for value, slope, p in zip(x, expected, probability, strict=True):
        if 1e-10 < p < 1 - 1e-10 and value > 1e-290:
            assert wg.autograd.grad(value, a, retain_graph=True)[0].item() == pytest.approx(slope, rel=2e-4, abs=1e-12)


def test_second_derivatives_of_gamma_samples():
    def draw(a, n=0):
        wg.manual_seed(3)
        return D.Gamma(a, 1.0, validate_args=False).rsample()

    a = t(2.5)
    probability = special.gammainc(2.5, draw(a).item())
    h = 1e-3
    quantiles = [special.gammaincinv(2.5 + d, probability) for d in (-h, 0, h)]
    second = (quantiles[0] - 2 * quantiles[1] + quantiles[2]) / h**2
    assert wg.func.grad(wg.func.grad(draw))(a).item() == pytest.approx(second, rel=1e-4)
    assert wg.func.jvp(draw, (a,), (t(1.0),))[1].item() == pytest.approx(wg.func.grad(draw)(a).item(), rel=1e-12)


# A function of samples, and its exact mean as a function of the parameters.
MEANS = {
    "Gamma": (D.Gamma, [2.5, 2.0], lambda x: x.square(), lambda a, b: a * (a + 1) / b.square()),
    "InverseGamma": (D.InverseGamma, [7.5, 2.0], lambda x: x, lambda a, b: b / (a - 1)),
    "Chi2": (D.Chi2, [3.5], lambda x: x.square(), lambda k: k * (k + 2)),
    "Beta": (D.Beta, [1.5, 0.7], lambda x: x.square(), lambda a, b: a * (a + 1) / ((a + b) * (a + b + 1))),
    "Dirichlet": (D.Dirichlet, [[0.5, 2.0, 1.0]], lambda x: x[..., 0] * x[..., 1],
                  lambda a: a[0] * a[1] / (a.sum() * (a.sum() + 1))),
    "StudentT": (D.StudentT, [9.0, 0.5, 1.5], lambda x: x.square(),
                 lambda v, m, s: s.square() * v / (v - 2) + m.square()),
    "FisherSnedecor": (D.FisherSnedecor, [4.0, 12.0], lambda x: x, lambda a, b: b / (b - 2) + 0 * a),
    "Normal": (D.Normal, [0.5, 1.5], lambda x: x.square(), lambda m, s: m.square() + s.square()),
    "Laplace": (D.Laplace, [0.5, 1.5], lambda x: x.square(), lambda m, s: m.square() + 2 * s.square()),
    "Gumbel": (D.Gumbel, [0.5, 1.5], lambda x: x, lambda m, s: m + 0.5772156649 * s),
    "Exponential": (D.Exponential, [2.0], lambda x: x.square(), lambda r: 2 / r.square()),
    "Weibull": (D.Weibull, [0.5, 1.7], lambda x: x, lambda s, k: s * (1 + 1 / k).lgamma().exp()),
    "Pareto": (D.Pareto, [0.5, 6.0], lambda x: x, lambda s, a: a * s / (a - 1)),
    "GeneralizedPareto": (D.GeneralizedPareto, [0.5, 1.5, 0.1], lambda x: x, lambda m, s, c: m + s / (1 - c)),
    "Uniform": (D.Uniform, [-0.5, 1.7], lambda x: x.square(), lambda a, b: (b.pow(3) - a.pow(3)) / (3 * (b - a))),
    "LogNormal": (D.LogNormal, [0.5, 0.3], lambda x: x, lambda m, s: (m + s.square() / 2).exp()),
    "ContinuousBernoulli": (D.ContinuousBernoulli, [0.2], lambda x: x, lambda p: D.ContinuousBernoulli(p).mean),
    "MultivariateNormal": (D.MultivariateNormal, [[0.5, -1.0, 0.0], MATRIX], lambda x: x[..., 0] * x[..., 1],
                           lambda m, c: m[0] * m[1] + (c[0, 1] + c[1, 0]) / 2),
    "LowRankMultivariateNormal": (
        D.LowRankMultivariateNormal, [[0.5, -1.0], [[1.0], [2.0]], [0.5, 1.0]],
        lambda x: x.prod(-1) + x[..., 0].square(),
        lambda m, w, d: m.prod() + (w[0] * w[1]).sum() + m[0].square() + w[0].square().sum() + d[0]),
    "Wishart": (D.Wishart, [4.5, MATRIX], lambda x: x[..., 0, 1], lambda v, c: v * (c[0, 1] + c[1, 0]) / 2),
}  # fmt: skip


def symmetric(parameter):
    """Return a covariance matrix that is a function of all its elements, and other parameters as they are."""
    square = parameter.dim() == 2 and parameter.size(0) == parameter.size(1)
    return (parameter + parameter.mT) / 2 if square else parameter


@pytest.mark.parametrize("name", MEANS)
def test_mean_of_derivatives_is_the_derivative_of_the_mean(name):
    make, numbers, function, mean = MEANS[name]
    inputs = [t(n).requires_grad_() for n in numbers]
    expected = wg.autograd.grad(mean(*inputs), inputs)
    blocks = []
    for _ in range(20):
        d = make(*map(symmetric, inputs))
        blocks.append(wg.autograd.grad(function(d.rsample((500,))).mean(), inputs))
    for exact, *estimates in zip(expected, *blocks, strict=True):
        estimates = wg.stack(estimates)
        error = estimates.std(0) / math.sqrt(len(blocks))
        assert ((estimates.mean(0) - exact).abs() < 5 * error + 1e-9).all()


MOVING = [
    "Normal", "LogNormal", "HalfNormal", "Cauchy", "Laplace", "Gumbel", "Exponential", "Weibull", "Pareto",
    "GeneralizedPareto", "Kumaraswamy", "Uniform",
]  # fmt: skip


@pytest.mark.parametrize("name", MOVING)
def test_samples_are_quantiles_that_move_with_the_parameters(name):
    """For these, dx/dp = -(dF/dp) / (dF/dx) at the sample, whatever the way it was drawn."""
    row = BY_NAME[name]
    inputs = [p.clone().requires_grad_() for p in row.parameters]
    x = row.make(*inputs).rsample((20,))
    fixed = x.detach().clone().requires_grad_()
    probability = row.make(*inputs).cdf(fixed)
    for value, p, i in zip(x, probability, range(20), strict=True):
        *by_parameter, by_value = wg.autograd.grad(p, [*inputs, fixed], retain_graph=True)
        actual = wg.autograd.grad(value, inputs, retain_graph=True)
        for slope, partial in zip(actual, by_parameter, strict=True):
            assert slope.item() == pytest.approx(-(partial / by_value[i]).item(), rel=1e-5, abs=1e-7)


def test_straight_through():
    logits = t(0.5, 2.0, -1.0).requires_grad_()
    d = D.OneHotCategoricalStraightThrough(logits=logits)
    x = d.rsample()
    probs = logits.softmax(-1)
    assert sorted(x.round().tolist()) == [0, 0, 1]
    weights = t(1.0, 5.0, 2.0)
    (actual,) = wg.autograd.grad((x * weights).sum(), logits)
    (expected,) = wg.autograd.grad((probs * weights).sum(), logits)
    assert wg.allclose(actual, expected)


# --- Seeds and vmap
def test_seeds():
    for d in (D.Gamma(t(2.0), 1.0), D.Poisson(t(2.0)), D.Binomial(9, t(0.5)), D.VonMises(t(0.0), t(1.0))):
        wg.manual_seed(1)
        first, second = d.sample((5,)), d.sample((5,))
        wg.manual_seed(1)
        assert wg.equal(d.sample((5,)), first)
        assert not wg.equal(first, second)


@pytest.mark.parametrize("draw", [
    lambda a: D.Gamma(a, 1.0).rsample((2,)),
    lambda a: D.Poisson(a).sample((2,)),
    lambda a: D.Beta(a, a).rsample((2,)),
    lambda a: D.VonMises(0.0, a).sample((2,)),
], ids=["gamma", "poisson", "beta", "von mises"])  # fmt: skip
def test_randomness_of_vmap(draw):
    shapes = wg.full((50, 3), 20.0)
    same = wg.vmap(draw, randomness="same")(shapes)
    assert same.shape == (50, 2, 3)
    assert wg.allclose(same, same[:1].expand_as(same))  # not equal: the last digits depend on where in a vector it is
    assert not wg.equal(same[:, 0], same[:, 1])
    different = wg.vmap(draw, randomness="different")(shapes)
    assert (different != different[:1]).any(-1).any(-1).sum() > 40
    nested = wg.vmap(wg.vmap(draw, randomness="same"), randomness="different")(shapes.reshape(5, 10, 3))
    assert wg.allclose(nested, nested[:, :1].expand_as(nested))
    assert not wg.equal(nested[0], nested[1])
    other = wg.vmap(wg.vmap(draw, randomness="different"), randomness="same")(shapes.reshape(5, 10, 3))
    assert wg.allclose(other, other[:1].expand_as(other))
    assert not wg.equal(other[:, 0], other[:, 1])
    with pytest.raises(RuntimeError, match="randomness"):
        wg.vmap(draw)(shapes)


def test_parameters_out_of_range_give_nan():
    bad = t(-1.0, math.nan, 2.0)
    for d in (D.Gamma(bad, 1.0, validate_args=False), D.Poisson(bad, validate_args=False)):
        assert d.sample().isnan().tolist() == [True, True, False]
