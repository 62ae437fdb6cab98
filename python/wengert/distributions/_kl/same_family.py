"""Divergences within one family."""

from __future__ import annotations

import math
from typing import Any

import wengert as wg

from .._base.exponential_family import ExponentialFamily
from .._base.parameters import sum_rightmost
from .._base.validation import holds
from .._composed.independent import Independent
from .._composed.transformed import TransformedDistribution
from .._continuous.beta import Beta, Dirichlet
from .._continuous.continuous_bernoulli import ContinuousBernoulli
from .._continuous.gamma import Exponential, Gamma
from .._continuous.location_scale import EULER, Cauchy, Gumbel, Laplace
from .._continuous.normal import HalfNormal, Normal
from .._continuous.tails import Pareto
from .._continuous.uniform import Uniform
from .._discrete.bernoulli import Bernoulli, Geometric
from .._discrete.categorical import Categorical, OneHotCategorical
from .._discrete.counts import Binomial, Poisson
from .registry import kl_divergence, register_kl


def _excess(ratio: Any) -> Any:
    """Return ratio - 1 - log(ratio), which is not negative and small around 1."""
    return (ratio - 1) - ratio.log()


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p: Any, q: Any) -> Any:
    if type(p) is not type(q):
        raise NotImplementedError(
            f"The cross KL-divergence between different exponential families ({type(p).__name__} and "
            f"{type(q).__name__}) cannot be computed using Bregman divergences"
        )
    value, means = p._log_normalizer_and_means()
    result = q._log_normalizer(*q._natural_params) - value
    for of_p, of_q, mean in zip(p._natural_params, q._natural_params, means, strict=True):
        result = result - sum_rightmost((of_q - of_p) * mean, of_p.dim() - len(p.batch_shape))
    return result


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    return p._weighted(p.probs, p._contrary) - q._weighted(p.probs, p._contrary)


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Any:
    return p._weighted(1.0, p.mean) - q._weighted(1.0, p.mean)


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Any:
    if not holds(p.total_count >= q.total_count):
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    each = p.total_count * _bernoulli(p, q)
    return wg.where(p.total_count > q.total_count, math.inf, each)


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    terms = p.probs * (p.logits - q.logits)
    terms = wg.where(q.probs == 0, math.inf, terms)
    return wg.where(p.probs == 0, 0.0, terms).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: Any, q: Any) -> Any:
    return _categorical(p._categorical, q._categorical)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Any:
    return p._log_prob(p.mean) - q._log_prob(p.mean)  # both are linear in the value


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Any:
    total = (p._total).digamma()
    first = (p.concentration1 - q.concentration1) * (p.concentration1.digamma() - total)
    second = (p.concentration0 - q.concentration0) * (p.concentration0.digamma() - total)
    return q._log_normalizer(*q._natural_params) - p._log_normalizer(*p._natural_params) + first + second


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    means = a.digamma() - a.sum(-1, True).digamma()
    return q._log_normalizer(b - 1) - p._log_normalizer(a - 1) + ((a - b) * means).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    return _excess(q.rate / p.rate)


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    return (
        q.concentration * (p.rate / q.rate).log()
        + q.concentration.lgamma()
        - p.concentration.lgamma()
        + (p.concentration - q.concentration) * p.concentration.digamma()
        + (q.rate - p.rate) * (p.concentration / p.rate)
    )


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    return 0.5 * (_excess((p.scale / q.scale).square()) + ((p.loc - q.loc) / q.scale).square())


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Any:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Any:
    # log(((s + t)**2 + d**2) / 4 s t), where the numerator is 4 s t and the squares of two differences
    differences = (p.scale - q.scale).square() + (p.loc - q.loc).square()
    return (differences / (4 * p.scale * q.scale)).log1p()


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * (-distance / p.scale).exp() - 1


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Any:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return -ratio.log() + distance + ratio * EULER + ((1 + ratio).lgamma() - distance).exp() - (1 + EULER)


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Any:
    inside = q.alpha * (p.scale / q.scale).log() + _excess(q.alpha / p.alpha)
    return wg.where(p.scale < q.scale, math.inf, inside)


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Any:
    return wg.xlogy(p.rate, p.rate / q.rate) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    inside = (q._width / p._width).log()
    return wg.where((q.low > p.low) | (q.high < p.high), math.inf, inside)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("the two have different numbers of reinterpreted dimensions")
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("the two are transformed differently: their divergence is not that of the bases")
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), len(p.event_shape) - len(p.base_dist.event_shape))
