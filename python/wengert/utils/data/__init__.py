"""Data for training: datasets, the order of their samples, batches, and workers that load ahead.

`DataLoader` (`_loader.py`) puts the parts together: a sampler gives positions (`_samplers.py`), a fetcher asks the
dataset for them (`_fetching.py`) and a function puts the samples into one batch (`_collating.py`). With workers,
fetchers run elsewhere: `_parallel.py` hands out positions and keeps the order, `_worker.py` is the loop of a worker,
and `_processes.py` and `_threads.py` are the two kinds of places where it runs.
"""

from ._collating import default_collate, default_convert
from ._datasets import ChainDataset, ConcatDataset, Dataset, IterableDataset, StackDataset, Subset, TensorDataset
from ._distributed import DistributedSampler
from ._loader import DataLoader
from ._samplers import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from ._splitting import random_split
from ._worker import get_worker_info

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "random_split",
]
