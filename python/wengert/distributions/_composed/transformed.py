"""Distributions of functions of variables."""

from __future__ import annotations

from typing import Any, ClassVar

import wengert as wg
from wengert._C import Size

from .. import constraints
from .._base.distribution import Distribution
from .._base.parameters import sum_rightmost
from .._transforms.composed import ComposeTransform
from .._transforms.transform import Transform
from .independent import Independent
from .of_base import of_base


class TransformedDistribution(Distribution):
    r"""The distribution of :math:`y = f(x)` for variables :math:`x` of another one.

    .. math:: \log p(y) = \log p_x(f^{-1}(y)) + \log |\det \partial f^{-1} / \partial y|

    Parameters
    ----------
    base_distribution : Distribution
        Of :math:`x`.
    transforms : Transform or list of Transform
        :math:`f`, the first in the list first.
    validate_args : bool, optional

    Raises
    ------
    ValueError
        If variables have fewer dimensions than a transform needs and the batch has no more to give, or `transforms`
        holds something else.

    Examples
    --------
    A log-normal distribution:

    >>> import wengert as wg
    >>> from wengert.distributions import Normal, TransformedDistribution, transforms
    >>> d = TransformedDistribution(Normal(0.0, 1.0), transforms.ExpTransform())
    >>> d.log_prob(wg.tensor(1.0))
    tensor(-0.9189)
    """

    arg_constraints: ClassVar[Any] = {}

    def __init__(self, base_distribution: Distribution, transforms: Any, validate_args: bool | None = None) -> None:
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        if not all(isinstance(t, Transform) for t in self.transforms):
            raise ValueError(f"transforms must be a Transform or a list of Transforms, but was {transforms}")
        transform = ComposeTransform(self.transforms)
        shape = (*base_distribution.batch_shape, *base_distribution.event_shape)
        needed = transform.domain.event_dim
        if len(shape) < needed:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {needed}, but got {Size(shape)}."
            )
        result = transform.forward_shape(Size(shape))
        # The parameters of a transform may have more batch dimensions than the distribution.
        expanded = transform.inverse_shape(result)
        base = base_distribution
        if Size(shape) != expanded:
            base = base.expand(expanded[: len(expanded) - len(base.event_shape)])
        reinterpreted = needed - len(base.event_shape)
        self.base_dist = Independent(base, reinterpreted) if reinterpreted > 0 else base
        gained = transform.codomain.event_dim - needed
        event_dim = max(transform.codomain.event_dim, len(self.base_dist.event_shape) + gained)
        split = len(result) - event_dim
        super().__init__(result[:split], result[split:], validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        shape = Size((*new.batch_shape, *new.event_shape))
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        return new

    has_rsample = of_base("As the base.")

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        """What the last transform gives."""
        if not self.transforms:
            return self.base_dist.support
        constraint = self.transforms[-1].codomain
        more = len(self.event_shape) - constraint.event_dim
        return constraints.independent(constraint, more) if more > 0 else constraint

    def sample(self, sample_shape: Any = ()) -> Any:
        with wg.no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._forward(self.base_dist.rsample(sample_shape))

    def _forward(self, x: Any) -> Any:
        for transform in self.transforms:
            x = transform(x)
        return x

    def _log_prob(self, value: Any) -> Any:
        total: Any = 0.0
        event_dim = len(self.event_shape)
        for transform in reversed(self.transforms):
            x = transform.inv(value)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            term = transform.log_abs_det_jacobian(x, value)
            total = total - sum_rightmost(term, event_dim - transform.domain.event_dim)
            value = x
        return total + sum_rightmost(self.base_dist.log_prob(value), event_dim - len(self.base_dist.event_shape))

    def _sign(self) -> Any:
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return sign

    def _cdf(self, value: Any) -> Any:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        return self._reversed_if_decreasing(self.base_dist.cdf(value))

    def _icdf(self, value: Any) -> Any:
        return self._forward(self.base_dist.icdf(self._reversed_if_decreasing(value)))

    def _reversed_if_decreasing(self, probability: Any) -> Any:
        sign = self._sign()
        if isinstance(sign, int):
            return probability if sign > 0 else 1 - probability
        return sign * (probability - 0.5) + 0.5

    def __repr__(self) -> str:
        if type(self) is not TransformedDistribution:
            return super().__repr__()
        return f"TransformedDistribution({self.base_dist!r}, {self.transforms})"
