"""The continuous Bernoulli distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import wengert as wg

from .. import constraints
from .._base import draws
from .._base.exponential_family import ExponentialFamily
from .._base.parameters import one_of
from .._base.probs_or_logits import GivenBinary
from .series import near_zero, polynomial

# Around u = 0, in powers of u**2: log(sinh(u) / u), its derivative coth(u) - 1/u, and that one's.
_SERIES = (
    (0, 1 / 6, -1 / 180, 1 / 2835, -1 / 37800, 1 / 467775),
    (1 / 3, -1 / 45, 2 / 945, -1 / 4725, 2 / 93555),
    (1 / 3, -1 / 15, 2 / 189, -1 / 675, 2 / 10395),
)
_SMALL = 0.2


def _around_zero(order: int, u: Any, direct: Any) -> Any:
    """Return the series of an order near 0 and `direct` of what is away from it."""
    factor = 1 if order != 1 else u
    return (
        near_zero(
            u, _SMALL, lambda v: polynomial(_SERIES[order], v.square()), lambda v: direct(v) / (v if order == 1 else 1)
        )
        * factor
    )


class ContinuousBernoulli(GivenBinary, ExponentialFamily):
    r"""Continuous Bernoulli distribution, :math:`p(x) \propto \lambda^x (1 - \lambda)^{1 - x}` on [0, 1].

    With the logit :math:`l` of :math:`\lambda` this is :math:`p(x) = l e^{l x} / (e^l - 1)`. All functions here are of
    :math:`l`, with a series where it is near 0, so nothing has to be cut out around :math:`\lambda = 1/2`.

    Parameters
    ----------
    probs : float or Tensor, optional
        :math:`\lambda`, between 0 and 1. This is not the mean.
    logits : float or Tensor, optional
        :math:`l`, instead of `probs`.
    lims : tuple of float
        Accepted for compatibility.
    validate_args : bool, optional

    References
    ----------
    Loaiza-Ganem and Cunningham (2019), The continuous Bernoulli: fixing a pervasive error in variational autoencoders.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.ContinuousBernoulli(0.5).mean
    tensor(0.5000)
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._declare(validate_args, **one_of(probs=probs, logits=logits))

    @property
    def mean(self) -> Any:
        return 0.5 + 0.5 * _around_zero(1, self.logits / 2, lambda u: 1 / u.tanh() - 1 / u)

    @property
    def variance(self) -> Any:
        return 0.25 * _around_zero(2, self.logits / 2, lambda u: u.pow(-2) - u.sinh().pow(-2))

    def _draw(self, shape: Any) -> Any:
        return self._icdf(draws.standard_uniform(shape, self._param))

    def _log_prob(self, value: Any) -> Any:
        return self.logits * (value - 0.5) - _log_sinhc(self.logits / 2)

    def _cdf(self, value: Any) -> Any:
        # expm1(l x) / expm1(l), with exponents that are not positive
        x, size, flat = value, *self._size()
        rising = (size * (x - 1)).exp() * (-size * x).expm1() / (-size).expm1()
        falling = (-size * x).expm1() / (-size).expm1()
        result = wg.where(flat, x, wg.where(self.logits > 0, rising, falling))
        return wg.where(x <= 0, 0.0, wg.where(x >= 1, 1.0, result))

    def _icdf(self, value: Any) -> Any:
        # log(1 + p (exp(l) - 1)) / l
        size, flat = self._size()
        steep = wg.logaddexp((-value).log1p(), value.log() + size) / size
        rising = wg.where(size > 1, steep, (value * size.clamp(max=1).expm1()).log1p() / size)
        falling = -(value * (-size).expm1()).log1p() / size
        return wg.where(flat, value, wg.where(self.logits > 0, rising, falling))

    def _size(self) -> tuple[Any, Any]:
        """Return the absolute logit, 1 where it is 0, and where it is."""
        flat = self.logits == 0
        return wg.where(flat, 1.0, self.logits.abs()), flat

    def entropy(self) -> Any:
        return _log_sinhc(self.logits / 2) - self.logits * (self.mean - 0.5)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Any:
        return x / 2 + _log_sinhc(x / 2)


def _log_sinhc(u: Any) -> Any:
    """Return log(sinh(u) / u)."""
    direct = lambda v: v.abs() + (-(-2 * v.abs()).expm1()).log() - (2 * v.abs()).log()  # noqa: E731
    return _around_zero(0, u, direct)
