"""Helpers for families written by users, under the names that PyTorch has for them."""

from __future__ import annotations

from typing import Any

import wengert as wg

from ._base.parameters import as_tensors
from ._base.parameters import lazy as lazy_property
from ._transforms.arrays import below_diagonal

__all__ = [
    "broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]  # fmt: skip


def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """Return tensors for numbers and tensors, broadcast against each other.

    Parameters
    ----------
    *values : float or Tensor

    Returns
    -------
    tuple of Tensor
        Numbers have the dtype of the floating tensors and the device of the tensors beside them, or the default ones.

    Raises
    ------
    ValueError
        If something is neither a number nor a tensor.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.distributions.utils import broadcast_all
    >>> broadcast_all(wg.zeros(2), 1)
    (tensor([0., 0.]), tensor([1., 1.]))
    """
    tensors = as_tensors({str(place): value for place, value in enumerate(values)})
    return tuple(wg.broadcast_tensors(*tensors.values()))


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """Return the probabilities of logits: their sigmoid if `is_binary`, else their softmax in the last dimension."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def clamp_probs(probs: Any) -> Any:
    """Return probabilities moved away from 0 and 1 by the rounding unit."""
    eps = wg.finfo(probs.dtype).eps
    return probs.clamp(eps, 1 - eps)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """Return finite logits of probabilities: ``log(p / (1 - p))`` if `is_binary`, else ``log(p)``."""
    inside = clamp_probs(probs)
    return inside.log() - (-inside).log1p() if is_binary else inside.log()


def tril_matrix_to_vec(mat: Any, diag: int = 0) -> Any:
    """Return the elements on and below a diagonal of square matrices as vectors, row after row.

    Parameters
    ----------
    mat : Tensor
        Of the shape ``(*, n, n)``.
    diag : int, default 0
        The last diagonal that is taken; below the main one if negative.

    Raises
    ------
    ValueError
        If the matrices have no such diagonal.
    """
    n = mat.size(-1)
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = wg.tril_indices(n, n, diag, device=mat.device)
    return mat.flatten(-2).index_select(-1, rows * n + columns)


def vec_to_tril_matrix(vec: Any, diag: int = 0) -> Any:
    """Return lower triangular matrices whose elements on and below a diagonal are those of vectors.

    Parameters
    ----------
    vec : Tensor
        Of the shape ``(*, n)``; row after row.
    diag : int, default 0
        The last diagonal that is filled: 0 or negative.

    Raises
    ------
    ValueError
        If there is no matrix with so many elements there.
    """
    if diag > 0:
        raise ValueError(f"diag is {diag}, and only 0 and negative ones are filled")
    strict = below_diagonal(vec)  # without its first row and last column, the diagonal is filled too
    if diag == 0:
        return strict[..., 1:, :-1]
    return wg.nn.functional.pad(strict, (0, -1 - diag, -1 - diag, 0))
