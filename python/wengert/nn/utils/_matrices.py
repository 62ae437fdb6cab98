"""Weights as matrices, and their largest singular values by power iteration (Miyato et al., 2018)."""

from __future__ import annotations

import wengert
from wengert._C import Tensor

from .. import functional as F  # noqa: N812


def norm_except_dim(v: Tensor, dim: int) -> Tensor:
    """Return the norms over all dimensions but one, which is kept; over all for -1."""
    if dim == -1:
        return v.norm()
    others = [d for d in range(v.ndim) if d != dim % v.ndim]
    return wengert.linalg.vector_norm(v, dim=others, keepdim=True) if others else v.abs()


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """Return a weight as the matrix whose rows a dimension counts."""
    if dim != 0:
        weight = weight.movedim(dim, 0)
    return weight.flatten(1)


def drawn_vectors(matrix: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Return random vectors of length 1, for the rows and for the columns of a matrix."""
    rows, columns = matrix.shape
    u, v = (F.normalize(matrix.new_empty(n).normal_(0, 1), dim=0, eps=eps) for n in (rows, columns))
    return u, v


def iterate(matrix: Tensor, u: Tensor, v: Tensor, times: int, eps: float) -> None:
    """Move vectors towards the first singular vectors, in place: `u` first, then `v` to fit it."""
    with wengert.no_grad():
        for _ in range(times):
            u.copy_(F.normalize(matrix.mv(v), dim=0, eps=eps))
            v.copy_(F.normalize(matrix.mT.mv(u), dim=0, eps=eps))


def row_dim(module: object) -> int:
    """Return the dimension of a layer's weight that belongs to its outputs."""
    from ..modules.conv import _ConvTransposeNd

    return 1 if isinstance(module, _ConvTransposeNd) else 0
