"""Families whose densities are exponentials of a product of natural parameters and statistics."""

from __future__ import annotations

from typing import Any

from wengert.func import grad

from .distribution import Distribution
from .parameters import sum_rightmost


class ExponentialFamily(Distribution):
    r"""Base class of distributions of the form :math:`p(x) = h(x) \exp(\eta \cdot t(x) - F(\eta))`.

    A family defines ``_natural_params``, a tuple of tensors, ``_log_normalizer``, the function :math:`F` of them, and
    ``_mean_carrier_measure``, the mean of :math:`\log h(x)`. From these `entropy` follows, and the divergence of two
    distributions of one family, because the gradient of :math:`F` is the mean of :math:`t(x)`.

    References
    ----------
    Nielsen and Nock (2010), Entropies and cross-entropies of exponential families.
    """

    _mean_carrier_measure: Any = 0

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        raise self._missing("natural parameters")

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise self._missing("the normalizer")

    def _log_normalizer_and_means(self) -> tuple[Any, tuple[Any, ...]]:
        """Return :math:`F` and its gradient, both differentiable."""
        natural = self._natural_params
        means = grad(lambda *at: self._log_normalizer(*at).sum(), argnums=tuple(range(len(natural))))(*natural)
        return self._log_normalizer(*natural), means

    def entropy(self) -> Any:
        value, means = self._log_normalizer_and_means()
        result = value - self._mean_carrier_measure
        for parameter, mean in zip(self._natural_params, means, strict=True):
            # The sum is over what makes one parameter: all dimensions but those of the batch.
            result = result - sum_rightmost(parameter * mean, parameter.dim() - len(self.batch_shape))
        return result
