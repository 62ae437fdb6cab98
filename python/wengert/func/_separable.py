"""Jacobians of functions whose elements, or rows, do not mix: one pass serves all of them at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert

from ..autograd import enable_grad
from ._arguments import as_leaf
from ._products import pulled

_TOLERANCE = {2: 1e-1, 4: 1e-4, 8: 1e-9}  # by bytes


def jacobian_diagonal(f: Callable[[Any], Any], x: Any, *, check: bool = False, create_graph: bool = False) -> Any:
    """Return the diagonal of the Jacobian of a function whose output elements each depend on one input element.

    Parameters
    ----------
    f : callable
        From a tensor to a tensor of its shape, where ``f(x)[i]`` depends on ``x[i]`` only. If it does not, the result
        is the sum of each column of the Jacobian.
    x : Tensor
        Where to differentiate.
    check : bool
        Whether to prove, by a second pass with random weights, that elements do not mix.
    create_graph : bool
        Whether the result can be differentiated.

    Returns
    -------
    Tensor
        Of the shape of `x`.

    Raises
    ------
    ValueError
        If shapes differ, or the check fails.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.func.jacobian_diagonal(lambda x: x**3, wg.tensor([1.0, 2.0]))
    tensor([ 3., 12.])
    """
    x, y = _evaluated(f, x, create_graph)
    if tuple(y.shape) != tuple(x.shape):
        raise ValueError(
            f"[jacobian_diagonal] f must keep the shape {tuple(x.shape)}, but returned {tuple(y.shape)}; use "
            "batched_jacobian"
        )
    diagonal = _pulled(y, x, wengert.ones_like(y), create_graph)
    if check:
        weights = _random_like(y)
        _require_equal(_pulled(y, x, weights, False), weights * diagonal, "jacobian_diagonal", "elements")
    return diagonal


def batched_jacobian(f: Callable[[Any], Any], x: Any, *, check: bool = False, create_graph: bool = False) -> Any:
    """Return the Jacobian of each row of a batched function, in one pass with a cotangent for each output of a row.

    Parameters
    ----------
    f : callable
        From shape ``(batch, *inputs)`` to ``(batch, *outputs)``, where row i of the output depends on row i of the
        input only.
    x : Tensor
        Where to differentiate.
    check : bool
        Whether to prove, by one more pass with random weights, that rows do not mix.
    create_graph : bool
        Whether the result can be differentiated.

    Returns
    -------
    Tensor
        Of shape ``(batch, *outputs, *inputs)``.

    Raises
    ------
    ValueError
        If the batch changes its size, or the check fails.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> wg.func.batched_jacobian(lambda x: wg.stack([x.prod(1), x.sum(1)], 1), x)
    tensor([[[2., 1.],
             [1., 1.]],
    <BLANKLINE>
            [[4., 3.],
             [1., 1.]]])
    """
    x, y = _evaluated(f, x, create_graph)
    if x.dim() == 0 or y.dim() == 0 or x.shape[0] != y.shape[0]:
        raise ValueError(
            f"[batched_jacobian] dimension 0 must be the batch of both x and f(x), but the shapes are {tuple(x.shape)} "
            f"and {tuple(y.shape)}"
        )
    batch, outputs = y.shape[0], tuple(y.shape[1:])
    count = int(np.prod(outputs, dtype=int))
    inputs = tuple(x.shape[1:])
    if not count:
        return wengert.zeros((batch, *outputs, *inputs), dtype=x.dtype)
    units = wengert.eye(count, dtype=y.dtype).reshape((count, 1, *outputs)).expand(count, *y.shape)
    jacobian = _pulled(y, x, units, create_graph, is_grads_batched=True).movedim(0, 1)
    if check:
        weights = _random_like(y)
        flat = weights.reshape((batch, count, *(1 for _ in inputs)))
        _require_equal(_pulled(y, x, weights, False), (flat * jacobian).sum(1), "batched_jacobian", "rows")
    return jacobian.reshape((batch, *outputs, *inputs))


def _evaluated(f: Callable[[Any], Any], x: Any, create_graph: bool) -> tuple[Any, Any]:
    x = as_leaf(x)
    with enable_grad():
        x = x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_()
        return x, f(x)


def _pulled(y: Any, x: Any, weights: Any, create_graph: bool, is_grads_batched: bool = False) -> Any:
    with enable_grad():
        return pulled((y,), (x,), (weights,), create_graph, is_grads_batched)[0]


def _random_like(y: Any) -> Any:
    generator = np.random.default_rng(0)
    values = generator.uniform(1, 2, tuple(y.shape)) * generator.choice([-1.0, 1.0], tuple(y.shape))
    return wengert.tensor(values, dtype=y.dtype)


def _require_equal(found: Any, expected: Any, caller: str, parts: str) -> None:
    tolerance = _TOLERANCE[min(8, wengert.finfo(found.dtype).bits // 8)]
    error = (found - expected.detach()).abs()
    scale = 1 + expected.detach().abs().max().item() if expected.numel() else 1.0
    if error.numel() and not error.max().item() <= tolerance * scale:
        raise ValueError(
            f"[{caller}] {parts} of the function mix: a product with random weights is off by "
            f"{error.max().item():.3g}; use jacrev, jacfwd or sparse_jacobian"
        )
