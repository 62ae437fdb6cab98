"""What PyTorch's module of this name has; see `wengert.utils.data`."""

from ._distributed import DistributedSampler

__all__ = ["DistributedSampler"]
