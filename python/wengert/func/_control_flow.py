"""JAX's loops and branches as the plain functions that they are where nothing is compiled.

They run Python: any number of steps, any branch, and derivatives of what ran.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert
from wengert import Tensor
from wengert.utils._pytree import tree_flatten, tree_map, tree_unflatten


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """Carry a state through the elements of tensors, and collect what each step returns.

    Parameters
    ----------
    f : callable
        ``f(carry, x) -> (carry, y)``; `y` may be a tree, or None.
    init : tensor or tree
        The first carry.
    xs : tensor or tree, optional
        What is run through, along the first dimensions.
    length : int, optional
        The number of steps, if there is no `xs`.
    reverse : bool, default False
        Whether to begin with the last elements; results stand where their elements do.

    Returns
    -------
    carry, ys
        The last carry, and what the steps returned, stacked.

    Raises
    ------
    ValueError
        If the sizes of `xs` differ, or there are neither `xs` nor `length`.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.func.scan(lambda total, x: (total + x, total * x), wg.tensor(0.0), wg.tensor([1.0, 2.0, 3.0]))
    (tensor(6.), tensor([0., 2., 9.]))
    """
    leaves, structure = tree_flatten(xs)
    sizes = {leaf.shape[0] for leaf in leaves if isinstance(leaf, Tensor)} | ({length} - {None})
    if len(sizes) != 1:
        raise ValueError(f"[scan] xs and length must agree on one number of steps, got {sorted(map(str, sizes))}")
    steps = range(sizes.pop() or 0)
    carry, results = init, []
    for step in reversed(steps) if reverse else steps:
        x = tree_unflatten([leaf[step] if isinstance(leaf, Tensor) else leaf for leaf in leaves], structure)
        carry, y = f(carry, x)
        results.append(tree_flatten(y))
    if not results:
        return carry, None
    parts = zip(*((found for found, _ in (reversed(results) if reverse else results))), strict=True)
    of_y = results[0][1]
    return carry, tree_unflatten([None if part[0] is None else wengert.stack(list(part)) for part in parts], of_y)


def while_loop(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any) -> Any:
    """Apply a function as long as a condition holds.

    Parameters
    ----------
    cond_fun : callable
        From the value to a truth.
    body_fun : callable
        From a value to the next one.
    init_val
        The first value, any tree.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.func.while_loop(lambda x: x < 10, lambda x: x * 2, wg.tensor(1.0))
    tensor(16.)
    """
    value = init_val
    while cond_fun(value):
        value = body_fun(value)
    return value


def fori_loop(lower: int, upper: int, body_fun: Callable[[int, Any], Any], init_val: Any) -> Any:
    """Apply ``body_fun(i, value)`` for each i from `lower` up to, not including, `upper`.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.func.fori_loop(0, 3, lambda i, x: x + i, wg.tensor(0.0))
    tensor(3.)
    """
    value = init_val
    for i in range(int(lower), int(upper)):
        value = body_fun(i, value)
    return value


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any) -> Any:
    """Apply one of two functions to the operands.

    Inside `vmap`, where samples may differ, both run and `where` chooses; their results must be nested alike.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.func.cond(wg.tensor(True), wg.sin, wg.cos, wg.tensor(0.0))
    tensor(0.)
    """
    if not (isinstance(pred, Tensor) and _differs_by_sample(pred)):
        return true_fun(*operands) if pred else false_fun(*operands)
    first, second = true_fun(*operands), false_fun(*operands)
    return tree_map(lambda a, b: wengert.where(pred, a, b), first, second)


def _differs_by_sample(pred: Tensor) -> bool:
    from ._batched_tensor import BatchedTensor

    return isinstance(pred, BatchedTensor)
