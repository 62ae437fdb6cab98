"""`draw`, and what it returns."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from .collect import Picture, collect
from .dot import graphviz_svg, to_dot
from .page import to_page
from .svg import to_svg


class Drawing:
    """A picture of a graph; notebooks show it.

    Attributes
    ----------
    svg : str
        The picture as SVG; Graphviz makes it where it is installed.
    dot : str
        The graph in the language of Graphviz.
    html : str
        A page for any browser, which needs no network: the picture, zoomed and moved with the mouse, with a search,
        colours for the memory that nodes keep, and vertices that fold at a click.
    """

    def __init__(self, picture: Picture, *, use_graphviz: bool = True) -> None:
        self._picture, self._use_graphviz = picture, use_graphviz

    @cached_property
    def dot(self) -> str:
        return to_dot(self._picture)

    @cached_property
    def svg(self) -> str:
        made = graphviz_svg(self.dot) if self._use_graphviz else None
        return made or to_svg(self._picture)

    @cached_property
    def html(self) -> str:
        return to_page(self._picture, repr(self).partition(":")[0])

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str) -> None:
        """Write the picture to a file: as DOT if its name ends in ``.dot`` or ``.gv``, as a page if it does in
        ``.html``, else as SVG."""
        suffix = Path(path).suffix
        text = self.dot if suffix in (".dot", ".gv") else self.html if suffix in (".html", ".htm") else self.svg
        Path(path).write_text(text, encoding="utf-8")

    def __repr__(self) -> str:
        counts = self._picture.counts
        names = (f"{count} {name}" if count > 1 else name for name, count in sorted(counts.items()))
        text = f"Graph of {sum(counts.values())} nodes: {', '.join(names)}"
        return f"{text}\n({self._picture.note})" if self._picture.note else text


def draw(
    *targets: Any, names: Mapping[str, Any] | None = None, max_nodes: int = 300, use_graphviz: bool = True
) -> Drawing:
    """Draw the graph behind tensors.

    Each box is a node: its name, the dtype and shape of what the forward operation returned, the memory that it keeps
    for backward, and, if it was made in debug mode (`wengert.autograd.set_debug_mode`), the line that made it. Arrows
    are the ways that gradients take. No hook runs and no saved tensor is unpacked.

    Parameters
    ----------
    *targets : Tensor, GradientEdge or Node
        Where to start.
    names : mapping of str to Tensor, optional
        Names to show for tensors, for example of parameters.
    max_nodes : int, default 300
        How many nodes to show, the nearest to the targets first; a note says how many are missing.
    use_graphviz : bool, default True
        Whether Graphviz, where it is installed, lays out the SVG.

    Returns
    -------
    Drawing
        With attributes ``svg``, ``dot`` and ``html``, and a method ``save(path)``.

    Raises
    ------
    ValueError
        If no target has a graph.

    Examples
    --------
    >>> import wengert as wg
    >>> w = wg.ones(3, requires_grad=True)
    >>> wg.graph.draw((w * 2).exp(), names={"w": w})
    Graph of 3 nodes: AccumulateGrad, ExpBackward0, MulBackward0
    """
    picture = collect(targets, names or {}, max_nodes)
    if not picture.counts:
        raise ValueError("[draw] none of the tensors has a graph; make one of their inputs require grad")
    return Drawing(picture, use_graphviz=use_graphviz)
