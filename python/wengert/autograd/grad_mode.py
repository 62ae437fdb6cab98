"""Grad modes; see `wengert.autograd._grad_mode` and `wengert.autograd._engine_modes`."""

from ._engine_modes import _force_original_view_tracking, enforce_grad_layout_policy, set_multithreading_enabled
from ._grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from ._graph.versions import _unsafe_preserve_version_counter

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
