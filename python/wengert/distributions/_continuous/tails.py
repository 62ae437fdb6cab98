"""Pareto, generalized Pareto and Weibull distributions."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import wengert as wg

from .. import constraints
from .._base import draws
from .._base.distribution import Distribution
from .location_scale import EULER
from .series import expm1_quotient, log1p_quotient


class Pareto(Distribution):
    r"""Pareto distribution, :math:`p(x) = \alpha s^\alpha / x^{\alpha + 1}` for :math:`x \ge s`.

    Parameters
    ----------
    scale : float or Tensor
        The least value :math:`s`, positive.
    alpha : float or Tensor
        The exponent of the tail, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.Pareto(1.0, 3.0).mean
    tensor(1.5000)
    """

    arg_constraints: ClassVar[Any] = {"alpha": constraints.positive, "scale": constraints.positive}
    has_rsample = True
    scale: Any
    alpha: Any

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self._declare(validate_args, scale=scale, alpha=alpha)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """Numbers from the scale on."""
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Any:
        return wg.where(self.alpha > 1, self.alpha * self.scale / (self.alpha - 1), math.inf)

    @property
    def mode(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        a = self.alpha
        return wg.where(a > 2, self.scale.square() * a / ((a - 1).square() * (a - 2)), math.inf)

    def _draw(self, shape: Any) -> Any:
        return self.scale * (draws.standard_exponential(shape, self.scale) / self.alpha).exp()

    def _log_prob(self, value: Any) -> Any:
        return self.alpha.log() - self.alpha * (value / self.scale).log() - value.log()

    def _cdf(self, value: Any) -> Any:
        return -(-self.alpha * (value / self.scale).log()).expm1()

    def _icdf(self, value: Any) -> Any:
        return self.scale * (-(-value).log1p() / self.alpha).exp()

    def entropy(self) -> Any:
        return (self.scale / self.alpha).log() + (1 + 1 / self.alpha)


class GeneralizedPareto(Distribution):
    r"""Generalized Pareto distribution, :math:`P(X > x) = (1 + \xi z)^{-1 / \xi}` with :math:`z = (x - \mu) / \sigma`.

    For :math:`\xi = 0` it is exponential, for negative ones its support ends at :math:`\mu - \sigma / \xi`.

    Parameters
    ----------
    loc : float or Tensor
        The least value :math:`\mu`.
    scale : float or Tensor
        :math:`\sigma`, positive.
    concentration : float or Tensor
        The shape :math:`\xi`.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.GeneralizedPareto(0.0, 1.0, 0.5).mean
    tensor(2.)
    """

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True
    loc: Any
    scale: Any
    concentration: Any

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self._declare(validate_args, loc=loc, scale=scale, concentration=concentration)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """Numbers from the location on, up to an end for negative shapes."""
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, wg.where(self.concentration < 0, end, math.inf))

    @property
    def mean(self) -> Any:
        shape = self.concentration
        return wg.where(shape < 1, self.loc + self.scale / (1 - shape), math.inf)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        shape = self.concentration
        return wg.where(shape < 0.5, self.scale.square() / ((1 - shape).square() * (1 - 2 * shape)), math.inf)

    def _log_survival(self, value: Any) -> Any:
        """Return -log1p(xi z) / xi, whose limit at xi = 0 is -z."""
        z = (value - self.loc) / self.scale
        return -z * log1p_quotient(self.concentration * z)

    def _draw(self, shape: Any) -> Any:
        return self.loc + self.scale * self._quantile(draws.standard_exponential(shape, self.scale))

    def _quantile(self, negative_log_survival: Any) -> Any:
        """Return expm1(xi t) / xi, whose limit at xi = 0 is t."""
        return negative_log_survival * expm1_quotient(self.concentration * negative_log_survival)

    def _log_prob(self, value: Any) -> Any:
        inside = (1 + self.concentration) * self._log_survival(value) - self.scale.log()
        return wg.where(self.support.check(value), inside, -math.inf)

    def _cdf(self, value: Any) -> Any:
        return -self._log_survival(value).expm1()

    def _icdf(self, value: Any) -> Any:
        return self.loc + self.scale * self._quantile(-(-value).log1p())

    def entropy(self) -> Any:
        return self.scale.log() + self.concentration + 1


class Weibull(Distribution):
    r"""Weibull distribution, :math:`P(X > x) = \exp(-(x / \lambda)^k)`.

    Parameters
    ----------
    scale : float or Tensor
        :math:`\lambda`, positive.
    concentration : float or Tensor
        The shape :math:`k`, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.Weibull(1.0, 1.0).mean
    tensor(1.)
    """

    arg_constraints: ClassVar[Any] = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive
    has_rsample = True
    scale: Any
    concentration: Any

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self._declare(validate_args, scale=scale, concentration=concentration)

    @property
    def mean(self) -> Any:
        return self.scale * (1 + 1 / self.concentration).lgamma().exp()

    @property
    def mode(self) -> Any:
        k = self.concentration
        return wg.where(k > 1, self.scale * ((k - 1) / k).pow(1 / k), 0.0)

    @property
    def variance(self) -> Any:
        reciprocal = 1 / self.concentration
        first = (1 + reciprocal).lgamma()
        # exp(a) - exp(2 b) without the difference of two nearly equal numbers where k is large
        return self.scale.square() * (2 * first).exp() * ((1 + 2 * reciprocal).lgamma() - 2 * first).expm1()

    def _draw(self, shape: Any) -> Any:
        return self.scale * draws.standard_exponential(shape, self.scale).pow(1 / self.concentration)

    def _log_prob(self, value: Any) -> Any:
        z = value / self.scale
        log = self.concentration.log() - self.scale.log()
        return log + wg.xlogy(self.concentration - 1, z) - z.pow(self.concentration)

    def _cdf(self, value: Any) -> Any:
        return -(-(value / self.scale).pow(self.concentration)).expm1()

    def _icdf(self, value: Any) -> Any:
        return self.scale * (-(-value).log1p()).pow(1 / self.concentration)

    def entropy(self) -> Any:
        return EULER * (1 - 1 / self.concentration) + (self.scale / self.concentration).log() + 1
