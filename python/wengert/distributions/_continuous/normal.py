"""Normal, log-normal, half-normal and logistic-normal distributions."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import wengert as wg
from wengert.special import ndtr, ndtri

from .. import constraints
from .._base import draws
from .._base.exponential_family import ExponentialFamily
from .._composed.of_base import of_base
from .._composed.transformed import TransformedDistribution
from .._transforms.arrays import StickBreakingTransform
from .._transforms.elementwise import AbsTransform, ExpTransform

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


class Normal(ExponentialFamily):
    r"""Normal distribution, :math:`p(x) = \exp(-(x - \mu)^2 / 2 \sigma^2) / \sqrt{2 \pi} \sigma`.

    Parameters
    ----------
    loc : float or Tensor
        The mean :math:`\mu`.
    scale : float or Tensor
        The standard deviation :math:`\sigma`, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> d = wg.distributions.Normal(0.0, 1.0)
    >>> d.log_prob(wg.tensor(0.0)), d.entropy()
    (tensor(-0.9189), tensor(1.4189))
    """

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self._declare(validate_args, loc=loc, scale=scale)

    loc: Any
    scale: Any

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def stddev(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        return self.scale.square()

    def _draw(self, shape: Any) -> Any:
        return self.loc + self.scale * draws.standard_normal(shape, self.scale)

    def _standardized(self, value: Any) -> Any:
        return (value - self.loc) / self.scale

    def _log_prob(self, value: Any) -> Any:
        return -0.5 * self._standardized(value).square() - self.scale.log() - _HALF_LOG_2PI

    def _cdf(self, value: Any) -> Any:
        return ndtr(self._standardized(value))

    def _icdf(self, value: Any) -> Any:
        return self.loc + self.scale * ndtri(value)

    def entropy(self) -> Any:
        return 0.5 + _HALF_LOG_2PI + self.scale.log()

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return self.loc / self.variance, -0.5 / self.variance

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return -0.25 * x.square() / y + 0.5 * (-math.pi / y).log()


class LogNormal(TransformedDistribution):
    r"""Distribution of :math:`\exp(x)` for normal :math:`x`.

    Parameters
    ----------
    loc : float or Tensor
        The mean of :math:`x`.
    scale : float or Tensor
        The standard deviation of :math:`x`, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.LogNormal(0.0, 1.0).mean
    tensor(1.6487)
    """

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True
    base_dist: Any

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args), ExpTransform(), validate_args)

    loc = of_base("The mean of the logarithm.")
    scale = of_base("The standard deviation of the logarithm.")

    @property
    def mean(self) -> Any:
        return (self.loc + self.scale.square() / 2).exp()

    @property
    def mode(self) -> Any:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Any:
        square = self.scale.square()
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Any:
        return self.base_dist.entropy() + self.loc


class HalfNormal(TransformedDistribution):
    r"""Distribution of :math:`|x|` for normal :math:`x` of mean 0.

    Parameters
    ----------
    scale : float or Tensor
        The standard deviation of :math:`x`, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.HalfNormal(1.0).mean
    tensor(0.7979)
    """

    arg_constraints: ClassVar[Any] = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    base_dist: Any

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args)

    scale = of_base("The standard deviation of the normal distribution.")

    @property
    def mean(self) -> Any:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self) -> Any:
        return wg.zeros_like(self.scale)

    @property
    def variance(self) -> Any:
        return self.scale.square() * (1 - 2 / math.pi)

    def _log_prob(self, value: Any) -> Any:
        density = self.base_dist.log_prob(value) + math.log(2)
        return wg.where(value >= 0, density, -math.inf)

    def _cdf(self, value: Any) -> Any:
        return (value / (self.scale * math.sqrt(2))).erf()

    def _icdf(self, value: Any) -> Any:
        return self.scale * math.sqrt(2) * value.erfinv()

    def entropy(self) -> Any:
        return self.base_dist.entropy() - math.log(2)


class LogisticNormal(TransformedDistribution):
    r"""Distribution on the simplex: normal variables, one fewer, sent there by `StickBreakingTransform`.

    Parameters
    ----------
    loc : Tensor
        The means, in the last dimension.
    scale : Tensor
        The standard deviations, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.LogisticNormal(wg.zeros(2), wg.ones(2)).event_shape
    wengert.Size([3])
    """

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True
    base_dist: Any

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args)
        if not base.batch_shape:
            base = base.expand((1,))
        super().__init__(base, StickBreakingTransform(), validate_args)

    @property
    def loc(self) -> Any:
        """The means of the normal distribution."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Any:
        """The standard deviations of the normal distribution."""
        return self.base_dist.base_dist.scale
