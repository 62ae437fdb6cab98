"""Communication as part of models."""

from . import functional as functional

__all__ = ["functional"]
