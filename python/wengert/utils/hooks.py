"""Handles of hooks, and hooks around layers; see `wengert.autograd._hooks` and `wengert.autograd._backward_hook`."""

from wengert.autograd._backward_hook import BackwardHook
from wengert.autograd._hooks import RemovableHandle, unserializable_hook, warn_if_has_hooks

__all__ = ["BackwardHook", "RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]
