"""The public functions of sparse derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from ...autograd import enable_grad
from .._leaves import tensors_of
from ._pattern import pattern_of
from ._plan import Sparsity, gradient_of

_MODES = ("auto", "forward", "reverse")


def sparsity(f: Callable[[Any], Any], x: Any, *, order: int = 1, mode: str = "auto", pattern: Any = None) -> Sparsity:
    """Find the pattern of the Jacobian or Hessian of `f`, color it, and return a plan that evaluates it.

    The pattern holds for all values of `x`, as long as `f` takes the same path through its Python code and indexes with
    the same integers. It may be too large: operations without a rule (custom functions, factorizations) count as dense.

    Parameters
    ----------
    f : callable
        From `x` to a tensor or a tree of tensors; for ``order=2`` to a tensor of one element.
    x : Tensor or tree of Tensor
        Where to look; only shapes and dtypes matter.
    order : {1, 2}
        Jacobian or Hessian.
    mode : {'auto', 'forward', 'reverse'}
        Compress columns (jvp) or rows (vjp) of a Jacobian; by default whatever takes fewer products.
    pattern : array or sparse array, optional
        The pattern, if it is known: entries elsewhere are never computed.

    Returns
    -------
    Sparsity
        Call it with a point to get the matrix there.

    Raises
    ------
    ValueError
        If `order` or `mode` is unknown, `pattern` does not fit, or the matrix is far from sparse.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.func.sparsity(lambda x: x[2:] - 2 * x[1:-1] + x[:-2], wg.zeros(1000))
    Sparsity(998 x 1000, 2994 entries, 3 colors, mode 'reverse')
    """
    if order not in (1, 2):
        raise ValueError(f"[sparsity] order must be 1 (Jacobian) or 2 (Hessian), but got {order!r}")
    if mode not in _MODES:
        raise ValueError(f"[sparsity] mode must be one of {_MODES}, but got {mode!r}")
    values, rebuild = tensors_of(x, "sparsity")
    if any(value.is_complex() for value in values):
        raise ValueError("[sparsity] x must be real, but has complex leaves; pass real and imaginary parts")
    with enable_grad():
        values = [value.detach().requires_grad_() for value in values]
        if order == 2:
            outputs = gradient_of(f, values, rebuild)
        else:
            outputs, _ = tensors_of(f(rebuild(values)), "sparsity")
    shape = (sum(output.numel() for output in outputs), sum(value.numel() for value in values))
    found = pattern_of(outputs, values) if pattern is None else _checked(pattern, shape)
    if order == 2:
        found = scipy.sparse.csr_array(found + found.T)
    found.sort_indices()
    shapes = ([tuple(o.shape) for o in outputs], [tuple(v.shape) for v in values])
    return Sparsity(f, found, shapes, "symmetric" if order == 2 else mode)


def _checked(pattern: Any, shape: tuple[int, int]) -> Any:
    given = scipy.sparse.coo_array(pattern)
    if given.shape != shape:
        raise ValueError(f"[sparsity] pattern must have the shape of the matrix, {shape}, but has {given.shape}")
    values = np.ones(len(given.row), bool)
    found = scipy.sparse.coo_array((values, (given.row, given.col)), shape=shape).tocsr()
    found.sum_duplicates()
    return found


def sparse_jacobian(f: Callable[[Any], Any], x: Any, *, mode: str = "auto", pattern: Any = None) -> Any:
    """Return the Jacobian of `f` at `x` as a sparse array.

    The number of passes over `f` is the number of colors of the pattern: 3 for a tridiagonal matrix of any size. To
    evaluate at many points, make a plan with `sparsity` and call that.

    Parameters
    ----------
    f : callable
        From `x` to a tensor or a tree of tensors.
    x : Tensor or tree of Tensor
        Where to differentiate.
    mode : {'auto', 'forward', 'reverse'}
        Whether columns or rows are compressed.
    pattern : array or sparse array, optional
        Where entries may differ from 0, if it is known.

    Returns
    -------
    scipy.sparse.csr_array
        One row for each element of the outputs, one column for each element of `x`, leaf after leaf. Entries of the
        pattern that are 0 at `x` are stored.

    Raises
    ------
    ValueError
        As `sparsity` does.

    Examples
    --------
    >>> import wengert as wg
    >>> J = wg.func.sparse_jacobian(lambda x: x[1:] ** 2 - x[:-1], wg.tensor([1.0, 2.0, 3.0]))
    >>> J.toarray()
    array([[-1.,  4.,  0.],
           [ 0., -1.,  6.]], dtype=float32)
    """
    return sparsity(f, x, mode=mode, pattern=pattern)(x)


def sparse_hessian(f: Callable[[Any], Any], x: Any, *, pattern: Any = None) -> Any:
    """Return the Hessian of a scalar `f` at `x` as a sparse array.

    Symmetry halves the work: of two mirrored entries one is read off a Hessian-vector product.

    Parameters
    ----------
    f : callable
        From `x` to a tensor of one element.
    x : Tensor or tree of Tensor
        Where to differentiate.
    pattern : array or sparse array, optional
        Where entries may differ from 0, if it is known.

    Returns
    -------
    scipy.sparse.csr_array
        One row and column for each element of `x`, leaf after leaf.

    Raises
    ------
    ValueError
        As `sparsity` does, and if `f` returns more than one element.

    Examples
    --------
    >>> import wengert as wg
    >>> H = wg.func.sparse_hessian(lambda x: (x[1:] * x[:-1]).sum() + (x**2).sum(), wg.ones(3))
    >>> H.toarray()
    array([[2., 1., 0.],
           [1., 2., 1.],
           [0., 1., 2.]], dtype=float32)
    """
    return sparsity(f, x, order=2, pattern=pattern)(x)
