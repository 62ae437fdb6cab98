"""`_vmap`, as older programs import it: `wengert.func.vmap` that may pass None through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .func._vmap import _mapped_inputs, _run, vmap

__all__ = ["_vmap", "vmap"]


def _vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, allow_none_pass_through: bool = False
) -> Callable[..., Any]:
    """Return the function that runs `func` on a batch, see `wengert.func.vmap`; None may pass for all samples."""
    if not allow_none_pass_through:
        return vmap(func, in_dims, out_dims)

    def mapped(*args: Any) -> Any:
        return _run(func, _mapped_inputs(func, in_dims, args, {}), out_dims, "error", allow_none=True)

    return mapped
