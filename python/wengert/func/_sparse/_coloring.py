"""Colors: groups of columns (or of rows and columns together) that one product serves.

*Columns* (`color_columns`): two columns with an entry in one row get different colors. *Symmetric* (`color_symmetric`):
of every entry (i, j) and its mirror image, at least one must be the only entry of its column's color in its row; that
is what star colorings give, and often with fewer colors.

Periodic colorings of grids (`_lattice.py`) come first. Otherwise vertices are colored greedily, in order of falling
degree. The greedy rule depends only on neighbors that come before, so all vertices whose earlier neighbors are done are
colored at once, as arrays (M. T. Jones and P. E. Plassmann, 1993); ties are broken at random, which keeps the number of
rounds near the logarithm of the size.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ._lattice import lattice_coloring

_LIMIT = 1 << 26  # pairs of columns that share a row: beyond, one color per column
_STAR_LIMIT = 1_000_000  # steps of the sequential search

Shape = tuple[int, ...]


def color_columns(pattern: Any, shape: Shape) -> Any:
    """Return a color for each column of a CSR pattern; `shape` is the grid that the columns come from."""
    columns = pattern.shape[1]
    if columns == 0 or pattern.nnz == 0:
        return np.zeros(columns, np.intp)
    per_row = np.diff(pattern.indptr).astype(np.float64)
    if np.square(per_row).sum() > _LIMIT:
        return np.arange(columns)
    graph = _off_diagonal(pattern.T.tocsr() @ pattern)
    fewest = int(per_row.max())
    regular = lattice_coloring(graph, shape, fewest)
    if regular is not None and regular.max() < fewest:
        return regular
    greedy = greedy_coloring(graph)
    return greedy if regular is None or greedy.max() < regular.max() else regular


def color_symmetric(pattern: Any, shape: Shape) -> Any:
    """Return a color for each column of a symmetric CSR pattern.

    Columns with very many entries (hubs) get colors of their own; rows of hubs then need no care, since their entries
    are read off the hubs' columns.
    """
    size = pattern.shape[0]
    if size == 0 or pattern.nnz == 0:
        return np.zeros(size, np.intp)
    degrees = np.diff(pattern.indptr)
    hubs = degrees > 4 * np.median(degrees) + 16
    number = int(hubs.sum())
    if number:
        ordinary = _without(pattern, hubs)
        colors = color_columns(ordinary, ()) + number
        colors[hubs] = np.arange(number)
    else:
        colors = color_columns(pattern, shape)
    edges = _off_diagonal(pattern)
    if colors.max() >= 3 and edges.nnz * int(degrees.max()) <= _STAR_LIMIT:
        star = star_coloring(edges)
        if star.max() < colors.max():
            return star
    return colors


def _without(pattern: Any, removed: Any) -> Any:
    rows, columns = _entries(pattern)
    return _graph(rows, columns, ~(removed[rows] | removed[columns]), pattern.shape)


def _off_diagonal(graph: Any) -> Any:
    rows, columns = _entries(graph)
    return _graph(rows, columns, rows != columns, graph.shape)


def _graph(rows: Any, columns: Any, kept: Any, shape: Shape) -> Any:
    values = np.ones(int(kept.sum()), bool)
    return scipy.sparse.coo_array((values, (rows[kept], columns[kept])), shape=shape).tocsr()


def _entries(pattern: Any) -> tuple[Any, Any]:
    return np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr)), pattern.indices


def direct_entries(rows: Any, columns: Any, colors: Any) -> Any:
    """Return which entries are the only ones of their column's color in their row."""
    _, group, counts = np.unique(
        rows * (int(colors.max(initial=0)) + 1) + colors[columns], return_inverse=True, return_counts=True
    )
    return counts[group] == 1


def greedy_coloring(graph: Any) -> Any:
    """Color a graph (CSR, no loops) greedily, in order of falling degree."""
    size = graph.shape[0]
    degrees = np.diff(graph.indptr)
    rank = np.empty(size, np.intp)
    rank[np.lexsort((np.random.default_rng(0).permutation(size), -degrees))] = np.arange(size)
    sources, targets = _entries(graph)
    earlier = rank[targets] < rank[sources]
    followers = _graph(targets, sources, earlier, graph.shape)
    sources, targets = sources[earlier], targets[earlier]  # sorted by source: `starts` delimits them
    starts = np.searchsorted(sources, np.arange(size + 1))
    waiting = np.diff(starts)
    colors = np.full(size, -1, np.intp)
    ready = np.flatnonzero(waiting == 0)
    while len(ready):
        owners, flat = _gather(starts, ready)
        colors[ready] = _smallest_free(owners, colors[targets[flat]], len(ready))
        touched = followers.indices[_gather(followers.indptr, ready)[1]]
        waiting -= np.bincount(touched, minlength=size)
        touched = np.unique(touched)
        ready = touched[waiting[touched] == 0]
    return colors


def _gather(starts: Any, chosen: Any) -> tuple[Any, Any]:
    """Return, for the slices that begin at `starts` of the chosen items, owner and position of each member."""
    lengths = starts[chosen + 1] - starts[chosen]
    owners = np.repeat(np.arange(len(chosen)), lengths)
    offsets = np.arange(len(owners)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return owners, starts[chosen][owners] + offsets


def _smallest_free(owners: Any, taken: Any, count: int) -> Any:
    """Return the smallest color that each owner's neighbors leave."""
    width = int(taken.max(initial=-1)) + 2
    pairs = np.unique(owners * width + taken)
    owners, taken = pairs // width, pairs % width
    first = np.searchsorted(owners, np.arange(count + 1))
    gap = taken != np.arange(len(taken)) - first[owners]
    free = np.diff(first)
    position = np.flatnonzero(gap)[::-1]  # the first gap of each owner is written last
    free[owners[position]] = position - first[owners[position]]
    return free


def star_coloring(graph: Any) -> Any:
    """Color a symmetric graph so that no path of four vertices has only two colors (greedily)."""
    size = graph.shape[0]
    neighbors = [graph.indices[graph.indptr[v] : graph.indptr[v + 1]].tolist() for v in range(size)]
    colors = [-1] * size
    for vertex in np.argsort(-np.diff(graph.indptr), kind="stable").tolist():
        forbidden = set()
        for w in neighbors[vertex]:
            color = colors[w]
            forbidden.add(color)
            for x in neighbors[w]:
                if x == vertex or colors[x] < 0 or colors[x] in forbidden:
                    continue
                if color < 0 or any(y != w and colors[y] == color for y in neighbors[x]):
                    forbidden.add(colors[x])
        color = 0
        while color in forbidden:
            color += 1
        colors[vertex] = color
    return np.array(colors, np.intp)
