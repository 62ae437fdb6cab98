"""Optimizers whose state is shared out among ranks."""

from ._zero import ZeroRedundancyOptimizer

__all__ = ["ZeroRedundancyOptimizer"]
