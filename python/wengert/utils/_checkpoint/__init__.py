"""Checkpoints: a function whose saved tensors are not kept but computed again when backward asks for them.

Two variants. The non-reentrant one (`frame`) hooks into saved tensors: while the function runs, each tensor that a node
would save leaves a placeholder, and the first one that backward unpacks runs the function again, recording what it
saves. The reentrant one (`reentrant`) is a custom Function whose backward runs the function again and calls
``backward`` inside. Start with `api`, then `frame`; `determinism` says how two runs are compared, `selective` how
chosen results are kept after all.
"""

from .api import checkpoint, noop_context_fn
from .debug import set_checkpoint_debug_enabled
from .errors import CheckpointError
from .frame import set_checkpoint_early_stop
from .groups import GraphExecGroup
from .reentrant import CheckpointFunction, check_backward_validity, detach_variable
from .selective import (
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)
from .sequential import checkpoint_sequential
from .states import DefaultDeviceType, get_device_states, set_device_states

__all__ = [
    "SAC_IGNORED_OPS",
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "DefaultDeviceType",
    "GraphExecGroup",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]
