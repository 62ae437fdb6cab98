"""Bernoulli and geometric distributions."""

from __future__ import annotations

from typing import Any, ClassVar

import wengert as wg

from .. import constraints
from .._base import draws
from .._base.exponential_family import ExponentialFamily
from .._base.parameters import one_of
from .._base.probs_or_logits import GivenBinary
from .._base.validation import holds


class Bernoulli(GivenBinary, ExponentialFamily):
    r"""Bernoulli distribution: 1 with probability :math:`p`, else 0.

    Parameters
    ----------
    probs : float or Tensor, optional
        :math:`p`.
    logits : float or Tensor, optional
        :math:`\log(p / (1 - p))`, instead of `probs`.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> d = wg.distributions.Bernoulli(0.25)
    >>> d.log_prob(wg.tensor([0.0, 1.0])).exp()
    tensor([0.7500, 0.2500])
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._declare(validate_args, **one_of(probs=probs, logits=logits))

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        likely = (self.probs >= 0.5).to(self.probs.dtype)
        return wg.where(self.probs == 0.5, wg.nan, likely)

    @property
    def variance(self) -> Any:
        return self.probs * self._contrary

    def _draw(self, shape: Any) -> Any:
        return wg.bernoulli(self.probs.expand(shape))

    def _log_prob(self, value: Any) -> Any:
        return self._weighted(value, 1 - value)

    def entropy(self) -> Any:
        return -self._weighted(self.probs, self._contrary)

    def enumerate_support(self, expand: bool = True) -> Any:
        return self._listed(wg.arange(2, dtype=self._param.dtype, device=self._param.device), expand)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Any:
        return wg.logaddexp(x, wg.zeros_like(x))


class Geometric(GivenBinary):
    r"""Geometric distribution: of the number of failures before the first success, :math:`P(k) = (1 - p)^k p`.

    Parameters
    ----------
    probs : float or Tensor, optional
        The probability :math:`p` of a success, positive.
    logits : float or Tensor, optional
        :math:`\log(p / (1 - p))`, instead of `probs`.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.Geometric(0.25).mean
    tensor(3.)
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._declare(validate_args, **one_of(probs=probs, logits=logits))
        if self._validate_args and self._given == "probs" and not holds(self.probs > 0):
            raise ValueError(f"Expected parameter probs of Geometric to be positive, but found {self.probs.detach()}")

    @property
    def mean(self) -> Any:
        return self._contrary / self.probs

    @property
    def mode(self) -> Any:
        return wg.zeros_like(self.probs)

    @property
    def variance(self) -> Any:
        return self._contrary / self.probs.square()

    def _draw(self, shape: Any) -> Any:
        log_contrary = self._weighted(0.0, 1.0)
        return (draws.standard_exponential(shape, self._param) / -log_contrary).floor()

    def _log_prob(self, value: Any) -> Any:
        return self._weighted(1.0, value)

    def entropy(self) -> Any:
        return -self._weighted(self.probs, self._contrary) / self.probs
