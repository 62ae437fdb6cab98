"""From positions to a batch: what the program itself does without workers, and what each worker does."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

from ._datasets import IterableDataset, many


class EndOfData(Exception):  # noqa: N818  # not an error: an iterable dataset has no more samples
    """There is nothing left to fetch."""


class Fetcher:
    """Asks a dataset for samples and puts them together.

    Parameters
    ----------
    dataset : Dataset
    batches : bool
        Whether positions come in lists.
    collate : callable
        Makes a batch of samples, or converts one sample.
    drop_last : bool
        Whether a last batch of an iterable dataset is left out if it is shorter.
    """

    def __init__(self, dataset: Any, batches: bool, collate: Callable[[Any], Any], drop_last: bool) -> None:
        self.dataset = dataset
        self.batches = batches
        self.collate = collate
        self.drop_last = drop_last
        self.iterator = iter(dataset) if isinstance(dataset, IterableDataset) else None

    def fetch(self, positions: Any) -> Any:
        """Return the batch, or the sample, at given positions; of an iterable dataset the next one."""
        if self.iterator is not None:
            return self.collate(self._next(len(positions) if self.batches else None))
        return self.collate(many(self.dataset, positions) if self.batches else self.dataset[positions])

    def _next(self, count: int | None) -> Any:
        assert self.iterator is not None
        samples = list(islice(self.iterator, 1 if count is None else count))
        if not samples or (self.drop_last and count is not None and len(samples) < count):
            raise EndOfData
        return samples[0] if count is None else samples
