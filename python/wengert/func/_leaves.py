"""Trees of tensors, arrays and numbers as lists of tensors, and as one flat vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert

from ..utils import _pytree


def flatten(tree: Any) -> tuple[list[Any], Callable[[Any], Any]]:
    """Return the leaves of a tree and the function that puts a list of leaves in their places."""
    leaves, spec = _pytree.tree_flatten(tree)
    return leaves, lambda values: _pytree.tree_unflatten(list(values), spec)


def as_tensors(leaves: list[Any], caller: str, dtype: Any = None) -> list[Any]:
    """Return leaves as tensors of a floating-point dtype."""
    tensors = []
    for leaf in leaves:
        if not isinstance(leaf, wengert.Tensor):
            if not isinstance(leaf, (float, int, complex, np.ndarray, np.generic)):
                raise TypeError(
                    f"[{caller}] expected tensors, arrays or numbers, but got {type(leaf).__name__}; pass a tree "
                    "(tuples, lists, dicts) of them"
                )
            leaf = wengert.tensor(leaf, dtype=dtype)
        if dtype is not None and leaf.dtype != dtype and not leaf.is_complex():
            leaf = leaf.to(dtype)
        elif not (leaf.is_floating_point() or leaf.is_complex()):
            leaf = leaf.to(wengert.get_default_dtype())
        tensors.append(leaf)
    return tensors


def tensors_of(tree: Any, caller: str) -> tuple[list[Any], Callable[[Any], Any]]:
    """Return the leaves of a tree as tensors, and the function that puts such a list in its places."""
    leaves, rebuild = flatten(tree)
    return as_tensors(leaves, caller), rebuild
