"""Families of numbers with a location and a scale: Cauchy, Laplace, Gumbel, and the folded Cauchy distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import wengert as wg

from .. import constraints
from .._base import draws
from .._base.distribution import Distribution
from .._composed.of_base import of_base
from .._composed.transformed import TransformedDistribution
from .._transforms.elementwise import AbsTransform

EULER = 0.57721566490153286061


class _LocationScale(Distribution):
    """Distribution of :math:`loc + scale * z`, where `_standard(shape, like)` draws z."""

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _standard: Any
    loc: Any
    scale: Any

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self._declare(validate_args, loc=loc, scale=scale)

    @property
    def mode(self) -> Any:
        return self.loc

    def _draw(self, shape: Any) -> Any:
        return self.loc + self.scale * self._standard(shape, self.scale)

    def _standardized(self, value: Any) -> Any:
        return (value - self.loc) / self.scale


class Cauchy(_LocationScale):
    r"""Cauchy distribution, :math:`p(x) = 1 / (\pi \gamma (1 + ((x - m) / \gamma)^2))`.

    Parameters
    ----------
    loc : float or Tensor
        The median :math:`m`.
    scale : float or Tensor
        :math:`\gamma`, half of the width at half height, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.Cauchy(0.0, 1.0).cdf(wg.tensor(1.0))
    tensor(0.7500)
    """

    _standard = staticmethod(draws.standard_cauchy)

    @property
    def mean(self) -> Any:
        return wg.full_like(self.loc, math.nan)

    @property
    def variance(self) -> Any:
        return wg.full_like(self.loc, math.inf)

    def _log_prob(self, value: Any) -> Any:
        return -math.log(math.pi) - self.scale.log() - self._standardized(value).square().log1p()

    def _cdf(self, value: Any) -> Any:
        z = self._standardized(value)
        return wg.atan2(wg.ones_like(z), -z) / math.pi  # not 1/2 + atan(z) / pi: that loses the lower tail

    def _icdf(self, value: Any) -> Any:
        return self.loc - self.scale / (math.pi * value).tan()

    def entropy(self) -> Any:
        return math.log(4 * math.pi) + self.scale.log()


class HalfCauchy(TransformedDistribution):
    r"""Distribution of :math:`|x|` for :math:`x` of a Cauchy distribution around 0.

    Parameters
    ----------
    scale : float or Tensor
        Of the Cauchy distribution, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.HalfCauchy(1.0).icdf(wg.tensor(0.5))
    tensor(1.)
    """

    arg_constraints: ClassVar[Any] = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    base_dist: Any

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args)

    scale = of_base("The scale of the Cauchy distribution.")

    @property
    def mean(self) -> Any:
        return wg.full_like(self.scale, math.inf)

    @property
    def mode(self) -> Any:
        return wg.zeros_like(self.scale)

    variance = of_base("The variance.")

    def _log_prob(self, value: Any) -> Any:
        return wg.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def _cdf(self, value: Any) -> Any:
        return (value / self.scale).atan() * (2 / math.pi)

    def _icdf(self, value: Any) -> Any:
        return self.scale * (value * (math.pi / 2)).tan()

    def entropy(self) -> Any:
        return self.base_dist.entropy() - math.log(2)


class Laplace(_LocationScale):
    r"""Laplace distribution, :math:`p(x) = \exp(-|x - \mu| / b) / 2 b`.

    Parameters
    ----------
    loc : float or Tensor
        The mean :math:`\mu`.
    scale : float or Tensor
        :math:`b`, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.Laplace(0.0, 1.0).log_prob(wg.tensor(0.0))
    tensor(-0.6931)
    """

    _standard = staticmethod(draws.standard_laplace)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return 2 * self.scale.square()

    @property
    def stddev(self) -> Any:
        return math.sqrt(2) * self.scale

    def _log_prob(self, value: Any) -> Any:
        return -(2 * self.scale).log() - self._standardized(value).abs()

    def _cdf(self, value: Any) -> Any:
        z = self._standardized(value)
        tail = 0.5 * (-z.abs()).exp()
        return wg.where(z < 0, tail, 1 - tail)

    def _icdf(self, value: Any) -> Any:
        return self.loc + self.scale * wg.where(value < 0.5, (2 * value).log(), -(2 - 2 * value).log())

    def entropy(self) -> Any:
        return 1 + (2 * self.scale).log()


class Gumbel(_LocationScale):
    r"""Gumbel distribution, :math:`p(x) = \exp(-z - e^{-z}) / \beta` with :math:`z = (x - \mu) / \beta`.

    Parameters
    ----------
    loc : float or Tensor
        The mode :math:`\mu`.
    scale : float or Tensor
        :math:`\beta`, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.Gumbel(0.0, 1.0).mean
    tensor(0.5772)
    """

    _standard = staticmethod(draws.standard_gumbel)

    @property
    def mean(self) -> Any:
        return self.loc + EULER * self.scale

    @property
    def stddev(self) -> Any:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Any:
        return self.stddev.square()

    def _log_prob(self, value: Any) -> Any:
        z = self._standardized(value)
        return -z - (-z).exp() - self.scale.log()

    def _cdf(self, value: Any) -> Any:
        return (-(-self._standardized(value)).exp()).exp()

    def _icdf(self, value: Any) -> Any:
        return self.loc - self.scale * (-value.log()).log()

    def entropy(self) -> Any:
        return self.scale.log() + (1 + EULER)
