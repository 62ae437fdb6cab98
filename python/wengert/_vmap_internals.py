"""`_vmap`, as older programs import it: `wengert.func.vmap` that may pass None through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .func import vmap

__all__ = ["_vmap", "vmap"]


def _vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, allow_none_pass_through: bool = False
) -> Callable[..., Any]:
    """Return the function that runs `func` on a batch; see `wengert.func.vmap`.

    Parameters
    ----------
    allow_none_pass_through : bool, default False
        Whether results may be None: for all samples the same ones.
    """
    if not allow_none_pass_through:
        return vmap(func, in_dims, out_dims)

    def mapped(*args: Any) -> Any:
        present: list[bool] = []
        is_tuple = False

        def without_none(*samples: Any) -> Any:
            nonlocal is_tuple
            output = func(*samples)
            is_tuple = isinstance(output, tuple)
            outputs = output if is_tuple else (output,)
            present[:] = [value is not None for value in outputs]
            return tuple(value for value in outputs if value is not None) or _anything(samples)

        dims = out_dims if isinstance(out_dims, int) else 0
        results = iter(vmap(without_none, in_dims, dims)(*args))
        found = tuple(next(results) if there else None for there in present)
        return found if is_tuple else found[0]

    return mapped


def _anything(samples: Any) -> Any:
    """Return some tensor: what is mapped has to have a result."""
    from .utils._pytree import tree_flatten

    leaves, _ = tree_flatten(samples)
    return (next(leaf for leaf in leaves if hasattr(leaf, "detach")),)
