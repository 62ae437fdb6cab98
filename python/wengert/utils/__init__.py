"""Helpers around autograd."""

from . import hooks

__all__ = ["hooks"]
