"""Trees of Python containers: taken apart into leaves, mapped, and made into vectors.

Tuples, lists, dicts, named tuples and classes that are registered are nodes; everything else is a leaf.

    >>> import wengert as wg
    >>> from wengert.utils import pytree
    >>> pytree.tree_map(lambda x: 2 * x, {"a": 1, "b": [2, 3]})
    {'a': 2, 'b': [4, 6]}
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert

from ._pytree import (
    TreeSpec,
    register_dataclass,
    register_pytree_node,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_map_only,
    tree_structure,
    tree_unflatten,
)

__all__ = [
    "TreeSpec", "ravel_pytree", "register_dataclass", "register_pytree_node", "tree_flatten", "tree_leaves", "tree_map",
    "tree_map_only", "tree_structure", "tree_unflatten",
]  # fmt: skip


def ravel_pytree(tree: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Return the elements of all tensors of a tree as one vector, and the function that makes a tree of such a vector.

    Parameters
    ----------
    tree : tree of Tensor or number

    Returns
    -------
    vector, unravel
        The vector is in the common type of the leaves; what `unravel` makes has their types.

    Raises
    ------
    ValueError
        By `unravel`, if the vector has another length.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.utils.pytree import ravel_pytree
    >>> vector, unravel = ravel_pytree({"weight": wg.ones(1, 2), "bias": wg.tensor(3.0)})
    >>> vector
    tensor([1., 1., 3.])
    >>> unravel(2 * vector)
    {'weight': tensor([[2., 2.]]), 'bias': tensor(6.)}
    """
    leaves, structure = tree_flatten(tree)
    tensors = [leaf if isinstance(leaf, wengert.Tensor) else wengert.as_tensor(leaf) for leaf in leaves]
    shapes, dtypes = [t.shape for t in tensors], [t.dtype for t in tensors]
    sizes = [t.numel() for t in tensors]
    common = dtypes[0] if dtypes else wengert.get_default_dtype()
    for dtype in dtypes[1:]:
        common = wengert.promote_types(common, dtype)
    vector = wengert.cat([t.reshape(-1).to(common) for t in tensors]) if tensors else wengert.zeros(0)

    def unravel(flat: Any) -> Any:
        if flat.shape != vector.shape:
            raise ValueError(f"[ravel_pytree] a vector of {vector.numel()} elements is needed, got {tuple(flat.shape)}")
        parts = zip(flat.split(sizes), shapes, dtypes, strict=True) if sizes else ()
        return tree_unflatten([part.reshape(shape).to(dtype) for part, shape, dtype in parts], structure)

    return vector, unravel
