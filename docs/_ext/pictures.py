"""The directive ``picture``: a doctest whose result is seen, a graph or a plot::

    .. picture::

       >>> x = wg.ones(2, requires_grad=True)
       >>> wg.graph.draw((x * x).sum())
       Graph of 3 nodes: AccumulateGrad, MulBackward0, SumBackward0

When Sphinx meets one it runs all examples of the page so far, in order and with the same names, as a reader would and
as tests/test_documents.py does, which also compares what they print. Shown is the drawing that the last line returns,
or the figures of matplotlib that are open then. With ``:hide-code:`` the code is not shown.
"""

import contextlib
import doctest
import io
from pathlib import Path
from typing import ClassVar

import matplotlib as mpl
from docutils import nodes
from docutils.parsers.rst import Directive, directives

mpl.use("Agg")
import matplotlib.pyplot as plt

GREY = "#888"  # on light and on dark
STYLE = {
    "figure.figsize": (6.4, 3.2), "figure.constrained_layout.use": True, "savefig.transparent": True,
    "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9,
    "axes.edgecolor": GREY, "axes.labelcolor": GREY, "text.color": GREY, "xtick.color": GREY, "ytick.color": GREY,
    "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False,
    "axes.prop_cycle": mpl.cycler(color=["#3b82c4", "#e8853a", "#4a9d5b", "#b0529c", "#888"]),
}  # fmt: skip


class Page:
    """The examples of a page, run as far as they are needed."""

    def __init__(self, path):
        self.examples = doctest.DocTestParser().get_examples(Path(path).read_text())
        self.names, self.done = {"__name__": "__main__"}, 0

    def run_to(self, line):
        """Run what stands before a line that was not run yet; return the value of the last expression."""
        value = None
        with contextlib.redirect_stdout(io.StringIO()):
            while self.done < len(self.examples) and self.examples[self.done].lineno < line:
                example = self.examples[self.done]
                self.done += 1
                try:
                    value = self.value_of(example.source)
                except Exception:
                    if example.exc_msg is None:
                        raise
        return value

    def value_of(self, source):
        try:
            code = compile(source, "<page>", "eval")
        except SyntaxError:
            exec(compile(source, "<page>", "exec"), self.names)
            return None
        return eval(code, self.names)


class Picture(Directive):
    has_content = True
    option_spec: ClassVar = {"hide-code": directives.flag}

    def run(self):
        env = self.state.document.settings.env
        page = env.temp_data.setdefault("page of pictures", Page(env.doc2path(env.docname)))
        with mpl.rc_context(STYLE):
            value = page.run_to(self.content_offset + len(self.content))
            shown = [value.svg] if hasattr(value, "svg") else []
            kind = "graph" if shown else "plot"
            for number in plt.get_fignums():
                shown.append(as_svg(plt.figure(number)))
                plt.close(number)
        if not shown:
            raise self.error("nothing was drawn")
        lines = list(self.content)
        if kind == "graph":  # it says itself what it is
            del lines[1 + max(i for i, line in enumerate(lines) if line.startswith((">>>", "..."))) :]
        text = "\n".join(lines)
        code = [] if "hide-code" in self.options else [nodes.doctest_block(text, text)]
        return [*code, nodes.container("", *(nodes.raw("", svg, format="html") for svg in shown), classes=[kind])]


def as_svg(figure):
    """A figure as text that can stand in a page."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    text = file.getvalue()
    return text[text.index("<svg") :]


def setup(app):
    """Register the directive with Sphinx."""
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True}
