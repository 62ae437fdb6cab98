"""A dataset cut into random parts."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import wengert as wg

from ._datasets import Subset


def random_split(dataset: Any, lengths: Sequence[float], generator: Any = None) -> list[Subset[Any]]:
    """Split a dataset at random into parts that do not overlap.

    Parameters
    ----------
    dataset : Dataset
        With a length.
    lengths : sequence of int, or of float
        How many samples each part has, or shares that sum to 1; what is left over after rounding down is given to the
        parts in turn.
    generator : Generator, optional
        What draws the order; the default one if not given.

    Returns
    -------
    list of Subset

    Raises
    ------
    ValueError
        If the lengths do not sum to that of the dataset, or a share is not between 0 and 1.

    Examples
    --------
    >>> import wengert as wg
    >>> parts = wg.utils.data.random_split(range(10), [0.7, 0.3], generator=wg.Generator().manual_seed(0))
    >>> [len(part) for part in parts]
    [7, 3]
    >>> sorted(sample for part in parts for sample in part)
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _counts(len(dataset), lengths)
    if sum(lengths) != len(dataset):
        raise ValueError(
            f"Sum of input lengths does not equal the length of the input dataset! {sum(lengths)} is not {len(dataset)}"
        )
    counts = [int(length) for length in lengths]
    order = wg.randperm(len(dataset), generator=generator).tolist()
    return [Subset(dataset, order[end - count : end]) for end, count in zip(accumulate(counts), counts, strict=True)]


def _counts(total: int, shares: Sequence[float]) -> list[int]:
    for index, share in enumerate(shares):
        if not 0 <= share <= 1:
            raise ValueError(f"Fraction at index {index} is not between 0 and 1")
    counts = [math.floor(total * share) for share in shares]
    for position in range(total - sum(counts)):
        counts[position % len(counts)] += 1
    for index, count in enumerate(counts):
        if count == 0:
            warnings.warn(
                f"Length of split at index {index} is 0. This might result in an empty dataset.", stacklevel=3
            )
    return counts
