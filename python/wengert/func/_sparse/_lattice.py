"""Periodic colorings of grids: color = (a . coordinates) modulo k.

On a grid, conflicts between columns repeat: a five-point stencil couples a point to the same few offsets everywhere. So
it is enough to look at the distinct offsets, and a coloring is valid as soon as a . offset is no multiple of k for any
of them. Few parameters need trying, and the results are the tilings that one would draw by hand: k = 3 for a
tridiagonal matrix, k = 5 for the five-point stencil.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

_MOST_OFFSETS = 400
_MOST_COLORS = 128
_MOST_TRIALS = 20_000


def lattice_coloring(graph: Any, shape: tuple[int, ...], fewest: int) -> Any:
    """Return a periodic coloring with as few colors as possible, at least `fewest`, or None.

    Columns that are neighbours in `graph` must differ; they are the points of a grid of `shape`, in C order.
    """
    shape = tuple(size for size in shape if size > 1)
    if graph.nnz == 0:
        return np.zeros(graph.shape[0], np.intp)
    if not shape:
        return None
    coordinates = np.stack(np.unravel_index(np.arange(graph.shape[0]), shape))
    offsets = _offsets(graph, coordinates, shape)
    if offsets is None:
        return None
    trials = 0
    for count in range(max(fewest, 2), _MOST_COLORS):
        for vector in _vectors(count, len(shape)):
            trials += 1
            if trials > _MOST_TRIALS:
                return None
            if np.all((offsets @ vector) % count):
                return (vector @ coordinates) % count
    return None


def _vectors(count: int, ndim: int) -> Any:
    """Return the vectors modulo `count`, those first that step by one along the last dimension."""
    for last in range(1, count):
        for others in itertools.product(range(count), repeat=ndim - 1):
            yield np.array([*others, last])


def _offsets(graph: Any, coordinates: Any, shape: tuple[int, ...]) -> Any:
    """Return the distinct differences of coordinates of adjacent columns, one of each pair of opposites."""
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    upper = rows < graph.indices
    rows, columns = rows[upper], graph.indices[upper]
    code = np.zeros(len(rows), np.intp)
    for line, size in zip(coordinates, shape, strict=True):
        code = code * (2 * size) + (line[columns] - line[rows] + size)
    distinct = np.unique(code)
    if len(distinct) > _MOST_OFFSETS:
        return None
    offsets = np.empty((len(distinct), len(shape)), np.intp)
    for dim in range(len(shape) - 1, -1, -1):
        distinct, remainder = np.divmod(distinct, 2 * shape[dim])
        offsets[:, dim] = remainder - shape[dim]
    return offsets
