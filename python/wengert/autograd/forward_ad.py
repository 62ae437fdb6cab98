"""Forward-mode differentiation; see `wengert.autograd._forward_ad`."""

from typing import TYPE_CHECKING, Any

from ._forward_ad import (
    UnpackedDualTensor,
    _current_dual_level,
    _is_fwd_grad_enabled,
    _set_fwd_grad_enabled,
    dual_level,
    enter_dual_level,
    exit_dual_level,
    make_dual,
    unpack_dual,
)

__all__ = [
    "UnpackedDualTensor",
    "_is_fwd_grad_enabled",
    "_set_fwd_grad_enabled",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]

if TYPE_CHECKING:
    _current_level: int
else:

    def __getattr__(name: str) -> Any:
        if name == "_current_level":  # the innermost open level, or -1: it changes, so it is asked for
            return _current_dual_level()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
