r"""Divergences of multivariate normal distributions.

.. math::
    2 D = \log \det \Sigma_q - \log \det \Sigma_p + \operatorname{tr} \Sigma_q^{-1} \Sigma_p
    + d' \Sigma_q^{-1} d - n

One formula for both kinds of covariance: it needs roots R of the one, with the sum of R R' the covariance, and the
quadratic form of the other.
"""

from __future__ import annotations

from typing import Any

from wengert.linalg import solve_triangular

from .._matrix.matrices import half_log_det, square_sum
from .._matrix.multivariate_normal import LowRankMultivariateNormal, MultivariateNormal
from .registry import register_kl


def _roots(p: Any) -> list[Any]:
    if isinstance(p, MultivariateNormal):
        return [p._unbroadcasted_scale_tril]
    return [p._unbroadcasted_cov_factor, p._unbroadcasted_cov_diag.sqrt().diag_embed()]


def _log_det(p: Any) -> Any:
    return 2 * half_log_det(p._unbroadcasted_scale_tril) if isinstance(p, MultivariateNormal) else p._log_det()


def _quadratic(q: Any, columns: Any) -> Any:
    """Return the sum of c' Sigma^-1 c over columns c."""
    if isinstance(q, MultivariateNormal):
        return square_sum(solve_triangular(q._unbroadcasted_scale_tril, columns, upper=False))
    scaled = columns / q._unbroadcasted_cov_diag.unsqueeze(-1)
    projected = solve_triangular(q._capacitance_tril, q._unbroadcasted_cov_factor.mT @ scaled, upper=False)
    return (columns * scaled).sum((-2, -1)) - square_sum(projected)


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _normal(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ValueError(
            f"KL-divergence between two normal distributions with different event shapes {p.event_shape} and "
            f"{q.event_shape} cannot be computed"
        )
    distance = _quadratic(q, (q.loc - p.loc).unsqueeze(-1))
    spread: Any = sum(_quadratic(q, root) for root in _roots(p))
    return 0.5 * (_log_det(q) - _log_det(p) + spread + distance - p.event_shape[0])
