"""Binomial, negative binomial, Poisson and multinomial distributions."""

from __future__ import annotations

from typing import Any, ClassVar

import wengert as wg
from wengert._C import Tensor, _unbatched

from .. import constraints
from .._base import draws
from .._base.exponential_family import ExponentialFamily
from .._base.parameters import lazy, one_of
from .._base.probs_or_logits import GivenBinary, GivenCategories
from .categorical import Categorical


def _log_choose(total: Any, value: Any) -> Any:
    """Return the logarithm of the number of ways to choose."""
    return (total + 1).lgamma() - (value + 1).lgamma() - (total - value + 1).lgamma()


def _as_dtype_of(total: Any, parameter: Any) -> Any:
    """Return a count in the dtype of the parameter that goes with it."""
    if isinstance(total, Tensor) and isinstance(parameter, Tensor):
        return total.to(parameter.dtype)
    return total.to(wg.get_default_dtype()) if isinstance(total, Tensor) and not total.is_floating_point() else total


class Binomial(GivenBinary):
    r"""Binomial distribution, :math:`P(k) = \binom{n}{k} p^k (1 - p)^{n - k}`.

    Parameters
    ----------
    total_count : int or Tensor, default 1
        The number :math:`n` of trials.
    probs : float or Tensor, optional
        The probability :math:`p` of a success.
    logits : float or Tensor, optional
        :math:`\log(p / (1 - p))`, instead of `probs`.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.Binomial(2, 0.5).log_prob(wg.tensor([0.0, 1.0, 2.0])).exp()
    tensor([0.2500, 0.5000, 0.2500])
    """

    arg_constraints: ClassVar[Any] = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True
    total_count: Any

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        given = one_of(probs=probs, logits=logits)
        total_count = _as_dtype_of(total_count, next(iter(given.values())))
        self._declare(validate_args, total_count=total_count, **given)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """The integers from 0 to the number of trials."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Any:
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        return wg.minimum(((self.total_count + 1) * self.probs).floor(), self.total_count)

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * self._contrary

    def _draw(self, shape: Any) -> Any:
        return draws.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def _log_prob(self, value: Any) -> Any:
        return _log_choose(self.total_count, value) + self._weighted(value, self.total_count - value)

    def _one_count(self) -> int:
        """Return the number of trials if it is the same in the whole batch."""
        counts = _unbatched(self.total_count)
        if counts.numel() == 0 or bool((counts != counts.amax()).any()):
            raise NotImplementedError("Inhomogeneous total count not supported by `entropy` and `enumerate_support`.")
        return int(counts.amax())

    def entropy(self) -> Any:
        self._one_count()
        log_prob = self._log_prob(self.enumerate_support(False))
        return -wg.where(log_prob > -wg.inf, log_prob.exp() * log_prob, 0.0).sum(0)

    def enumerate_support(self, expand: bool = True) -> Any:
        like = self._param
        return self._listed(wg.arange(1 + self._one_count(), dtype=like.dtype, device=like.device), expand)


class NegativeBinomial(GivenBinary):
    r"""Negative binomial distribution, :math:`P(k) = \Gamma(r + k) / (k!\, \Gamma(r))\; (1 - p)^r p^k`.

    It is that of the number of successes before the :math:`r`-th failure, and a mixture of Poisson distributions whose
    rates are gamma-distributed.

    Parameters
    ----------
    total_count : float or Tensor
        :math:`r`, not negative; need not be an integer.
    probs : float or Tensor, optional
        The probability :math:`p` of a success, below 1.
    logits : float or Tensor, optional
        :math:`\log(p / (1 - p))`, instead of `probs`.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.NegativeBinomial(3.0, 0.5).mean
    tensor(3.)
    """

    arg_constraints: ClassVar[Any] = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer
    total_count: Any

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        given = one_of(probs=probs, logits=logits)
        total_count = _as_dtype_of(total_count, next(iter(given.values())))
        self._declare(validate_args, total_count=total_count, **given)

    @property
    def _odds(self) -> Any:
        return self.probs / self._contrary if self._given == "probs" else self.logits.exp()

    @property
    def mean(self) -> Any:
        return self.total_count * self._odds

    @property
    def mode(self) -> Any:
        return ((self.total_count - 1) * self._odds).floor().clamp(min=0.0)

    @property
    def variance(self) -> Any:
        return self.mean / self._contrary

    def _draw(self, shape: Any) -> Any:
        return draws.poisson(draws.standard_gamma(self.total_count.expand(shape)) * self._odds)

    def _log_prob(self, value: Any) -> Any:
        total = self.total_count
        ways = (total + value).lgamma() - (value + 1).lgamma() - total.lgamma()
        return wg.where(total + value == 0, 0.0, ways) + self._weighted(value, total)


class Poisson(ExponentialFamily):
    r"""Poisson distribution, :math:`P(k) = \lambda^k e^{-\lambda} / k!`.

    Parameters
    ----------
    rate : float or Tensor
        The mean :math:`\lambda`, not negative.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.Poisson(2.0).log_prob(wg.tensor(0.0))
    tensor(-2.)
    """

    arg_constraints: ClassVar[Any] = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer
    rate: Any

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        self._declare(validate_args, rate=rate)

    @property
    def mean(self) -> Any:
        return self.rate

    @property
    def mode(self) -> Any:
        return self.rate.floor()

    @property
    def variance(self) -> Any:
        return self.rate

    def _draw(self, shape: Any) -> Any:
        return draws.poisson(self.rate.expand(shape))

    def _log_prob(self, value: Any) -> Any:
        return wg.xlogy(value, self.rate) - self.rate - (value + 1).lgamma()

    def entropy(self) -> Any:
        raise self._missing("entropy")

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.rate.log(),)

    def _log_normalizer(self, x: Any) -> Any:
        return x.exp()


class Multinomial(GivenCategories):
    r"""Multinomial distribution: of the counts of categories in :math:`n` trials.

    .. math:: P(k) = n! \prod_i p_i^{k_i} / k_i!

    Parameters
    ----------
    total_count : int, default 1
        The number :math:`n` of trials.
    probs : Tensor, optional
        :math:`p`, in the last dimension; not negative, divided by its sum.
    logits : Tensor, optional
        :math:`\log p`, up to a constant, instead of `probs`.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.Multinomial(4, wg.tensor([1.0, 3.0])).mean
    tensor([1., 3.])
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.simplex, "logits": constraints.real_vector}
    total_count: int

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported: it must be an int")
        given = self._normalized(one_of(probs=probs, logits=logits))
        ((_, value),) = given.items()
        self.total_count = total_count
        self._declare(validate_args, value.shape[-1:], **given)

    @lazy
    def _categorical(self) -> Categorical:
        return Categorical(**{self._given: self._param}, validate_args=False)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        """Vectors of counts."""
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Any:
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def _draw(self, shape: Any) -> Any:
        trials = self._categorical.sample((self.total_count, *shape[: len(shape) - len(self._batch_shape) - 1]))
        trials = trials.movedim(0, -1)
        like = self._param
        ones = wg.ones(trials.shape, dtype=like.dtype, device=like.device)
        return wg.zeros(shape, dtype=like.dtype, device=like.device).scatter_add(-1, trials, ones)

    def _log_prob(self, value: Any) -> Any:
        total = value.sum(-1)
        if self._given == "probs":
            likelihood = wg.xlogy(value, self.probs).sum(-1)
        else:
            likelihood = wg.where(value == 0, 0.0, value * self.logits).sum(-1)
        return (total + 1).lgamma() - (value + 1).lgamma().sum(-1) + likelihood

    def entropy(self) -> Any:
        n = wg.tensor(float(self.total_count), dtype=self._param.dtype, device=self._param.device)
        each = Binomial(self.total_count, probs=self.probs, validate_args=False)
        counts = each.enumerate_support(False)[1:]
        factorials = (each._log_prob(counts).exp() * (counts + 1).lgamma()).sum((0, -1))
        return n * self._categorical.entropy() - (n + 1).lgamma() + factorials
