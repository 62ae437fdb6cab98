"""Places for the vertices of a directed acyclic graph: layers from top to bottom, few crossings.

The method of Sugiyama, Tagawa and Toda (1981), short: the layer of a vertex is the length of the longest way to it from
above; within its layer a vertex goes to the mean place of its neighbours, in a few sweeps down and up. Long edges pass
through a thin dummy vertex in every layer between, so that they keep clear of boxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter

GAP_X, GAP_Y = 24.0, 44.0
DUMMY_WIDTH = 6.0
SWEEPS = 8
MOST_DUMMIES = 3000  # in a picture; the longest edges then go straight, behind the boxes


@dataclass
class Layout:
    """Centres of the vertices, the points of each edge between its ends, and the size of the whole."""

    centres: list[tuple[float, float]]
    bends: list[list[tuple[float, float]]]
    width: float
    height: float


def layers_of(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Return the layer of each vertex: 0 without predecessors, else one below the lowest of them."""
    above, _ = _neighbours(count, edges)
    layer = [0] * count
    for vertex in TopologicalSorter(dict(enumerate(above))).static_order():
        layer[vertex] = max((layer[source] + 1 for source in above[vertex]), default=0)
    return layer


def place(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> Layout:
    """Lay out vertices of the given sizes."""
    count = len(sizes)
    layer = layers_of(count, edges)
    widths = [width for width, _ in sizes]
    chains: list[list[int]] = []  # the dummies of each edge
    links: list[tuple[int, int]] = []
    longest = _longest_with_dummies([layer[target] - layer[source] - 1 for source, target in edges])
    for source, target in edges:
        chain = []
        last = source
        straight = layer[target] - layer[source] - 1 > longest
        for between in range(layer[source] + 1, layer[source] + 1 if straight else layer[target]):
            chain.append(len(layer))
            links.append((last, len(layer)))
            last = len(layer)
            layer.append(between)
            widths.append(DUMMY_WIDTH)
        links.append((last, target))
        chains.append(chain)
    rows = _ordered(layer, links)
    x, width = _columns(rows, widths, links)
    y, height = _lines(rows, layer, sizes)
    return Layout(
        centres=[(x[v], y[layer[v]]) for v in range(count)],
        bends=[[(x[v], y[layer[v]]) for v in chain] for chain in chains],
        width=width,
        height=height,
    )


def _longest_with_dummies(needs: Sequence[int]) -> int:
    """Return how many dummies an edge may have at most, so that all together are not too many."""
    total, allowed = 0, 0
    for need in sorted(needs):
        total += need
        if total > MOST_DUMMIES:
            return allowed
        allowed = need
    return allowed


def _neighbours(count: int, links: Sequence[tuple[int, int]]) -> tuple[list[list[int]], list[list[int]]]:
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for source, target in links:
        below[source].append(target)
        above[target].append(source)
    return above, below


def _ordered(layer: Sequence[int], links: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return the rows, each ordered by the mean position of the neighbours in the row before."""
    above, below = _neighbours(len(layer), links)
    rows: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
    for vertex, number in enumerate(layer):
        rows[number].append(vertex)
    position = {vertex: float(i) for row in rows for i, vertex in enumerate(row)}
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else reversed(rows):
            mean = {v: _mean([position[n] for n in (above if down else below)[v]], position[v]) for v in row}
            row.sort(key=lambda v: mean[v])
            position.update((vertex, float(i)) for i, vertex in enumerate(row))
    return rows


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _columns(
    rows: Sequence[Sequence[int]], widths: Sequence[float], links: Sequence[tuple[int, int]]
) -> tuple[list[float], float]:
    """Return x of each vertex: near its neighbours, no two of a row overlapping."""
    above, below = _neighbours(len(widths), links)
    x = [0.0] * len(widths)
    for row in rows:
        at = 0.0
        for vertex in row:
            x[vertex] = at + widths[vertex] / 2
            at += widths[vertex] + GAP_X
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = [_mean([x[n] for n in above[v] + below[v]], x[v]) for v in row]
            for vertex, place in zip(row, _apart(wanted, [widths[v] for v in row]), strict=True):
                x[vertex] = place
    left = min((x[v] - widths[v] / 2 for v in range(len(widths))), default=0.0) - GAP_X
    x = [place - left for place in x]
    return x, max((x[v] + widths[v] / 2 for v in range(len(widths))), default=0.0) + GAP_X


def _apart(wanted: Sequence[float], widths: Sequence[float]) -> list[float]:
    """Return places in order, as near to the wanted ones as the widths allow, in the sense of least squares.

    Boxes that touch form a block, which stands at the mean of what its members want (pool adjacent violators).
    """
    offsets = [0.0]
    for i in range(1, len(wanted)):
        offsets.append(offsets[-1] + (widths[i - 1] + widths[i]) / 2 + GAP_X)
    blocks: list[tuple[float, int]] = []  # (sum of wanted places less offsets, number of members)
    for place, offset in zip(wanted, offsets, strict=True):
        block = (place - offset, 1)
        while blocks and blocks[-1][0] / blocks[-1][1] >= block[0] / block[1]:
            total, members = blocks.pop()
            block = (block[0] + total, block[1] + members)
        blocks.append(block)
    places = [total / members for total, members in blocks for _ in range(members)]
    return [place + offset for place, offset in zip(places, offsets, strict=True)]


def _lines(
    rows: Sequence[Sequence[int]], layer: Sequence[int], sizes: Sequence[tuple[float, float]]
) -> tuple[list[float], float]:
    """Return y of each row."""
    y, at = [], GAP_Y / 2
    for row in rows:
        height = max((sizes[v][1] for v in row if v < len(sizes)), default=0.0)
        y.append(at + height / 2)
        at += height + GAP_Y
    return y, max(at - GAP_Y / 2, GAP_Y)
