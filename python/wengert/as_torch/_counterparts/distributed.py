"""``torch.distributed``, as in a PyTorch that was built without it: there is no other process."""

from __future__ import annotations


def is_available() -> bool:
    """Return False."""
    return False


def is_initialized() -> bool:
    """Return False."""
    return False
