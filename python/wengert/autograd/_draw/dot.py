"""A picture in the language of Graphviz, and Graphviz itself where it is installed."""

from __future__ import annotations

import shutil
import subprocess

from .collect import Picture
from .svg import COLOURS


def to_dot(picture: Picture) -> str:
    """Return the text of a DOT file."""
    lines = ["digraph {", '  node [shape=box, style="filled,rounded", fontname=monospace, fontsize=10];']
    for i, vertex in enumerate(picture.vertices):
        label = r"\n".join(_escape(line) for line in [vertex.name, *vertex.lines])
        tip = f', tooltip="{_escape(vertex.place)}"' if vertex.place else ""
        lines.append(f'  n{i} [label="{label}", fillcolor="{COLOURS[vertex.kind]}"{tip}];')
    lines += [f"  n{source} -> n{target};" for source, target in picture.edges]
    if picture.note:
        lines.append(f'  label="{_escape(picture.note)}";')
    return "\n".join([*lines, "}"])


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


def graphviz_svg(dot: str) -> str | None:
    """Return the SVG that Graphviz makes of a DOT text; None if it is not installed or fails."""
    program = shutil.which("dot")
    if program is None:
        return None
    try:
        done = subprocess.run([program, "-Tsvg"], input=dot, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout[done.stdout.find("<svg") :]
