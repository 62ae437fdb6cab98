"""The uniform distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import wengert as wg

from .. import constraints
from .._base.distribution import Distribution
from .._base.validation import holds


class Uniform(Distribution):
    r"""Uniform distribution on :math:`[\mathrm{low}, \mathrm{high})`.

    Parameters
    ----------
    low, high : float or Tensor
        The ends.
    validate_args : bool, optional

    Raises
    ------
    ValueError
        If `low` is not below `high` and arguments are validated.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.Uniform(1.0, 3.0).variance
    tensor(0.3333)
    """

    has_rsample = True
    low: Any
    high: Any

    arg_constraints: ClassVar[Any] = {
        "low": constraints.dependent(is_discrete=False, event_dim=0),
        "high": constraints.dependent(is_discrete=False, event_dim=0),
    }

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self._declare(validate_args, low=low, high=high)
        if self._validate_args and not holds(self.low < self.high):
            raise ValueError("Uniform is not defined when low >= high")

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """The interval."""
        return constraints.interval(self.low, self.high)

    @property
    def _width(self) -> Any:
        return self.high - self.low

    @property
    def mean(self) -> Any:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Any:
        return wg.full_like(self.high, math.nan)

    @property
    def stddev(self) -> Any:
        return self._width / math.sqrt(12)

    @property
    def variance(self) -> Any:
        return self._width.square() / 12

    def _draw(self, shape: Any) -> Any:
        return self.low + self._width * wg.rand(shape, dtype=self.low.dtype, device=self.low.device)

    def _log_prob(self, value: Any) -> Any:
        return wg.where((self.low <= value) & (value < self.high), -self._width.log(), -math.inf)

    def _cdf(self, value: Any) -> Any:
        return ((value - self.low) / self._width).clamp(0, 1)

    def _icdf(self, value: Any) -> Any:
        return self.low + self._width * value

    def entropy(self) -> Any:
        return self._width.log()
