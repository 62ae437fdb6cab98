"""What PyTorch's module of this name has; see `wengert.utils.data`."""

from ._collating import default_collate, default_convert
from ._loader import DataLoader
from ._worker import get_worker_info

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]
