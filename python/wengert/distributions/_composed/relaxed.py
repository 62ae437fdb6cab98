"""Relaxations of discrete distributions: continuous, with differentiable samples."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from wengert.nn.functional import logsigmoid

from .. import constraints
from .._base import draws
from .._base.parameters import as_tensors, one_of
from .._base.probs_or_logits import GivenBinary, GivenCategories
from .._transforms.elementwise import ExpTransform, SigmoidTransform
from .of_base import of_base
from .transformed import TransformedDistribution


class LogitRelaxedBernoulli(GivenBinary):
    r"""Logistic distribution around :math:`l / T`, of scale :math:`1 / T`: the logit of a relaxed Bernoulli variable.

    Parameters
    ----------
    temperature : float or Tensor
        :math:`T`, positive.
    probs : float or Tensor, optional
        The probability of 1.
    logits : float or Tensor, optional
        :math:`l`, instead of `probs`.
    validate_args : bool, optional

    References
    ----------
    Maddison, Mnih and Teh (2017), The Concrete distribution; Jang, Gu and Poole (2017), Categorical reparameterization
    with Gumbel-softmax.
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        given = one_of(probs=probs, logits=logits)
        self.temperature = as_tensors({"temperature": temperature, **given})["temperature"]
        self._declare(validate_args, **given)

    def _draw(self, shape: Any) -> Any:
        return (draws.standard_logistic(shape, self._param) + self.logits) / self.temperature

    def _log_prob(self, value: Any) -> Any:
        deviation = self.logits - value * self.temperature
        return self.temperature.log() + logsigmoid(deviation) + logsigmoid(-deviation)


class RelaxedBernoulli(TransformedDistribution):
    """Relaxation of the Bernoulli distribution to values between 0 and 1, towards the ends for small temperatures.

    Parameters
    ----------
    temperature : float or Tensor
        Positive.
    probs : float or Tensor, optional
        The probability of 1.
    logits : float or Tensor, optional
        Instead of `probs`.
    validate_args : bool, optional

    References
    ----------
    Maddison, Mnih and Teh (2017), The Concrete distribution; Jang, Gu and Poole (2017), Categorical reparameterization
    with Gumbel-softmax.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.RelaxedBernoulli(0.5, probs=wg.tensor([0.1, 0.9])).rsample((3,)).shape
    wengert.Size([3, 2])
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    base_dist: Any

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits, validate_args)
        super().__init__(base, SigmoidTransform(), validate_args)

    temperature = of_base("The temperature.")
    logits = of_base("The logits.")
    probs = of_base("The probabilities.")


class ExpRelaxedCategorical(GivenCategories):
    """Distribution of the logarithm of a relaxed vector with a single one.

    Parameters
    ----------
    temperature : float or Tensor
        Positive.
    probs, logits : Tensor, optional
        As of `Categorical`.
    validate_args : bool, optional

    References
    ----------
    Maddison, Mnih and Teh (2017), The Concrete distribution, appendix C.
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        given = self._normalized(one_of(probs=probs, logits=logits))
        ((_, value),) = given.items()
        self.temperature = as_tensors({"temperature": temperature, **given})["temperature"]
        self._declare(validate_args, value.shape[-1:], **given)

    def _draw(self, shape: Any) -> Any:
        scores = (self.logits + draws.standard_gumbel(shape, self._param)) / self.temperature
        return scores.log_softmax(-1)

    def _log_prob(self, value: Any) -> Any:
        k = self._event_shape[0]
        scores = (self.logits - value * self.temperature).log_softmax(-1).sum(-1)
        return scores + math.lgamma(k) + (k - 1) * self.temperature.log()


class RelaxedOneHotCategorical(TransformedDistribution):
    """Relaxation of `OneHotCategorical` to points of the simplex, towards its corners for small temperatures.

    Parameters
    ----------
    temperature : float or Tensor
        Positive.
    probs, logits : Tensor, optional
        As of `Categorical`.
    validate_args : bool, optional

    References
    ----------
    Maddison, Mnih and Teh (2017), The Concrete distribution; Jang, Gu and Poole (2017), Categorical reparameterization
    with Gumbel-softmax.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.RelaxedOneHotCategorical(0.5, probs=wg.ones(3)).rsample().shape
    wengert.Size([3])
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True
    base_dist: Any

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args)
        super().__init__(base, ExpTransform(), validate_args)

    temperature = of_base("The temperature.")
    logits = of_base("The logits.")
    probs = of_base("The probabilities.")
