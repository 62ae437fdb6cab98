"""From tensors to a plain description of the graph behind them, without running any hook or formula."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wengert import _C

from .._graph.edges import node_of
from .._profiler.units import format_bytes


@dataclass
class Vertex:
    """A node of the graph as a picture shows it."""

    name: str
    lines: list[str]  # below the name
    kind: str  # "leaf", "root" or "operation"
    place: str | None = None  # file and line of the forward operation
    saved: int = 0  # bytes kept for backward


@dataclass
class Picture:
    """Vertices, and edges from a node to the next ones: the way gradients take."""

    vertices: list[Vertex] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)
    omitted: int = 0  # nodes that are not shown
    counts: Counter[str] = field(default_factory=Counter)  # of all nodes, by name

    @property
    def note(self) -> str:
        """Say what is missing."""
        if not self.omitted:
            return ""
        total = len(self.vertices) + self.omitted
        return f"{self.omitted} of {total} nodes are not shown; pass max_nodes={total} to draw() to see them"


def collect(targets: Sequence[Any], names: Mapping[str, Any], max_nodes: int) -> Picture:
    """Describe the graph behind `targets`: of all nodes their number, of the `max_nodes` nearest ones everything."""
    labels = {node_of(tensor): label for label, tensor in names.items() if node_of(tensor) is not None}
    roots = [node for node in map(_as_node, targets) if node is not None]
    picture = Picture()
    order: dict[Any, int] = {}
    shown: list[Any] = []
    waiting = deque(dict.fromkeys(roots))
    order.update((node, i) for i, node in enumerate(waiting))
    while waiting:
        node = waiting.popleft()
        picture.counts[short_name(node)] += 1
        if len(shown) < max_nodes:
            shown.append(node)
        else:
            picture.omitted += 1
        for child, _ in node.next_functions:
            if child is not None and child not in order:
                order[child] = len(order)
                waiting.append(child)
    index = {node: i for i, node in enumerate(shown)}
    picture.vertices = [_describe(node, labels.get(node), node in roots) for node in shown]
    picture.edges = [
        (index[node], index[child]) for node in shown for child, _ in node.next_functions if child in index
    ]
    return picture


def _as_node(target: Any) -> Any:
    return target if isinstance(target, _C.Node) else node_of(target)


def short_name(node: Any) -> str:
    """Return the name without PyTorch's namespace."""
    return str(node.name()).rpartition("::")[2]


def _describe(node: Any, label: str | None, is_root: bool) -> Vertex:
    name = short_name(node)
    is_leaf = name == "AccumulateGrad"
    lines = [label] if label else []
    lines += [_tensor_words(metadata) for metadata in node._input_metadata]
    saved = _C._autograd._saved_bytes(node)
    if saved:
        lines.append(f"saves {format_bytes(saved)}")
    place = _C._autograd._made_at(node)
    if place and not is_leaf:
        lines.append(_short_place(place))
    kind = "leaf" if is_leaf else "root" if is_root else "operation"
    return Vertex("leaf" if is_leaf else name, lines, kind, None if is_leaf else place, saved)


def _tensor_words(metadata: Any) -> str:
    dtype = str(metadata.dtype).rpartition(".")[2]
    return f"{dtype} {list(metadata.shape)}"


def _short_place(place: str) -> str:
    """Return the part of "/long/way/model.py:12 in forward, while ..." that fits into a box."""
    first = place.partition(", while ")[0]
    file, _, function = first.rpartition(" in ")
    return f"{file.replace(chr(92), '/').rpartition('/')[2]} in {function}"
