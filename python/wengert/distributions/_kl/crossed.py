"""Divergences between two families.

:math:`D(p, q) = -H(p) - E_p[\\log q]`: the log density of q is a sum of simple functions, so for each q there is one
formula in the moments of p, which the table `_MOMENTS` has. Where p has values that q does not have, it is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import wengert as wg

from .._continuous.beta import Beta
from .._continuous.continuous_bernoulli import ContinuousBernoulli
from .._continuous.gamma import Exponential, Gamma
from .._continuous.location_scale import EULER, Gumbel, Laplace
from .._continuous.normal import Normal
from .._continuous.tails import Pareto
from .._continuous.uniform import Uniform
from .._discrete.bernoulli import Bernoulli
from .._discrete.counts import Binomial, Poisson
from .registry import register_kl


# --- The mean of the logarithm of a value
def _mean_log_uniform(low: Any, high: Any) -> Any:
    return (wg.xlogy(high, high) - wg.xlogy(low, low)) / (high - low) - 1


_MEAN_LOG: dict[type, Callable[[Any], Any]] = {
    Beta: lambda p: p.concentration1.digamma() - p._total.digamma(),
    Exponential: lambda p: -EULER - p.rate.log(),
    Gamma: lambda p: p.concentration.digamma() - p.rate.log(),
    Pareto: lambda p: p.scale.log() + 1 / p.alpha,
    Uniform: lambda p: _mean_log_uniform(p.low, p.high),
}

# --- The mean of exp(-t x)
_MEAN_EXP: dict[type, Callable[[Any, Any], Any]] = {
    Exponential: lambda p, t: p.rate / (p.rate + t),
    Gamma: lambda p, t: (-p.concentration * (t / p.rate).log1p()).exp(),
    Normal: lambda p, t: (-p.loc * t + 0.5 * (p.scale * t).square()).exp(),
    Uniform: lambda p, t: (-p.low * t).exp() * -(-p._width * t).expm1() / (p._width * t),
}


def _mean_log(p: Any) -> Any:
    return next(formula for kind, formula in _MEAN_LOG.items() if isinstance(p, kind))(p)


def _mean_exp(p: Any, t: Any) -> Any:
    return next(formula for kind, formula in _MEAN_EXP.items() if isinstance(p, kind))(p, t)


# --- The mean of the log density of q
def _linear(p: Any, q: Any) -> Any:
    return q._log_prob(p.mean)


def _gamma(p: Any, q: Any) -> Any:
    shape = q.concentration
    return shape * q.rate.log() - shape.lgamma() + (shape - 1) * _mean_log(p) - q.rate * p.mean


def _normal(p: Any, q: Any) -> Any:
    return q._log_prob(p.mean) - 0.5 * p.variance / q.scale.square()


def _gumbel(p: Any, q: Any) -> Any:
    return -q.scale.log() - (p.mean - q.loc) / q.scale - (q.loc / q.scale).exp() * _mean_exp(p, 1 / q.scale)


def _laplace_of_normal(p: Any, q: Any) -> Any:
    distance = p.loc - q.loc
    z = distance / p.scale / math.sqrt(2)
    absolute = p.scale * math.sqrt(2 / math.pi) * (-z.square()).exp() + distance * z.erf()
    return -(2 * q.scale).log() - absolute / q.scale


def _poisson_of_bernoulli(p: Any, q: Any) -> Any:
    return wg.xlogy(p.probs, q.rate) - q.rate


def _beta_of_uniform(p: Any, q: Any) -> Any:
    first = (q.concentration1 - 1) * _mean_log(p)
    second = (q.concentration0 - 1) * _mean_log_uniform(1 - p.high, 1 - p.low)
    return first + second - q._log_normalizer(*q._natural_params)


def _pareto_of_uniform(p: Any, q: Any) -> Any:
    return q.alpha.log() + q.alpha * q.scale.log() - (q.alpha + 1) * _mean_log(p)


def _uniform(p: Any, q: Any) -> Any:
    return -q._width.log()


# --- Where p is 0 wherever q is 0
def _positive(p: Any, q: Any) -> Any:
    return p.low >= 0


def _within_unit(p: Any, q: Any) -> Any:
    return (p.low >= 0) & (p.high <= 1)


def _unit_within(p: Any, q: Any) -> Any:
    return (q.low <= 0) & (q.high >= 1)


def _above_scale(p: Any, q: Any) -> Any:
    return p.low >= q.scale


_CROSSED: list[tuple[type, type, Callable[[Any, Any], Any], Callable[[Any, Any], Any] | None]] = [
    (Bernoulli, Poisson, _poisson_of_bernoulli, None),
    (Beta, ContinuousBernoulli, _linear, None),
    (Beta, Exponential, _linear, None),
    (Beta, Gamma, _gamma, None),
    (Beta, Normal, _normal, None),
    (Beta, Uniform, _uniform, _unit_within),
    (ContinuousBernoulli, Exponential, _linear, None),
    (ContinuousBernoulli, Normal, _normal, None),
    (ContinuousBernoulli, Uniform, _uniform, _unit_within),
    (Exponential, Gamma, _gamma, None),
    (Exponential, Gumbel, _gumbel, None),
    (Exponential, Normal, _normal, None),
    (Gamma, Exponential, _linear, None),
    (Gamma, Gumbel, _gumbel, None),
    (Gamma, Normal, _normal, None),
    (Gumbel, Normal, _normal, None),
    (Laplace, Normal, _normal, None),
    (Normal, Gumbel, _gumbel, None),
    (Normal, Laplace, _laplace_of_normal, None),
    (Pareto, Exponential, _linear, None),
    (Pareto, Gamma, _gamma, None),
    (Pareto, Normal, _normal, None),
    (Uniform, Beta, _beta_of_uniform, _within_unit),
    (Uniform, ContinuousBernoulli, _linear, _within_unit),
    (Uniform, Exponential, _linear, _positive),
    (Uniform, Gamma, _gamma, _positive),
    (Uniform, Gumbel, _gumbel, None),
    (Uniform, Normal, _normal, None),
    (Uniform, Pareto, _pareto_of_uniform, _above_scale),
]

# Families of p that have values where those of q have none.
_INFINITE: list[tuple[tuple[type, ...], tuple[type, ...]]] = [
    ((Beta, ContinuousBernoulli), (Pareto,)),
    ((Exponential, Gamma), (Beta, ContinuousBernoulli, Pareto, Uniform)),
    ((Gumbel, Laplace, Normal), (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    ((Pareto,), (Beta, ContinuousBernoulli, Uniform)),
    ((Poisson,), (Bernoulli, Binomial)),
]


def _register(
    type_p: type,
    type_q: type,
    mean_log_density: Callable[[Any, Any], Any],
    within: Callable[[Any, Any], Any] | None,
) -> None:
    def divergence(p: Any, q: Any) -> Any:
        value = -p.entropy() - mean_log_density(p, q)
        return value if within is None else wg.where(within(p, q), value, math.inf)

    register_kl(type_p, type_q)(divergence)


def _infinite(p: Any, q: Any) -> Any:
    shape = wg.broadcast_shapes(p.batch_shape, q.batch_shape)
    return wg.full(shape, math.inf, dtype=p.mean.dtype, device=p.mean.device)


for _row in _CROSSED:
    _register(*_row)
for _types_p, _types_q in _INFINITE:
    for _type_p in _types_p:
        for _type_q in _types_q:
            register_kl(_type_p, _type_q)(_infinite)
