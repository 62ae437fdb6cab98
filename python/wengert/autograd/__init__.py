"""Automatic differentiation: recording, backward passes, forward mode, custom derivatives, and their checks.

The modules without underscore only name what users import; the code stands in rooms. Start with `_backward`, what
``loss.backward()`` and ``grad`` do before and after the engine; then `_custom_function`, nodes written by users, and
`_forward_ad`. `_modes` has what can be switched, `_graph` what can be seen and kept of a graph. `_functional`,
`_gradcheck`, `_profiler` and `_draw` use these as any program could.
"""

import importlib as _importlib
import typing as _typing

from wengert import _C as _C

from . import _node_classes as _node_classes  # completes _C._functions
from . import anomaly_mode, forward_ad, function, grad_mode, graph
from ._backward.entry import backward, grad
from ._custom_function.function import Function
from ._custom_function.legacy import NestedIOFunction
from ._graph.versions import _unsafe_preserve_version_counter
from ._modes.anomaly import detect_anomaly, set_detect_anomaly
from ._modes.debug import is_debug_mode_enabled, set_debug_mode
from ._modes.engine import (
    _force_original_view_tracking,
    enforce_grad_layout_policy,
    is_multithreading_enabled,
    is_view_replay_enabled,
    set_multithreading_enabled,
)
from ._modes.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from ._modes.strict_singular import is_strict_singular, set_strict_singular

# These two functions bear the names of the modules they come from, and win.
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .variable import Variable, variable

__all__ = [
    "Function",
    "GradcheckError",
    "NestedIOFunction",
    "Variable",
    "_force_original_view_tracking",
    "_unsafe_preserve_version_counter",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "enforce_grad_layout_policy",
    "forward_ad",
    "function",
    "functional",  # see __getattr__
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_debug_mode_enabled",
    "is_multithreading_enabled",
    "is_strict_singular",
    "is_view_replay_enabled",
    "no_grad",
    "set_debug_mode",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "set_strict_singular",
    "variable",
]

if _typing.TYPE_CHECKING:  # type checkers do not see `__getattr__`: with it, no name would be unknown to them
    from . import functional as functional
    from . import profiler as profiler
    from . import profiler_util as profiler_util
    from .profiler import kineto_available as kineto_available
else:

    def __getattr__(name: str) -> _typing.Any:
        if name in {"functional", "profiler", "profiler_util"}:  # loaded when first used
            return _importlib.import_module(f"{__name__}.{name}")
        if name in {"_profiler_enabled", "kineto_available"}:
            return getattr(_importlib.import_module(f"{__name__}.profiler"), name)
        if name == "SavedTensor":
            return _C._autograd.SavedTensor
        if name.startswith("_"):  # as the import system asks while the package is loaded
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
        from wengert._missing import no_attribute

        raise no_attribute("autograd", name)
