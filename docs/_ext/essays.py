"""The directive ``essay``: shows the comment at the head of a source file as a section of the manual.

Each subsystem explains itself at the top of its main header, and nowhere else; the manual only chooses the order of
reading::

    .. essay:: src/graph/node.h

Blank comment lines separate paragraphs, deeper indentation marks code, backticks mark names.
"""

import re
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive

ROOT = Path(__file__).resolve().parents[2]
CODE_INDENT = "   "  # from here on a paragraph is shown as it stands


def head_comment(path):
    """Return the lines of the comment that opens a C++ file, without their slashes."""
    lines = []
    for line in path.read_text().splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].removeprefix(" "))
    return lines


def paragraphs(lines):
    """Yield runs of lines between empty ones."""
    run = []
    for line in [*lines, ""]:
        if line:
            run.append(line)
        elif run:
            yield run
            run = []


def inline(text):
    """Return nodes for `text`: names in backticks become code."""
    pieces = re.split(r"`([^`]+)`", text)
    return [nodes.literal("", piece) if index % 2 else nodes.Text(piece) for index, piece in enumerate(pieces)]


class Essay(Directive):
    required_arguments = 1

    def run(self):
        name = self.arguments[0]
        path = ROOT / name
        self.state.document.settings.env.note_dependency(str(path))
        lines = head_comment(path)
        if not lines:
            raise self.error(f"{name} does not begin with a comment")
        section = nodes.section(ids=[nodes.make_id(name)])
        section += nodes.title("", "", nodes.literal("", name))
        for run in paragraphs(lines):
            if all(line.startswith(CODE_INDENT) for line in run):
                section += nodes.literal_block("\n".join(run), "\n".join(run), language="none")
            else:
                section += nodes.paragraph("", "", *inline("\n".join(run)))
        return [section]


def setup(app):
    """Register the directive with Sphinx."""
    app.add_directive("essay", Essay)
    return {"parallel_read_safe": True}
