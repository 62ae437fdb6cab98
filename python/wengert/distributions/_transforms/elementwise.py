"""Transforms of numbers."""

from __future__ import annotations

import math
from typing import Any

import wengert as wg
from wengert._C import Tensor
from wengert.nn.functional import logsigmoid

from .. import constraints
from .._base.parameters import sum_rightmost
from .transform import Transform, broadcast_shape


def softplus(x: Any) -> Any:
    """Return log(1 + exp(x)) with all digits, also where it is nearly x."""
    return -logsigmoid(-x)


class _Increasing(Transform):
    """What increasing bijections between intervals have in common."""

    domain = constraints.real
    bijective = True
    sign = 1
    _equal_if_equal = ()


class ExpTransform(_Increasing):
    r"""The map :math:`y = \exp(x)`."""

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x


class SigmoidTransform(_Increasing):
    r"""The map :math:`y = 1 / (1 + \exp(-x))`, kept away from 0 and 1 so that it can be inverted."""

    codomain = constraints.unit_interval

    def _call(self, x: Any) -> Any:
        info = wg.finfo(x.dtype)
        return x.sigmoid().clamp(info.tiny, 1 - info.eps)

    def _inverse(self, y: Any) -> Any:
        info = wg.finfo(y.dtype)
        y = y.clamp(info.tiny, 1 - info.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return logsigmoid(x) + logsigmoid(-x)


class SoftplusTransform(_Increasing):
    r"""The map :math:`y = \log(1 + \exp(x))`."""

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-(-y).expm1()).log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return logsigmoid(x)


class TanhTransform(_Increasing):
    r"""The map :math:`y = \tanh(x)`. Its inverse is infinite where `y` has been rounded to 1: use a cache."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return log_one_minus_tanh_squared(x)


def log_one_minus_tanh_squared(x: Any) -> Any:
    """Return log(1 - tanh(x)**2) without a difference of nearly equal numbers."""
    return 2 * (math.log(2) + logsigmoid(2 * x) - x)


class PowerTransform(Transform):
    r"""The map :math:`y = x^a` of positive numbers.

    Parameters
    ----------
    exponent : float or Tensor
        :math:`a`, not 0.
    cache_size : int, default 0
    """

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True
    _equal_if_equal = ("exponent",)

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent = exponent if isinstance(exponent, Tensor) else wg.tensor(float(exponent), device="cpu")

    @property
    def sign(self) -> Any:
        """The sign of the exponent."""
        return self.exponent.sign()

    def _call(self, x: Any) -> Any:
        return x.pow(self.exponent)

    def _inverse(self, y: Any) -> Any:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self.exponent.abs().log() + (self.exponent - 1) * x.log()

    def forward_shape(self, shape: Any) -> Any:
        return broadcast_shape(shape, self.exponent)

    inverse_shape = forward_shape


class AbsTransform(Transform):
    r"""The map :math:`y = |x|`; its inverse is the positive one of the two."""

    domain = constraints.real
    codomain = constraints.positive
    _equal_if_equal = ()

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class AffineTransform(Transform):
    r"""The map :math:`y = \mathrm{loc} + \mathrm{scale} \cdot x`.

    Parameters
    ----------
    loc, scale : float or Tensor
    event_dim : int, default 0
        How many dimensions make one variable.
    cache_size : int, default 0
    """

    bijective = True
    _equal_if_equal = ("loc", "scale", "event_dim")

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self) -> int:
        """How many dimensions make one variable."""
        return self._event_dim

    @property
    def domain(self) -> Any:
        """All numbers or vectors."""
        return constraints.independent(constraints.real, self._event_dim) if self._event_dim else constraints.real

    codomain = domain

    @property
    def sign(self) -> Any:
        """The sign of the scale."""
        return self.scale.sign() if isinstance(self.scale, Tensor) else (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        shape, scale = broadcast_shape(x.shape, self.scale), self.scale
        if not isinstance(scale, Tensor):
            scale = wg.tensor(float(scale), dtype=x.dtype, device=x.device)
        return sum_rightmost(scale.abs().log().expand(shape), self._event_dim)

    def forward_shape(self, shape: Any) -> Any:
        return broadcast_shape(shape, self.loc, self.scale)

    inverse_shape = forward_shape


class CumulativeDistributionTransform(Transform):
    """The map from values of a distribution of numbers to their probabilities, ``y = distribution.cdf(x)``.

    Parameters
    ----------
    distribution : Distribution
        One with `cdf` and `icdf`.
    cache_size : int, default 0

    Examples
    --------
    A distribution of uniform numbers that are correlated (a Gaussian copula) has the quantiles of any other:

    >>> import wengert as wg
    >>> from wengert.distributions import Normal, transforms
    >>> to_uniform = transforms.CumulativeDistributionTransform(Normal(0.0, 1.0))
    >>> to_uniform(wg.tensor([0.0]))
    tensor([0.5000])
    """

    bijective = True
    sign = 1
    codomain = constraints.unit_interval

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        """The support of the distribution."""
        return self.distribution.support

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self.distribution.log_prob(x)
