"""Exponential, gamma, inverse gamma and chi-squared distributions."""

from __future__ import annotations

from typing import Any, ClassVar

import wengert as wg

from .. import constraints
from .._base import draws
from .._base.exponential_family import ExponentialFamily
from .._base.parameters import lazy
from .._composed.of_base import of_base
from .._composed.transformed import TransformedDistribution
from .._transforms.elementwise import PowerTransform


class Exponential(ExponentialFamily):
    r"""Exponential distribution, :math:`p(x) = \lambda \exp(-\lambda x)`.

    Parameters
    ----------
    rate : float or Tensor
        :math:`\lambda`, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.Exponential(2.0).mean
    tensor(0.5000)
    """

    arg_constraints: ClassVar[Any] = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    rate: Any

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        self._declare(validate_args, rate=rate)

    @property
    def mean(self) -> Any:
        return 1 / self.rate

    @property
    def mode(self) -> Any:
        return wg.zeros_like(self.rate)

    @property
    def stddev(self) -> Any:
        return 1 / self.rate

    @property
    def variance(self) -> Any:
        return self.rate.pow(-2)

    def _draw(self, shape: Any) -> Any:
        return draws.standard_exponential(shape, self.rate) / self.rate

    def _log_prob(self, value: Any) -> Any:
        return self.rate.log() - self.rate * value

    def _cdf(self, value: Any) -> Any:
        return -(-self.rate * value).expm1()

    def _icdf(self, value: Any) -> Any:
        return -(-value).log1p() / self.rate

    def entropy(self) -> Any:
        return 1 - self.rate.log()

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (-self.rate,)

    def _log_normalizer(self, x: Any) -> Any:
        return -(-x).log()


class Gamma(ExponentialFamily):
    r"""Gamma distribution, :math:`p(x) = \beta^\alpha x^{\alpha - 1} \exp(-\beta x) / \Gamma(\alpha)`.

    Samples are differentiable with respect to both parameters, by implicit differentiation of the quantile.

    Parameters
    ----------
    concentration : float or Tensor
        The shape :math:`\alpha`, positive.
    rate : float or Tensor
        :math:`\beta`, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> d = wg.distributions.Gamma(2.0, 4.0)
    >>> d.mean, d.variance
    (tensor(0.5000), tensor(0.1250))
    """

    arg_constraints: ClassVar[Any] = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    concentration: Any
    rate: Any

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self._declare(validate_args, concentration=concentration, rate=rate)

    @property
    def mean(self) -> Any:
        return self.concentration / self.rate

    @property
    def mode(self) -> Any:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Any:
        return self.concentration / self.rate.square()

    def _draw(self, shape: Any) -> Any:
        value = draws.standard_gamma(self.concentration.expand(shape)) / self.rate
        return value.clamp(min=wg.finfo(value.dtype).tiny)

    def _log_prob(self, value: Any) -> Any:
        shape = self.concentration
        return wg.xlogy(shape, self.rate) + wg.xlogy(shape - 1, value) - self.rate * value - shape.lgamma()

    def _cdf(self, value: Any) -> Any:
        return wg.special.gammainc(self.concentration, self.rate * value)

    def entropy(self) -> Any:
        shape = self.concentration
        return shape - self.rate.log() + shape.lgamma() + (1 - shape) * shape.digamma()

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return (x + 1).lgamma() - (x + 1) * (-y).log()


class Chi2(Gamma):
    r"""Chi-squared distribution: of the sum of squares of :math:`k` standard normal variables.

    Parameters
    ----------
    df : float or Tensor
        The degrees of freedom :math:`k`, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.Chi2(3.0).mean
    tensor(3.)
    """

    arg_constraints: ClassVar[Any] = {"df": constraints.positive}

    df: Any

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        self._declare(validate_args, df=df)

    @lazy
    def concentration(self) -> Any:
        """Half of the degrees of freedom."""
        return 0.5 * self.df

    @lazy
    def rate(self) -> Any:
        """One half."""
        return wg.full_like(self.df.detach(), 0.5)


class InverseGamma(TransformedDistribution):
    r"""Distribution of :math:`1 / x` for gamma-distributed :math:`x`.

    Parameters
    ----------
    concentration : float or Tensor
        The shape :math:`\alpha` of the gamma distribution, positive.
    rate : float or Tensor
        The rate :math:`\beta` of the gamma distribution, the scale of this one; positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.InverseGamma(3.0, 4.0).mean
    tensor(2.)
    """

    arg_constraints: ClassVar[Any] = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    base_dist: Any

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args)
        exponent = wg.tensor(-1.0, dtype=base.rate.dtype, device=base.rate.device)
        super().__init__(base, PowerTransform(exponent), validate_args)

    concentration = of_base("The shape of the gamma distribution.")
    rate = of_base("The rate of the gamma distribution.")

    @property
    def mean(self) -> Any:
        return wg.where(self.concentration > 1, self.rate / (self.concentration - 1), wg.inf)

    @property
    def mode(self) -> Any:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Any:
        shape = self.concentration
        return wg.where(shape > 2, self.rate.square() / ((shape - 1).square() * (shape - 2)), wg.inf)

    def _cdf(self, value: Any) -> Any:
        return wg.special.gammaincc(self.concentration, self.rate / value)

    def entropy(self) -> Any:
        shape = self.concentration
        return shape + self.rate.log() + shape.lgamma() - (1 + shape) * shape.digamma()
