"""Beta, Dirichlet and Kumaraswamy distributions."""

from __future__ import annotations

from typing import Any, ClassVar

import wengert as wg

from .. import constraints
from .._base import draws
from .._base.distribution import Distribution
from .._base.exponential_family import ExponentialFamily
from .location_scale import EULER


def _log_beta(x: Any, y: Any) -> Any:
    return x.lgamma() + y.lgamma() - (x + y).lgamma()


def _log_beta_of_vector(x: Any) -> Any:
    return x.lgamma().sum(-1) - x.sum(-1).lgamma()


class Beta(ExponentialFamily):
    r"""Beta distribution, :math:`p(x) \propto x^{a - 1} (1 - x)^{b - 1}` on [0, 1].

    Samples are functions of two gamma-distributed numbers, computed with their logarithms so that small parameters do
    not underflow.

    Parameters
    ----------
    concentration1 : float or Tensor
        :math:`a`, positive.
    concentration0 : float or Tensor
        :math:`b`, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.Beta(1.0, 3.0).mean
    tensor(0.2500)
    """

    arg_constraints: ClassVar[Any] = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0
    concentration1: Any
    concentration0: Any

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self._declare(validate_args, concentration1=concentration1, concentration0=concentration0)

    @property
    def _total(self) -> Any:
        return self.concentration1 + self.concentration0

    @property
    def mean(self) -> Any:
        return self.concentration1 / self._total

    @property
    def mode(self) -> Any:
        a, b = self.concentration1, self.concentration0
        above, below = (a - 1).clamp(min=0), (b - 1).clamp(min=0)
        return wg.where((a < 1) & (b < 1), (a >= b).to(a.dtype), above / (above + below))

    @property
    def variance(self) -> Any:
        total = self._total
        return self.concentration1 * self.concentration0 / (total.square() * (total + 1))

    def _draw(self, shape: Any) -> Any:
        first = draws.log_standard_gamma(self.concentration1.expand(shape))
        second = draws.log_standard_gamma(self.concentration0.expand(shape))
        return (first - second).sigmoid()

    def _log_prob(self, value: Any) -> Any:
        a, b = self.concentration1, self.concentration0
        return wg.xlogy(a - 1, value) + wg.special.xlog1py(b - 1, -value) - _log_beta(a, b)

    def entropy(self) -> Any:
        a, b, total = self.concentration1, self.concentration0, self._total
        return _log_beta(a, b) - (a - 1) * a.digamma() - (b - 1) * b.digamma() + (total - 2) * total.digamma()

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return self.concentration1 - 1, self.concentration0 - 1

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return _log_beta(x + 1, y + 1)


class Dirichlet(ExponentialFamily):
    r"""Dirichlet distribution, :math:`p(x) \propto \prod_k x_k^{\alpha_k - 1}` on the simplex.

    Samples are gamma-distributed numbers divided by their sum, computed with their logarithms so that small parameters
    do not underflow.

    Parameters
    ----------
    concentration : Tensor
        :math:`\alpha`, positive, in the last dimension.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.Dirichlet(wg.tensor([1.0, 3.0])).mean
    tensor([0.2500, 0.7500])
    """

    arg_constraints: ClassVar[Any] = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    concentration: Any

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self._declare(validate_args, concentration.shape[-1:], concentration=concentration)

    @property
    def mean(self) -> Any:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Any:
        excess = (self.concentration - 1).clamp(min=0)
        inside = excess / excess.sum(-1, True)
        largest = self.concentration == self.concentration.amax(-1, True)
        corner = largest & (largest.cumsum(-1) == 1)
        flat = (self.concentration < 1).all(-1, True)
        return wg.where(flat, corner.to(inside.dtype), inside)

    @property
    def variance(self) -> Any:
        total, mean = self.concentration.sum(-1, True), self.mean
        return mean * (1 - mean) / (total + 1)

    def _draw(self, shape: Any) -> Any:
        return draws.log_standard_gamma(self.concentration.expand(shape)).softmax(-1)

    def _log_prob(self, value: Any) -> Any:
        return wg.xlogy(self.concentration - 1, value).sum(-1) - _log_beta_of_vector(self.concentration)

    def entropy(self) -> Any:
        a = self.concentration
        total = a.sum(-1)
        return _log_beta_of_vector(a) + (total - a.size(-1)) * total.digamma() - ((a - 1) * a.digamma()).sum(-1)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.concentration - 1,)

    def _log_normalizer(self, x: Any) -> Any:
        return _log_beta_of_vector(x + 1)


class Kumaraswamy(Distribution):
    r"""Kumaraswamy distribution, :math:`p(x) = a b x^{a - 1} (1 - x^a)^{b - 1}` on [0, 1].

    Parameters
    ----------
    concentration1 : float or Tensor
        :math:`a`, positive.
    concentration0 : float or Tensor
        :math:`b`, positive.
    validate_args : bool, optional

    References
    ----------
    Kumaraswamy (1980), A generalized probability density function for double-bounded random processes.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.Kumaraswamy(1.0, 1.0).mean
    tensor(0.5000)
    """

    arg_constraints: ClassVar[Any] = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True
    concentration1: Any
    concentration0: Any

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self._declare(validate_args, concentration1=concentration1, concentration0=concentration0)

    def _moment(self, n: int) -> Any:
        b, more = self.concentration0, n / self.concentration1
        return (b.log() + (1 + more).lgamma() + b.lgamma() - (1 + more + b).lgamma()).exp()

    @property
    def mean(self) -> Any:
        return self._moment(1)

    @property
    def mode(self) -> Any:
        a, b = self.concentration1, self.concentration0
        inside = ((a - 1) / (a * b - 1)).pow(1 / a)
        return wg.where((a < 1) | (b < 1), wg.nan, inside)

    @property
    def variance(self) -> Any:
        return self._moment(2) - self._moment(1).square()

    def _draw(self, shape: Any) -> Any:
        a, b = self.concentration1, self.concentration0
        value = (-(-draws.standard_exponential(shape, a) / b).expm1()).pow(1 / a)
        info = wg.finfo(value.dtype)
        return value.clamp(info.tiny, 1 - info.eps)

    def _log_survival(self, value: Any) -> Any:
        """Return log(1 - x**a)."""
        return (-wg.xlogy(self.concentration1, value).expm1()).log()

    def _log_prob(self, value: Any) -> Any:
        a, b = self.concentration1, self.concentration0
        return a.log() + b.log() + wg.xlogy(a - 1, value) + (b - 1) * self._log_survival(value)

    def _cdf(self, value: Any) -> Any:
        return -(self.concentration0 * self._log_survival(value)).expm1()

    def _icdf(self, value: Any) -> Any:
        return (-((-value).log1p() / self.concentration0).expm1()).pow(1 / self.concentration1)

    def entropy(self) -> Any:
        a, b = self.concentration1, self.concentration0
        harmonic = (b + 1).digamma() + EULER
        return (1 - 1 / b) + (1 - 1 / a) * harmonic - a.log() - b.log()
