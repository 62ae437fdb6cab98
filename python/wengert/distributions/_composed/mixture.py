"""Mixtures."""

from __future__ import annotations

from typing import Any, ClassVar

import wengert as wg

from .. import constraints
from .._base.distribution import Distribution
from .._discrete.categorical import Categorical


class MixtureSameFamily(Distribution):
    r"""Mixture of components of one family, :math:`p(x) = \sum_k \pi_k\, p_k(x)`.

    Parameters
    ----------
    mixture_distribution : Categorical
        The weights; its number of categories is that of the components.
    component_distribution : Distribution
        The components, along the last dimension of the batch.
    validate_args : bool, optional

    Raises
    ------
    ValueError
        If the two do not fit together.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.distributions import Categorical, MixtureSameFamily, Normal
    >>> weights = Categorical(wg.tensor([0.5, 0.5]))
    >>> d = MixtureSameFamily(weights, Normal(wg.tensor([-1.0, 1.0]), 1.0))
    >>> d.mean, d.variance
    (tensor(0.), tensor(2.))
    """

    arg_constraints: ClassVar[Any] = {}

    def __init__(
        self, mixture_distribution: Any, component_distribution: Distribution, validate_args: bool | None = None
    ) -> None:
        weights, components = mixture_distribution, component_distribution
        if not isinstance(weights, Categorical):
            raise ValueError("The Mixture distribution needs to be an instance of distributions.Categorical")
        if not isinstance(components, Distribution) or not components.batch_shape:
            raise ValueError("The component distribution needs to be a Distribution with a batch of components")
        batch = components.batch_shape[:-1]
        if any(
            a not in (1, b) and b != 1 for a, b in zip(reversed(weights.batch_shape), reversed(batch), strict=False)
        ):
            raise ValueError(
                f"`mixture_distribution.batch_shape` ({weights.batch_shape}) is not compatible with "
                f"`component_distribution.batch_shape` ({components.batch_shape})"
            )
        if weights.probs.shape[-1] != components.batch_shape[-1]:
            raise ValueError(
                f"`mixture_distribution component` ({weights.probs.shape[-1]}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({components.batch_shape[-1]})"
            )
        self._num_component = components.batch_shape[-1]
        self._mixture_distribution, self._component_distribution = weights, components
        super().__init__(batch, components.event_shape, validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new._component_distribution = self._component_distribution.expand((*new.batch_shape, self._num_component))
        new._mixture_distribution = self._mixture_distribution.expand(new.batch_shape)
        return new

    @constraints.dependent_property
    def support(self) -> Any:
        """That of the components."""
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Any:
        """The weights."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The components."""
        return self._component_distribution

    def _weights(self) -> Any:
        """Return the weights in the shape of the components' means."""
        return self._mixture_distribution.probs.reshape(
            (*self._mixture_distribution.probs.shape, *([1] * len(self._event_shape)))
        )

    @property
    def mean(self) -> Any:
        return (self._weights() * self._component_distribution.mean).sum(-1 - len(self._event_shape))

    @property
    def variance(self) -> Any:
        dim = -1 - len(self._event_shape)
        weights, means = self._weights(), self._component_distribution.mean
        within = (weights * self._component_distribution.variance).sum(dim)
        between = (weights * (means - self.mean.unsqueeze(dim)).square()).sum(dim)
        return within + between

    def _pad(self, value: Any) -> Any:
        return value.unsqueeze(-1 - len(self._event_shape))

    def _log_prob(self, value: Any) -> Any:
        components = self._component_distribution.log_prob(self._pad(value))
        return (components + self._mixture_distribution.logits.log_softmax(-1)).logsumexp(-1)

    def _cdf(self, value: Any) -> Any:
        return (self._component_distribution.cdf(self._pad(value)) * self._mixture_distribution.probs).sum(-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        with wg.no_grad():
            chosen = self._mixture_distribution.expand(self._batch_shape).sample(sample_shape)
            values = self._component_distribution.sample(sample_shape)
            event = tuple(self._event_shape)
            index = chosen.reshape((*chosen.shape, *([1] * (len(event) + 1))))
            index = index.expand((*chosen.shape, 1, *event))
            dim = -1 - len(event)
            return values.gather(dim, index).squeeze(dim)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(\n  {self._mixture_distribution!r},\n  {self._component_distribution!r})"
