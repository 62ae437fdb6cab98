"""A picture as SVG, laid out here."""

from __future__ import annotations

import itertools
from html import escape

from .collect import Picture, Vertex
from .layout import place

CHARACTER, LINE, PADDING = 6.7, 15.0, 8.0  # of 11 px monospace text
COLOURS = {"leaf": "#dcebff", "root": "#ffe3c2", "operation": "#f2f2f2"}
STYLE = "font-family:monospace;font-size:11px;text-anchor:middle"


def to_svg(picture: Picture) -> str:
    """Return the text of an SVG file."""
    sizes = [_size(vertex) for vertex in picture.vertices]
    layout = place(sizes, picture.edges)
    note = picture.note
    width = max(layout.width, CHARACTER * len(note) + 2 * PADDING)
    height = layout.height + (LINE + PADDING if note else 0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" style="{STYLE}">',
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#666"/></marker></defs>',
    ]
    for (source, target), bends in zip(picture.edges, layout.bends, strict=True):
        (x0, y0), (x1, y1) = layout.centres[source], layout.centres[target]
        points = [(x0, y0 + sizes[source][1] / 2), *bends, (x1, y1 - sizes[target][1] / 2)]
        parts.append(f'<path d="{_curve(points)}" fill="none" stroke="#666" marker-end="url(#head)"/>')
    for vertex, centre, size in zip(picture.vertices, layout.centres, sizes, strict=True):
        parts.append(_box(vertex, centre, size))
    if note:
        parts.append(f'<text x="{width / 2:.0f}" y="{height - PADDING:.0f}">{escape(note)}</text>')
    return "\n".join([*parts, "</svg>"])


def _size(vertex: Vertex) -> tuple[float, float]:
    longest = max(map(len, [vertex.name, *vertex.lines]))
    return CHARACTER * longest + 2 * PADDING, LINE * (1 + len(vertex.lines)) + PADDING


def _box(vertex: Vertex, centre: tuple[float, float], size: tuple[float, float]) -> str:
    (x, y), (width, height) = centre, size
    parts = ["<g>"]
    if vertex.place:
        parts.append(f"<title>{escape(vertex.place)}</title>")
    parts.append(
        f'<rect x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" height="{height:.1f}" rx="4" '
        f'fill="{COLOURS[vertex.kind]}" stroke="#999"/>'
    )
    top = y - height / 2 + LINE
    for i, line in enumerate([vertex.name, *vertex.lines]):
        weight = ' font-weight="bold"' if i == 0 else ' fill="#444"'
        parts.append(f'<text x="{x:.1f}" y="{top + i * LINE:.1f}"{weight}>{escape(line)}</text>')
    return "".join([*parts, "</g>"])


def _curve(points: list[tuple[float, float]]) -> str:
    """Return a path through the points that leaves and reaches each of them vertically."""
    path = [f"M{points[0][0]:.1f},{points[0][1]:.1f}"]
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        middle = (y0 + y1) / 2
        path.append(f"C{x0:.1f},{middle:.1f} {x1:.1f},{middle:.1f} {x1:.1f},{y1:.1f}")
    return " ".join(path)
