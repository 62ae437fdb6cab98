"""Distributions of covariance matrices (Wishart) and of correlation matrices (LKJ)."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import wengert as wg

from .. import constraints
from .._base import draws
from .._base.distribution import Distribution
from .._base.exponential_family import ExponentialFamily
from .._base.parameters import lazy, one_of
from .._base.validation import holds
from .matrices import factor_of, half_log_det, precision_of


class Wishart(ExponentialFamily):
    r"""Wishart distribution of positive definite matrices: of :math:`X' X` for :math:`\nu` normal rows of covariance S.

    .. math:: p(V) \propto \det(V)^{(\nu - p - 1) / 2} \exp(-\tfrac12 \operatorname{tr} S^{-1} V)

    Samples are made by Bartlett's decomposition.

    Parameters
    ----------
    df : float or Tensor
        The degrees of freedom :math:`\nu`, above :math:`p - 1` for matrices of :math:`p` rows.
    covariance_matrix : Tensor, optional
        :math:`S`, positive definite.
    precision_matrix : Tensor, optional
        :math:`S^{-1}`, instead.
    scale_tril : Tensor, optional
        The Cholesky factor of :math:`S`, instead.
    validate_args : bool, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.Wishart(3.0, wg.eye(2)).mean
    tensor([[3., 0.],
            [0., 3.]])
    """

    arg_constraints: ClassVar[Any] = {
        "df": constraints.positive,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    df: Any

    def __init__(
        self,
        df: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        given = one_of(covariance_matrix=covariance_matrix, scale_tril=scale_tril, precision_matrix=precision_matrix)
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        self._declare(validate_args, matrix.shape[-2:], df=df, **given)
        if self._validate_args and not holds(self.df > matrix.size(-1) - 1):
            raise ValueError(f"Value of df={self.df} expected to be greater than ndim - 1 = {matrix.size(-1) - 1}.")
        self._unbroadcasted_scale_tril = factor_of(name, matrix)

    @lazy
    def scale_tril(self) -> Any:
        """The Cholesky factor of the scale matrix."""
        return self._unbroadcasted_scale_tril.expand((*self._batch_shape, *self._event_shape))

    @lazy
    def covariance_matrix(self) -> Any:
        """The scale matrix."""
        factor = self._unbroadcasted_scale_tril
        return (factor @ factor.mT).expand((*self._batch_shape, *self._event_shape))

    @lazy
    def precision_matrix(self) -> Any:
        """The inverse of the scale matrix."""
        return precision_of(self._unbroadcasted_scale_tril).expand((*self._batch_shape, *self._event_shape))

    @property
    def _rows(self) -> int:
        return int(self._event_shape[-1])

    @property
    def _df_of_matrix(self) -> Any:
        return self.df.unsqueeze(-1).unsqueeze(-1)

    @property
    def mean(self) -> Any:
        return self._df_of_matrix * self.covariance_matrix

    @property
    def mode(self) -> Any:
        factor = self._df_of_matrix - self._rows - 1
        return wg.where(factor > 0, factor * self.covariance_matrix, math.nan)

    @property
    def variance(self) -> Any:
        diagonal = self.covariance_matrix.diagonal(0, -2, -1)
        outer = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self._df_of_matrix * (self.covariance_matrix.square() + outer)

    def _draw(self, shape: Any) -> Any:
        # The factor of a standard Wishart matrix: normal below the diagonal, and roots of chi-squared variables on it.
        freedom = (self.df.unsqueeze(-1) - wg.arange(self._rows, dtype=self.df.dtype, device=self.df.device)) / 2
        diagonal = (2 * draws.standard_gamma(freedom.expand(shape[:-1]))).sqrt()
        below = draws.standard_normal(shape, self.df).tril(-1)
        factor = self._unbroadcasted_scale_tril @ (below + diagonal.diag_embed())
        return factor @ factor.mT

    def _log_prob(self, value: Any) -> Any:
        p, half = self._rows, self.df / 2
        log_det = 2 * half_log_det(wg.linalg.cholesky(value))
        precision = precision_of(self._unbroadcasted_scale_tril)
        trace = (precision * value).sum((-2, -1))
        scale = half_log_det(self._unbroadcasted_scale_tril)
        return (
            (half - (p + 1) / 2) * log_det
            - 0.5 * trace
            - half * p * math.log(2)
            - self.df * scale
            - wg.mvlgamma(half, p)
        )

    def entropy(self) -> Any:
        p, half = self._rows, self.df / 2
        scale = half_log_det(self._unbroadcasted_scale_tril)
        return (
            (p + 1) * (scale + 0.5 * p * math.log(2))
            + wg.mvlgamma(half, p)
            - (half - (p + 1) / 2) * self._digammas()
            + half * p
        )

    def _digammas(self) -> Any:
        """Return the multivariate digamma function at half of the degrees of freedom."""
        steps = wg.arange(self._rows, dtype=self.df.dtype, device=self.df.device) / 2
        return ((self.df / 2).unsqueeze(-1) - steps).digamma().sum(-1)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return -self.precision_matrix / 2, (self.df - self._rows - 1) / 2

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        p = self._rows
        half = y + (p + 1) / 2
        return half * (p * math.log(2) - wg.linalg.slogdet(-2 * x)[1]) + wg.mvlgamma(half, p)


class LKJCholesky(Distribution):
    r"""Distribution of Cholesky factors :math:`L` of correlation matrices.

    .. math:: p(L L') \propto \det(L L')^{\eta - 1}

    The density is that of the factors. Samples are made by the onion method.

    Parameters
    ----------
    dim : int
        The number of rows, at least 2.
    concentration : float or Tensor, default 1
        :math:`\eta`, positive: with 1 all correlation matrices are equally likely.
    validate_args : bool, optional

    References
    ----------
    Lewandowski, Kurowicka and Joe (2009), Generating random correlation matrices based on vines and extended onion
    method.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.LKJCholesky(3, 0.5).sample().shape
    wengert.Size([3, 3])
    """

    arg_constraints: ClassVar[Any] = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    concentration: Any

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        self._declare(validate_args, (dim, dim), concentration=concentration)

    def _draw(self, shape: Any) -> Any:
        # Row i + 1 is a point in the ball of i + 1 dimensions: a direction, and a beta-distributed squared radius.
        like = self.concentration
        steps = wg.arange(self.dim - 1, dtype=like.dtype, device=like.device)
        first = (steps + 1) / 2
        second = self.concentration.unsqueeze(-1) + (self.dim - 2 - steps) / 2
        rows = (*shape[:-2], self.dim - 1)
        logit = draws.log_standard_gamma(first.expand(rows)) - draws.log_standard_gamma(second.expand(rows))
        direction = draws.standard_normal((*rows, self.dim), like).tril()
        direction = direction / wg.linalg.vector_norm(direction, dim=-1, keepdim=True)
        off = logit.sigmoid().sqrt().unsqueeze(-1) * direction
        off = wg.cat([wg.zeros((*shape[:-2], 1, self.dim), dtype=like.dtype, device=like.device), off], -2).tril(-1)
        diagonal = (1 - off.square().sum(-1)).clamp(min=wg.finfo(like.dtype).tiny).sqrt()
        return off + diagonal.diag_embed()

    def _log_prob(self, value: Any) -> Any:
        below = self.dim - 1
        diagonal = value.diagonal(0, -2, -1)[..., 1:]
        steps = wg.arange(1, self.dim, dtype=value.dtype, device=value.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + below - steps
        half = self.concentration + 0.5 * below
        normalizer = 0.5 * below * math.log(math.pi) + wg.mvlgamma(half - 0.5, below) - below * half.lgamma()
        return (order * diagonal.log()).sum(-1) - normalizer
