"""Handles of hooks, and hooks around layers; see `wengert.autograd._hooks` and `wengert.utils._backward_hook`."""

from wengert.autograd._hooks import RemovableHandle, unserializable_hook, warn_if_has_hooks

from ._backward_hook import BackwardHook

__all__ = ["BackwardHook", "RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]
