"""Checkpoints: keep less for backward and compute it again; see `wengert.utils._checkpoint`."""

from ._checkpoint.api import checkpoint, noop_context_fn
from ._checkpoint.debug import set_checkpoint_debug_enabled
from ._checkpoint.errors import CheckpointError
from ._checkpoint.frame import set_checkpoint_early_stop
from ._checkpoint.groups import GraphExecGroup
from ._checkpoint.reentrant import CheckpointFunction, check_backward_validity, detach_variable
from ._checkpoint.selective import (
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)
from ._checkpoint.sequential import checkpoint_sequential
from ._checkpoint.states import DefaultDeviceType, get_device_states, set_device_states

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
