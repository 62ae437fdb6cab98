"""What goes wrong between processes."""

from __future__ import annotations


class DistError(RuntimeError):
    """Something went wrong in a process group."""


class DistBackendError(DistError):
    """A message did not come through: MPI reports an error, a rank has left, or time is up."""
