"""Transforms of vectors and of matrices."""

from __future__ import annotations

from typing import Any

import wengert as wg
from wengert._C import Size
from wengert.nn.functional import logsigmoid, pad

from .. import constraints
from .elementwise import log_one_minus_tanh_squared
from .transform import Transform


class SoftmaxTransform(Transform):
    """The map from vectors to points of the simplex by softmax; not a bijection, its inverse is the logarithm."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    _equal_if_equal = ()

    def _call(self, x: Any) -> Any:
        return x.softmax(-1)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        _need_dimensions(shape, 1)
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(Transform):
    """The bijection from vectors to points of the simplex with one more coordinate.

    Coordinate after coordinate takes a fraction, the sigmoid of an argument, of what the others have left. Arguments
    are shifted so that 0 goes to the middle of the simplex.

    References
    ----------
    Stan reference manual, simplex transforms, https://mc-stan.org/docs/reference-manual/transforms.html.
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True
    _equal_if_equal = ()

    @staticmethod
    def _shift(length: int, like: Any) -> Any:
        """Return the logarithm of how many coordinates are left after each."""
        return wg.arange(length, 0, -1, dtype=like.dtype, device=like.device).log()

    def _fractions(self, x: Any) -> tuple[Any, Any]:
        """Return the logarithms of the fraction that is taken and of the one that is left."""
        shifted = x - self._shift(x.size(-1), x)
        return logsigmoid(shifted), logsigmoid(-shifted)

    def _call(self, x: Any) -> Any:
        taken, left = self._fractions(x)
        return (pad(taken, (0, 1)) + pad(left.cumsum(-1), (1, 0))).exp()

    def _inverse(self, y: Any) -> Any:
        rest = y.flip(-1).cumsum(-1).flip(-1)[..., 1:]  # no difference from 1: the last coordinates may be small
        return y[..., :-1].log() - rest.log() + self._shift(y.size(-1) - 1, y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        # The Jacobian is triangular, and dy_k/dx_k = y_k (1 - z_k) with the fraction z_k.
        taken, left = self._fractions(x)
        return (taken + left.cumsum(-1)).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        _need_dimensions(shape, 1)
        return Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Any) -> Any:
        _need_dimensions(shape, 1)
        return Size((*shape[:-1], shape[-1] - 1))


class CorrCholeskyTransform(Transform):
    r"""The bijection from vectors of length :math:`n (n - 1) / 2` to Cholesky factors of correlation matrices.

    The tangens hyperbolicus of an argument is a partial correlation :math:`r_{ij}`; row after row, the factor is
    :math:`L_{ij} = r_{ij} \prod_{k < j} \sqrt{1 - r_{ik}^2}`.

    References
    ----------
    Lewandowski, Kurowicka and Joe (2009), Generating random correlation matrices based on vines and extended onion
    method; Stan reference manual, Cholesky factors of correlation matrices.
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True
    _equal_if_equal = ()

    def _logs(self, x: Any) -> tuple[Any, Any]:
        """Return below the diagonal log(1 - r**2), and its sum over what stands to the left."""
        below = below_diagonal(log_one_minus_tanh_squared(x))
        return below, below.cumsum(-1) - below

    def _call(self, x: Any) -> Any:
        _, before = self._logs(x)
        correlations = below_diagonal(x.tanh())
        ones = wg.eye(correlations.size(-1), dtype=x.dtype, device=x.device)
        return (correlations + ones) * (before / 2).exp()

    def _inverse(self, y: Any) -> Any:
        # What the squares in a row leave for an element is the sum of those from it on, as they sum to 1.
        squares = y * y
        rest = squares.flip(-1).cumsum(-1).flip(-1)
        after = rest - squares
        correlation, root = from_below_diagonal(y), from_below_diagonal(rest).sqrt()
        # atanh(y / root) with the difference root - |y| written as a quotient
        size = correlation.abs()
        away = from_below_diagonal(after) / (root + size)
        return correlation.sign() * 0.5 * ((root + size).log() - away.log())

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        below, before = self._logs(x)
        return (below + before / 2).tril(-1).sum((-2, -1))

    def forward_shape(self, shape: Any) -> Any:
        _need_dimensions(shape, 1)
        n = _side(shape[-1])
        return Size((*shape[:-1], n, n))

    def inverse_shape(self, shape: Any) -> Any:
        _need_dimensions(shape, 2)
        if shape[-1] != shape[-2]:
            raise ValueError(f"the matrices are not square: {tuple(shape)}")
        return Size((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))


class LowerCholeskyTransform(Transform):
    """The map from matrices to lower triangular ones with a positive diagonal, the exponential of theirs."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky
    _equal_if_equal = ()

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(0, -2, -1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(0, -2, -1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """The map from matrices to positive definite ones, by their Cholesky factor (`LowerCholeskyTransform`)."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite
    _equal_if_equal = ()

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(wg.linalg.cholesky(y))


def _side(length: int) -> int:
    n: int = round((0.25 + 2 * length) ** 0.5 + 0.5)
    if n * (n - 1) // 2 != length:
        raise ValueError(f"Input is not a flattened lower-diagonal number: {length} is not n (n - 1) / 2")
    return n


def _places(n: int, device: Any) -> Any:
    """Return where the elements below the diagonal of a matrix stand among its elements."""
    rows, columns = wg.tril_indices(n, n, -1, device=device)
    return rows * n + columns


def below_diagonal(vector: Any) -> Any:
    """Return matrices whose elements below the diagonal are those of vectors, row after row; the others are 0."""
    length, device = vector.size(-1), vector.device
    n = _side(length)
    source = wg.full((n * n,), length, dtype=wg.int64, device=device)
    source[_places(n, device)] = wg.arange(length, device=device)
    return pad(vector, (0, 1)).index_select(-1, source).unflatten(-1, (n, n))


def from_below_diagonal(matrix: Any) -> Any:
    """Return the elements below the diagonal of matrices, row after row."""
    return matrix.flatten(-2).index_select(-1, _places(matrix.size(-1), matrix.device))


def _need_dimensions(shape: Any, count: int) -> None:
    if len(shape) < count:
        raise ValueError(f"Too few dimensions on input: {len(shape)}, at least {count} are needed")
