"""Multivariate normal distributions, with a full covariance matrix or one of low rank and a diagonal."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import wengert as wg

from .. import constraints
from .._base import draws
from .._base.distribution import Distribution
from .._base.parameters import lazy, one_of
from .matrices import factor_of, half_log_det, precision_of, whiten


class MultivariateNormal(Distribution):
    r"""Multivariate normal distribution.

    .. math:: p(x) = \exp(-\tfrac12 (x - \mu)' \Sigma^{-1} (x - \mu)) / \sqrt{\det 2 \pi \Sigma}

    Parameters
    ----------
    loc : Tensor
        The mean :math:`\mu`, in the last dimension.
    covariance_matrix : Tensor, optional
        :math:`\Sigma`, positive definite.
    precision_matrix : Tensor, optional
        :math:`\Sigma^{-1}`, instead.
    scale_tril : Tensor, optional
        The Cholesky factor of :math:`\Sigma`, instead: this needs no decomposition.
    validate_args : bool, optional

    Raises
    ------
    ValueError
        If not exactly one matrix is given, or dimensions are missing.

    Examples
    --------
    >>> import wengert as wg
    >>> d = wg.distributions.MultivariateNormal(wg.zeros(2), wg.eye(2))
    >>> d.log_prob(wg.zeros(2))
    tensor(-1.8379)
    """

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True
    loc: Any

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = one_of(covariance_matrix=covariance_matrix, scale_tril=scale_tril, precision_matrix=precision_matrix)
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        self._declare(validate_args, loc.shape[-1:], loc=loc, **given)
        # As it was given: a matrix for the whole batch is decomposed once.
        self._unbroadcasted_scale_tril = factor_of(name, matrix)

    def _for_batch(self, matrix: Any) -> Any:
        return matrix.expand((*self._batch_shape, *matrix.shape[-2:]))

    @lazy
    def scale_tril(self) -> Any:
        """The Cholesky factor of the covariance matrix."""
        return self._for_batch(self._unbroadcasted_scale_tril)

    @lazy
    def covariance_matrix(self) -> Any:
        """The covariance matrix."""
        factor = self._unbroadcasted_scale_tril
        return self._for_batch(factor @ factor.mT)

    @lazy
    def precision_matrix(self) -> Any:
        """The inverse of the covariance matrix."""
        return self._for_batch(precision_of(self._unbroadcasted_scale_tril))

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return self._unbroadcasted_scale_tril.square().sum(-1).expand((*self._batch_shape, *self._event_shape))

    def _draw(self, shape: Any) -> Any:
        noise = draws.standard_normal(shape, self.loc)
        return self.loc + (self._unbroadcasted_scale_tril @ noise.unsqueeze(-1)).squeeze(-1)

    def _log_prob(self, value: Any) -> Any:
        factor = self._unbroadcasted_scale_tril
        distance = whiten(factor, value - self.loc).square().sum(-1)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - half_log_det(factor)

    def entropy(self) -> Any:
        constant = 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi))
        return (constant + half_log_det(self._unbroadcasted_scale_tril)).expand(self._batch_shape)


class LowRankMultivariateNormal(Distribution):
    r"""Multivariate normal distribution with the covariance matrix :math:`W W' + D`.

    With :math:`W` of :math:`k` columns, densities cost :math:`O(n k^2)`, by the identities of Woodbury and Sylvester.

    Parameters
    ----------
    loc : Tensor
        The mean, of length :math:`n` in the last dimension.
    cov_factor : Tensor
        :math:`W`, of the shape ``(n, k)`` in the last dimensions.
    cov_diag : Tensor
        The diagonal of :math:`D`, positive.
    validate_args : bool, optional

    Raises
    ------
    ValueError
        If dimensions are missing or shapes do not fit.

    Examples
    --------
    >>> import wengert as wg
    >>> d = wg.distributions.LowRankMultivariateNormal(wg.zeros(2), wg.tensor([[1.0], [0.0]]), wg.ones(2))
    >>> d.covariance_matrix
    tensor([[2., 0.],
            [0., 1.]])
    """

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True
    loc: Any
    cov_factor: Any
    cov_diag: Any

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != event:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event[0]} x m")
        if cov_diag.shape[-1:] != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event}")
        self._declare(validate_args, event, loc=loc, cov_factor=cov_factor, cov_diag=cov_diag)
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = self._capacitance()

    def _capacitance(self) -> Any:
        """Return the Cholesky factor of 1 + W' D^-1 W."""
        factor = self._unbroadcasted_cov_factor
        scaled = factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)
        return wg.linalg.cholesky(wg.eye(factor.size(-1), dtype=factor.dtype, device=factor.device) + scaled @ factor)

    @lazy
    def covariance_matrix(self) -> Any:
        """The covariance matrix."""
        factor = self._unbroadcasted_cov_factor
        matrix = factor @ factor.mT + self._unbroadcasted_cov_diag.diag_embed()
        return matrix.expand((*self._batch_shape, *self._event_shape, *self._event_shape))

    @lazy
    def scale_tril(self) -> Any:
        """The Cholesky factor of the covariance matrix."""
        return wg.linalg.cholesky(self.covariance_matrix)

    @lazy
    def precision_matrix(self) -> Any:
        """The inverse of the covariance matrix."""
        scaled = self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)
        part = wg.linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        matrix = self._unbroadcasted_cov_diag.reciprocal().diag_embed() - part.mT @ part
        return matrix.expand((*self._batch_shape, *self._event_shape, *self._event_shape))

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @lazy
    def variance(self) -> Any:
        """The variances, the diagonal of the covariance matrix."""
        return self.cov_factor.square().sum(-1) + self.cov_diag

    def _draw(self, shape: Any) -> Any:
        rank = self.cov_factor.size(-1)
        common = draws.standard_normal((*shape[:-1], rank), self.loc)
        own = draws.standard_normal(shape, self.loc)
        together = (self._unbroadcasted_cov_factor @ common.unsqueeze(-1)).squeeze(-1)
        return self.loc + together + self._unbroadcasted_cov_diag.sqrt() * own

    def _distance(self, difference: Any) -> Any:
        """Return x' (W W' + D)^-1 x."""
        scaled = difference / self._unbroadcasted_cov_diag
        projected = (self._unbroadcasted_cov_factor.mT @ scaled.unsqueeze(-1)).squeeze(-1)
        return (difference * scaled).sum(-1) - whiten(self._capacitance_tril, projected).square().sum(-1)

    def _log_det(self) -> Any:
        return 2 * half_log_det(self._capacitance_tril) + self._unbroadcasted_cov_diag.log().sum(-1)

    def _log_prob(self, value: Any) -> Any:
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + self._log_det() + self._distance(value - self.loc))

    def entropy(self) -> Any:
        constant = self._event_shape[0] * (1 + math.log(2 * math.pi))
        return (0.5 * (constant + self._log_det())).expand(self._batch_shape)
