"""Sparse inputs: the check is one of dense tensors, from which the sparse ones are made.

With ``masked`` these are the values of the elements; places without one are constant. Without it they are all elements
of the matrix: a derivative must then be right for places without an element too, so that a function whose gradient has
only the places of its argument fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert
from wengert._C import Tensor

from ._inputs import as_tuple


def has_sparse(inputs: Any) -> bool:
    """Whether an input that requires grad is sparse."""
    return any(_is_differentiated(value) for value in as_tuple(inputs))


def _is_differentiated(value: Any) -> bool:
    return isinstance(value, Tensor) and value.layout != wengert.strided and value.requires_grad


def of_dense(func: Callable[..., Any], inputs: Any, masked: bool) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the function of dense tensors in place of sparse ones, and where to check it."""
    from wengert.sparse._dense_problem import leaf_and_inverse

    pairs = {
        i: leaf_and_inverse(value, masked) for i, value in enumerate(as_tuple(inputs)) if _is_differentiated(value)
    }

    def of_leaves(*leaves: Any) -> Any:
        return func(*(pairs[i][1](leaf) if i in pairs else leaf for i, leaf in enumerate(leaves)))

    return of_leaves, tuple(pairs[i][0] if i in pairs else value for i, value in enumerate(as_tuple(inputs)))
