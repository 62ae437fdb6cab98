"""Handles of hooks; see `wengert.autograd._hooks`."""

from wengert.autograd._hooks import RemovableHandle, unserializable_hook, warn_if_has_hooks

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]
