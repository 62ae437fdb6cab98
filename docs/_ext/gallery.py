"""Writes a page for each program of examples/, and the directive ``gallery``, a grid of cards that lead to them.

A program is described once, by its docstring: the first line is its title and, after a colon, its subject, the rest
its text, indented lines are commands. What it shows is recorded, because the programs run for minutes:
docs/gallery/record.py runs them and keeps the picture and the output of each in docs/gallery/recorded. A program
without a record is a warning, so that `nox -s docs` fails.
"""

import ast
import re
from pathlib import Path
from typing import ClassVar

from docutils.parsers.rst import directives
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

logger = logging.getLogger(__name__)
DOCS = Path(__file__).resolve().parents[1]
PROGRAMS = DOCS.parent / "examples"
RECORDED = DOCS / "gallery" / "recorded"

PAGE = """{title}
{line}

.. rst-class:: lead

   {subject}

.. image:: /gallery/recorded/{name}.png
   :alt: what {name}.py draws
   :class: recorded

{text}

What it prints
--------------

.. code-block:: none

{output}

The program
-----------

`examples/{name}.py <https://github.com/wengert-dev/wengert/blob/main/examples/{name}.py>`__, {lines} lines:

.. literalinclude:: /../examples/{name}.py
   :language: python
   :start-at: import argparse
"""


def programs():
    """The names of all programs of one process."""
    return sorted(path.stem for path in PROGRAMS.glob("*.py") if not path.stem.startswith("_"))


def description(name):
    """The title of a program, its subject and its text, as reStructuredText."""
    line, _, text = ast.get_docstring(ast.parse((PROGRAMS / f"{name}.py").read_text())).partition("\n")
    blocks = [
        f".. code-block:: console\n\n{re.sub('^ +', '   $ ', block, flags=re.MULTILINE)}" if block[0] == " " else block
        for block in re.split(r"\n{2,}", text.strip("\n"))
    ]
    title, _, subject = line.partition(": ")
    return title, subject[:1].upper() + subject[1:], "\n\n".join(blocks)


def write_pages(app, config):
    """Write docs/generated/gallery/<program>.rst."""
    folder = DOCS / "generated" / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    for name in programs():
        record = RECORDED / f"{name}.txt"
        if not record.exists():
            logger.warning("%s.py was never recorded: run docs/gallery/record.py %s", name, name)
            continue
        title, subject, text = description(name)
        output = "\n".join("   " + line for line in record.read_text().splitlines())
        lines = len((PROGRAMS / f"{name}.py").read_text().splitlines())
        page = PAGE.format(
            title=title, line="=" * len(title), subject=subject, name=name, text=text, output=output, lines=lines
        )
        (folder / f"{name}.rst").write_text(page)


class Gallery(SphinxDirective):
    """Cards for the programs whose names are the lines of its content; all must stand in some gallery."""

    has_content = True
    option_spec: ClassVar = {"columns": directives.unchanged}

    def run(self):
        lines = [
            f".. grid:: {self.options.get('columns', '1 2 2 2')}",
            "   :gutter: 3",
            "   :class-container: gallery",
            "",
        ]
        for name in self.content:
            title, subject, _ = description(name)
            lines += [
                f"   .. grid-item-card:: {title}",
                f"      :img-top: /gallery/recorded/{name}.png",
                f"      :link: /generated/gallery/{name}",
                "      :link-type: doc",
                "",
                f"      {subject}",
                "",
            ]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app):
    """Register with Sphinx."""
    app.connect("config-inited", write_pages, priority=600)  # after the folder was emptied
    app.add_directive("gallery", Gallery)
    return {"parallel_read_safe": True}
