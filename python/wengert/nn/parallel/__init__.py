"""Modules that train on several ranks.

`DistributedDataParallel` (`distributed.py`) is the module; `_reducer.py` averages gradients while the backward pass
goes on, and `_buckets.py` decides which of them travel together.
"""

from .distributed import DistributedDataParallel

__all__ = ["DistributedDataParallel"]
