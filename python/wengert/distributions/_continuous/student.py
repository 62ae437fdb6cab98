"""Student's t and the Fisher-Snedecor distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import wengert as wg

from .. import constraints
from .._base import draws
from .._base.distribution import Distribution


class StudentT(Distribution):
    r"""Student's t distribution, :math:`p(x) \propto (1 + z^2 / \nu)^{-(\nu + 1) / 2}` with :math:`z = (x - \mu) / s`.

    Parameters
    ----------
    df : float or Tensor
        The degrees of freedom :math:`\nu`, positive.
    loc : float or Tensor, default 0
        :math:`\mu`.
    scale : float or Tensor, default 1
        :math:`s`, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.StudentT(4.0).variance
    tensor(2.)
    """

    arg_constraints: ClassVar[Any] = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True
    df: Any
    loc: Any
    scale: Any

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self._declare(validate_args, df=df, loc=loc, scale=scale)

    @property
    def mean(self) -> Any:
        return wg.where(self.df > 1, self.loc, math.nan)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        finite = self.scale.square() * self.df / (self.df - 2)
        return wg.where(self.df > 2, finite, wg.where(self.df > 1, math.inf, math.nan))

    def _draw(self, shape: Any) -> Any:
        half = (self.df / 2).expand(shape)
        normal = draws.standard_normal(shape, self.df)
        return self.loc + self.scale * normal * (half / draws.standard_gamma(half)).sqrt()

    def _log_beta(self) -> Any:
        """Return log B(1/2, df/2)."""
        return 0.5 * math.log(math.pi) + (self.df / 2).lgamma() - ((self.df + 1) / 2).lgamma()

    def _log_prob(self, value: Any) -> Any:
        z = (value - self.loc) / self.scale
        tail = -0.5 * (self.df + 1) * (z.square() / self.df).log1p()
        return tail - self.scale.log() - 0.5 * self.df.log() - self._log_beta()

    def entropy(self) -> Any:
        df = self.df
        middle = 0.5 * (df + 1) * ((0.5 * (df + 1)).digamma() - (0.5 * df).digamma())
        return self.scale.log() + middle + 0.5 * df.log() + self._log_beta()


class FisherSnedecor(Distribution):
    r"""Fisher-Snedecor distribution: of the quotient of two chi-squared variables, each divided by its mean.

    Parameters
    ----------
    df1, df2 : float or Tensor
        The degrees of freedom of numerator and denominator, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.FisherSnedecor(1.0, 4.0).mean
    tensor(2.)
    """

    arg_constraints: ClassVar[Any] = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True
    df1: Any
    df2: Any

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self._declare(validate_args, df1=df1, df2=df2)

    @property
    def mean(self) -> Any:
        return wg.where(self.df2 > 2, self.df2 / (self.df2 - 2), math.nan)

    @property
    def mode(self) -> Any:
        inside = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return wg.where(self.df1 > 2, inside, math.nan)

    @property
    def variance(self) -> Any:
        a, b = self.df1, self.df2
        finite = 2 * b.square() * (a + b - 2) / (a * (b - 2).square() * (b - 4))
        return wg.where(b > 4, finite, math.nan)

    def _draw(self, shape: Any) -> Any:
        halves = [(df / 2).expand(shape) for df in (self.df1, self.df2)]
        first, second = [draws.standard_gamma(half) / half for half in halves]
        tiny = wg.finfo(first.dtype).tiny
        return (first / second.clamp(min=tiny)).clamp(min=tiny)

    def _log_prob(self, value: Any) -> Any:
        a, b = self.df1 / 2, self.df2 / 2
        ratio = self.df1 / self.df2
        normalizer = (a + b).lgamma() - a.lgamma() - b.lgamma()
        return normalizer + a * ratio.log() + wg.xlogy(a - 1, value) - (a + b) * (ratio * value).log1p()
