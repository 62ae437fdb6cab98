"""Probability distributions: samples, densities and their derivatives.

    >>> import wengert as wg
    >>> loc = wg.tensor(0.0, requires_grad=True)
    >>> d = wg.distributions.Normal(loc, 1.0)
    >>> (-d.log_prob(wg.tensor(2.0))).backward()
    >>> loc.grad
    tensor(-2.)

`_base` has what all share; read `_base/distribution.py` first. Families are in `_discrete`, `_continuous`, `_matrix`,
by what their values are: a file has formulas and nothing else, in terms of parameters that `_base/parameters.py` has
broadcast. `_composed` makes distributions of others, by `transforms` for one. `constraints` says where values may lie,
`kl` compares distributions, and `_base/draws.py` has the random numbers.

Gradients reach the parameters in two ways: through `rsample`, where a sample is a differentiable function of them, and
through ``log_prob(sample())``.
"""

from wengert._missing import advise as _advise

from . import constraints, kl, transforms
from ._base import draws as _draws  # noqa: F401  # wengert.poisson draws with it
from ._base.distribution import Distribution
from ._base.exponential_family import ExponentialFamily
from ._composed.independent import Independent
from ._composed.mixture import MixtureSameFamily
from ._composed.relaxed import ExpRelaxedCategorical, LogitRelaxedBernoulli, RelaxedBernoulli, RelaxedOneHotCategorical
from ._composed.transformed import TransformedDistribution
from ._continuous.beta import Beta, Dirichlet, Kumaraswamy
from ._continuous.continuous_bernoulli import ContinuousBernoulli
from ._continuous.gamma import Chi2, Exponential, Gamma, InverseGamma
from ._continuous.location_scale import Cauchy, Gumbel, HalfCauchy, Laplace
from ._continuous.normal import HalfNormal, LogisticNormal, LogNormal, Normal
from ._continuous.student import FisherSnedecor, StudentT
from ._continuous.tails import GeneralizedPareto, Pareto, Weibull
from ._continuous.uniform import Uniform
from ._continuous.von_mises import VonMises
from ._discrete.bernoulli import Bernoulli, Geometric
from ._discrete.categorical import Categorical, OneHotCategorical, OneHotCategoricalStraightThrough
from ._discrete.counts import Binomial, Multinomial, NegativeBinomial, Poisson
from ._matrix.multivariate_normal import LowRankMultivariateNormal, MultivariateNormal
from ._matrix.random_matrices import LKJCholesky, Wishart
from .constraint_registry import biject_to, transform_to
from .kl import kl_divergence, register_kl
from .transforms import (
    AbsTransform,
    AffineTransform,
    CatTransform,
    ComposeTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)

__all__ = [
    "AbsTransform", "AffineTransform", "Bernoulli", "Beta", "Binomial", "CatTransform", "Categorical", "Cauchy", "Chi2",
    "ComposeTransform", "ContinuousBernoulli", "CorrCholeskyTransform", "CumulativeDistributionTransform", "Dirichlet",
    "Distribution", "ExpRelaxedCategorical", "ExpTransform", "Exponential", "ExponentialFamily", "FisherSnedecor",
    "Gamma", "GeneralizedPareto", "Geometric", "Gumbel", "HalfCauchy", "HalfNormal", "Independent",
    "IndependentTransform", "InverseGamma", "Kumaraswamy", "LKJCholesky", "Laplace", "LogNormal", "LogisticNormal",
    "LogitRelaxedBernoulli", "LowRankMultivariateNormal", "LowerCholeskyTransform", "MixtureSameFamily", "Multinomial",
    "MultivariateNormal", "NegativeBinomial", "Normal", "OneHotCategorical", "OneHotCategoricalStraightThrough",
    "Pareto", "Poisson", "PositiveDefiniteTransform", "PowerTransform", "RelaxedBernoulli", "RelaxedOneHotCategorical",
    "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform", "SoftplusTransform", "StackTransform",
    "StickBreakingTransform", "StudentT", "TanhTransform", "Transform", "TransformedDistribution", "Uniform",
    "VonMises", "Weibull", "Wishart", "biject_to", "constraints", "identity_transform", "kl", "kl_divergence",
    "register_kl", "transform_to", "transforms",
]  # fmt: skip

_advise(globals())
