"""``torch.distributed`` beyond `wengert.distributed`: what programs ask about backends and launchers other than MPI."""

from __future__ import annotations


def is_gloo_available() -> bool:
    """Return False."""
    return False


def is_nccl_available() -> bool:
    """Return False."""
    return False


def is_ucc_available() -> bool:
    """Return False."""
    return False


def is_xccl_available() -> bool:
    """Return False."""
    return False


def is_torchelastic_launched() -> bool:
    """Return False."""
    return False
