"""The table of the tests: a distribution, the same one of SciPy, and values at which they are compared."""

import numpy as np
from scipy import stats

import wengert as wg
from wengert import distributions as D  # noqa: N812

THREE = [0.2, 0.5, 0.3]
MATRIX = [[2.0, 0.3, -0.2], [0.3, 1.0, 0.1], [-0.2, 0.1, 0.5]]


def t(*values):
    return wg.tensor(values[0] if len(values) == 1 else list(values), dtype=wg.float64)


class Row:
    """One distribution. `make` takes the parameters as tensors, so that they can be differentiated."""

    def __init__(self, name, make, parameters, reference=None, values=None, skewed=False):
        self.name, self.make, self.reference = name, make, reference
        self.parameters = [t(p) for p in parameters]
        self.values = None if values is None else t(values)
        self.skewed = skewed

    def __call__(self):
        return self.make(*self.parameters)


CONTINUOUS = [
    Row("Normal", D.Normal, [0.5, 1.5], stats.norm(0.5, 1.5), [-30.0, -1.0, 0.5, 8.0]),
    Row("LogNormal", D.LogNormal, [0.3, 0.5], stats.lognorm(0.5, scale=np.exp(0.3)), [1e-3, 0.5, 1.0, 8.0]),
    Row("HalfNormal", D.HalfNormal, [1.5], stats.halfnorm(scale=1.5), [1e-3, 0.5, 8.0]),
    Row("Cauchy", D.Cauchy, [0.5, 1.5], stats.cauchy(0.5, 1.5), [-1e9, -1.0, 0.7, 1e9]),
    Row("HalfCauchy", D.HalfCauchy, [1.5], stats.halfcauchy(scale=1.5), [1e-9, 0.7, 1e9]),
    Row("Laplace", D.Laplace, [0.5, 1.5], stats.laplace(0.5, 1.5), [-90.0, 0.4, 0.6, 90.0]),
    Row("Gumbel", D.Gumbel, [0.5, 1.5], stats.gumbel_r(0.5, 1.5), [-5.0, 0.4, 90.0]),
    Row("Exponential", D.Exponential, [2.0], stats.expon(scale=0.5), [1e-9, 0.4, 90.0]),
    Row("Gamma", D.Gamma, [2.5, 2.0], stats.gamma(2.5, scale=0.5), [1e-9, 0.4, 20.0]),
    Row("Gamma below 1", D.Gamma, [0.3, 2.0], stats.gamma(0.3, scale=0.5), [1e-9, 0.4, 20.0]),
    Row("Gamma of 1000", D.Gamma, [1000.0, 2.0], stats.gamma(1000, scale=0.5), [400.0, 500.0, 600.0]),
    Row("InverseGamma", D.InverseGamma, [4.5, 2.0], stats.invgamma(4.5, scale=2), [1e-1, 0.4, 20.0]),
    Row("Chi2", D.Chi2, [3.0], stats.chi2(3), [1e-9, 0.4, 20.0]),
    Row("Beta", D.Beta, [2.5, 0.7], stats.beta(2.5, 0.7), [1e-9, 0.4, 1 - 1e-9]),
    Row("Kumaraswamy", D.Kumaraswamy, [2.5, 1.7], None, [1e-9, 0.4, 1 - 1e-9]),
    Row("Pareto", D.Pareto, [0.5, 5.0], stats.pareto(5, scale=0.5), [0.5, 0.7, 1e9]),
    Row("GeneralizedPareto", D.GeneralizedPareto, [0.5, 1.5, 0.2], stats.genpareto(0.2, 0.5, 1.5), [0.5, 1.0, 1e6]),
    Row(
        "GeneralizedPareto, finite", D.GeneralizedPareto, [0.5, 1.5, -0.5], stats.genpareto(-0.5, 0.5, 1.5), [0.5, 3.4]
    ),
    Row("GeneralizedPareto at 0", D.GeneralizedPareto, [0.5, 1.5, 0.0], stats.genpareto(0, 0.5, 1.5), [0.5, 3.4]),
    Row("Weibull", D.Weibull, [0.5, 1.7], stats.weibull_min(1.7, scale=0.5), [1e-9, 0.7, 4.0]),
    Row("Uniform", D.Uniform, [-0.5, 1.7], stats.uniform(-0.5, 2.2), [-0.5, 0.7, 1.6]),
    Row("StudentT", D.StudentT, [5.0, 0.5, 1.5], stats.t(5, 0.5, 1.5), [-1e9, 0.7, 1e3]),
    Row("FisherSnedecor", D.FisherSnedecor, [3.0, 7.5], stats.f(3, 7.5), [1e-9, 0.7, 1e3]),
    Row("VonMises", D.VonMises, [0.5, 1.7], stats.vonmises(1.7, 0.5), [-2.0, 0.5, 3.0]),
    Row("VonMises of 10000", D.VonMises, [0.5, 1e4], stats.vonmises(1e4, 0.5), [0.49, 0.5, 0.52]),
    Row("ContinuousBernoulli", lambda p: D.ContinuousBernoulli(p), [0.2], None, [0.0, 0.3, 1.0]),
    Row("RelaxedBernoulli", lambda p: D.RelaxedBernoulli(0.7, p), [0.2], None, [0.01, 0.3, 0.99]),
]

DISCRETE = [
    Row("Bernoulli", lambda p: D.Bernoulli(p), [0.2], stats.bernoulli(0.2), [0.0, 1.0]),
    Row(
        "Bernoulli of logits", lambda p: D.Bernoulli(logits=p), [-3.0], stats.bernoulli(1 / (1 + np.exp(3))), [0.0, 1.0]
    ),
    Row("Binomial", lambda p: D.Binomial(7, p), [0.2], stats.binom(7, 0.2), [0.0, 2.0, 7.0]),
    Row(
        "NegativeBinomial", lambda r, p: D.NegativeBinomial(r, p), [2.5, 0.4], stats.nbinom(2.5, 0.6), [0.0, 3.0, 50.0]
    ),
    Row("Geometric", lambda p: D.Geometric(p), [0.2], stats.geom(0.2, loc=-1), [0.0, 3.0, 50.0]),
    Row("Poisson", D.Poisson, [3.5], stats.poisson(3.5), [0.0, 3.0, 50.0]),
    Row("Categorical", lambda p: D.Categorical(p), [THREE], None, None),
]

VECTORS = [
    Row("Dirichlet", D.Dirichlet, [[1.5, 3.0, 0.5]], stats.dirichlet([1.5, 3.0, 0.5]), [0.2, 0.5, 0.3]),
    Row("MultivariateNormal", D.MultivariateNormal, [[0.5, -1.0, 0.0], MATRIX],
        stats.multivariate_normal([0.5, -1.0, 0.0], MATRIX), [0.2, 0.5, 30.0]),
    Row("LowRankMultivariateNormal", D.LowRankMultivariateNormal,
        [[0.5, -1.0, 0.0], [[1.0], [2.0], [0.5]], [0.5, 1.0, 2.0]],
        stats.multivariate_normal([0.5, -1.0, 0.0], np.outer([1, 2, 0.5], [1, 2, 0.5]) + np.diag([0.5, 1, 2])),
        [0.2, 0.5, 3.0]),
    Row("Wishart", D.Wishart, [4.5, MATRIX], stats.wishart(4.5, MATRIX),
        [[3.0, 0.5, 0.1], [0.5, 2.0, 0.3], [0.1, 0.3, 1.0]]),
    Row("Multinomial", lambda p: D.Multinomial(6, p), [THREE], stats.multinomial(6, THREE), [2.0, 3.0, 1.0]),
]  # fmt: skip

ROWS = CONTINUOUS + DISCRETE + VECTORS

# Those that have no reference of their own: they are made of others, or are compared elsewhere.
COMPOSED = [
    Row("LogisticNormal", D.LogisticNormal, [[0.5, -1.0], [1.5, 0.3]]),
    Row("LKJCholesky", lambda c: D.LKJCholesky(3, c), [1.5]),
    Row("MultivariateNormal of a precision", lambda m, p: D.MultivariateNormal(m, precision_matrix=p),
        [[0.5, -1.0, 0.0], MATRIX]),
    Row("OneHotCategorical", lambda p: D.OneHotCategorical(p), [THREE]),
    Row("OneHotCategoricalStraightThrough", lambda p: D.OneHotCategoricalStraightThrough(logits=p), [THREE]),
    Row("RelaxedOneHotCategorical", lambda p: D.RelaxedOneHotCategorical(0.7, p), [THREE]),
    Row("Independent", lambda m: D.Independent(D.Normal(m, 1.0), 1), [THREE]),
    Row("MixtureSameFamily", lambda p, m: D.MixtureSameFamily(D.Categorical(p), D.Normal(m, 1.0)), [THREE, THREE]),
    Row("AffineTransform", lambda m, s: D.TransformedDistribution(D.Normal(m, 1.0), D.AffineTransform(1.0, s)),
        [0.5, -2.0]),
    Row("PowerTransform", lambda a: D.TransformedDistribution(D.Exponential(a), D.PowerTransform(0.5)), [THREE]),
    Row("CorrCholeskyTransform", lambda m: D.TransformedDistribution(D.Normal(m, 1.0), D.CorrCholeskyTransform()),
        [THREE]),
]  # fmt: skip
