"""Grad modes; see `wengert.autograd._modes.grad_mode` and `wengert.autograd._modes.engine`."""

from ._graph.versions import _unsafe_preserve_version_counter
from ._modes.engine import _force_original_view_tracking, enforce_grad_layout_policy, set_multithreading_enabled
from ._modes.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = [
    "_force_original_view_tracking",
    "_unsafe_preserve_version_counter",
    "enable_grad",
    "enforce_grad_layout_policy",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]
