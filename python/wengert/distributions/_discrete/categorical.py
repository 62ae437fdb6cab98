"""Categorical distributions, of indices and of vectors with a single one."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import wengert as wg
from wengert.nn.functional import one_hot
from wengert.special import entr

from .. import constraints
from .._base.parameters import lazy, one_of
from .._base.probs_or_logits import GivenCategories


class Categorical(GivenCategories):
    r"""Categorical distribution: of an index, :math:`P(k) = p_k`.

    Parameters
    ----------
    probs : Tensor, optional
        :math:`p`, in the last dimension; not negative, divided by its sum.
    logits : Tensor, optional
        :math:`\log p`, up to a constant, instead of `probs`.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> d = wg.distributions.Categorical(wg.tensor([1.0, 3.0]))
    >>> d.log_prob(wg.tensor([0, 1])).exp()
    tensor([0.2500, 0.7500])
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        given = self._normalized(one_of(probs=probs, logits=logits))
        self._declare(validate_args, **given)

    @property
    def _num_events(self) -> int:
        return int(self._param.size(-1))

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """The indices."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Any:
        return wg.full(self.batch_shape, math.nan, dtype=self._param.dtype, device=self._param.device)

    @property
    def mode(self) -> Any:
        return self._param.argmax(-1)

    @property
    def variance(self) -> Any:
        return self.mean

    def _draw(self, shape: Any) -> Any:
        rows = self.probs.reshape(-1, self._num_events)
        count = math.prod(shape) // max(rows.size(0), 1)
        if count == 0:
            return wg.zeros(shape, dtype=wg.int64, device=self._param.device)
        return wg.multinomial(rows, count, True).T.reshape(shape)

    def _log_prob(self, value: Any) -> Any:
        batch = wg.broadcast_shapes(value.shape, self._param.shape[:-1])
        index = value.long().expand(batch).unsqueeze(-1)
        return self.logits.expand((*batch, self._num_events)).gather(-1, index).squeeze(-1)

    def entropy(self) -> Any:
        if self._given == "probs":
            return entr(self.probs).sum(-1)
        return -(self.probs * self.logits.clamp(min=wg.finfo(self.logits.dtype).min)).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        return self._listed(wg.arange(self._num_events, device=self._param.device), expand)


class OneHotCategorical(GivenCategories):
    r"""Distribution of vectors with a single one, which stands at :math:`k` with the probability :math:`p_k`.

    Parameters
    ----------
    probs : Tensor, optional
        :math:`p`, in the last dimension; not negative, divided by its sum.
    logits : Tensor, optional
        :math:`\log p`, up to a constant, instead of `probs`.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.OneHotCategorical(wg.tensor([1.0, 3.0])).mean
    tensor([0.2500, 0.7500])
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        given = self._normalized(one_of(probs=probs, logits=logits))
        ((_, value),) = given.items()
        self._declare(validate_args, value.shape[-1:], **given)

    @lazy
    def _categorical(self) -> Categorical:
        return Categorical(**{self._given: self._param}, validate_args=False)

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        return one_hot(self._categorical.mode, self._event_shape[0]).to(self._param.dtype)

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def _draw(self, shape: Any) -> Any:
        return one_hot(self._categorical._draw(shape[:-1]), self._event_shape[0]).to(self._param.dtype)

    def _log_prob(self, value: Any) -> Any:
        return self._categorical._log_prob(value.argmax(-1))

    def entropy(self) -> Any:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Any:
        return self._listed(wg.eye(self._event_shape[0], dtype=self._param.dtype, device=self._param.device), expand)


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """`OneHotCategorical` whose samples have the derivatives of the probabilities.

    These are not the derivatives of the mean of what follows: the estimator is biased.

    Parameters
    ----------
    probs, logits : Tensor, optional
        As of `OneHotCategorical`.
    validate_args : bool, optional

    References
    ----------
    Bengio, Leonard and Courville (2013), Estimating or propagating gradients through stochastic neurons for conditional
    computation.

    Examples
    --------
    >>> import wengert as wg
    >>> p = wg.tensor([0.5, 0.5], requires_grad=True)
    >>> wg.distributions.OneHotCategoricalStraightThrough(p).rsample().sum().backward()
    >>> p.grad
    tensor([0., 0.])
    """

    has_rsample = True

    def _draw(self, shape: Any) -> Any:
        with wg.no_grad():
            drawn = super()._draw(shape)
        return drawn + (self.probs - self.probs.detach())
