"""Probability distributions: samples, densities and their derivatives.

    >>> import wengert as wg
    >>> loc = wg.tensor(0.0, requires_grad=True)
    >>> d = wg.distributions.Normal(loc, 1.0)
    >>> (-d.log_prob(wg.tensor(2.0))).backward()
    >>> loc.grad
    tensor(-2.)

`_distribution.py` has what all share; read it first. Families are grouped by how they are built: a file has formulas
and nothing else, in terms of parameters that `_parameters.py` has broadcast. `constraints` says where values may lie,
`transforms` makes distributions of others, `kl` compares them, and `_draws.py` has the random numbers.

Gradients reach the parameters in two ways: through `rsample`, where a sample is a differentiable function of them, and
through ``log_prob(sample())``.
"""

from wengert._missing import advise as _advise

from . import constraints, kl, transforms
from ._bernoulli import Bernoulli, Geometric
from ._beta import Beta, Dirichlet, Kumaraswamy
from ._categorical import Categorical, OneHotCategorical, OneHotCategoricalStraightThrough
from ._continuous_bernoulli import ContinuousBernoulli
from ._counts import Binomial, Multinomial, NegativeBinomial, Poisson
from ._distribution import Distribution
from ._exponential_family import ExponentialFamily
from ._gamma import Chi2, Exponential, Gamma, InverseGamma
from ._independent import Independent
from ._location_scale import Cauchy, Gumbel, HalfCauchy, Laplace
from ._mixture import MixtureSameFamily
from ._multivariate_normal import LowRankMultivariateNormal, MultivariateNormal
from ._normal import HalfNormal, LogisticNormal, LogNormal, Normal
from ._random_matrices import LKJCholesky, Wishart
from ._relaxed import ExpRelaxedCategorical, LogitRelaxedBernoulli, RelaxedBernoulli, RelaxedOneHotCategorical
from ._student import FisherSnedecor, StudentT
from ._tails import GeneralizedPareto, Pareto, Weibull
from ._transformed import TransformedDistribution
from ._uniform import Uniform
from ._von_mises import VonMises
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
