"""Adds to the entry of each operation what its row of the table says: formulas, dtypes, variants, and a plot with the
derivative.

The text of an entry is its docstring; `add_facts` appends to it, when Sphinx reads it, the sections that are made
here. The plots are of elementwise functions of one number, in the interval in which the row is tested, and are drawn
once for each entry into docs/generated/plots.
"""

import inspect
from functools import cache
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from latex import latex, name_of

import wengert as wg
from wengert._table import function_of, rows

PLOTS = Path(__file__).resolve().parents[1] / "generated" / "plots"
DTYPES = {"bool": "bool", "integral": "integers", "floating": "floating point, those of 16 bits included",
          "complex": "complex"}  # fmt: skip
AUTOCAST = {
    "lower": "in the lower precision",
    "float32": "in float32",
    "promote": "in the widest dtype of its arguments",
}
PLOT_RANGE = (-3.0, 3.0)


@cache
def rows_by_path():
    """Rows by the path of their function: wengert.nn.functional.silu. Several overloads have one entry."""
    found = {}
    for row in rows():
        namespace, name = row["python"]["namespace"], row["python"]["name"]
        paths = [f"{namespace}.{name}", *row["python"]["aliases"]]
        if "function" not in row["methods"]:
            paths = [f"Tensor.{name}"]
        for path in paths:
            prefix = "" if "." in path or not namespace else f"{namespace}."
            found.setdefault("wengert." + prefix + path.lstrip("."), []).append(row)
    return found


def formulas(row):
    """Lines of LaTeX: the function and its partial derivatives."""
    if not row["elementwise"] or row["reduces"]:
        return []
    parts = {name: latex(text) for name, text in row["formulas"].items() if name == "kernel" or name.startswith("d_")}
    if not parts.get("kernel") or any(
        function in row["formulas"]["kernel"] for function in ("isnan", "replace_nonfinite", "_derivative")
    ):
        return []
    names = [name_of(argument["name"]) for argument in row["arguments"] if argument["type"] in {"Tensor", "Operand"}]
    lines = [f"f({', '.join(names)}) &= {parts['kernel']}"]
    for argument in row["arguments"]:
        derivative = parts.get(f"d_{argument['name']}")
        if derivative:
            lines.append(rf"\frac{{\partial f}}{{\partial {name_of(argument['name'])}}} &= {derivative}")
    return lines


def facts(row):
    """(what, how) of an operation, for its list."""
    if row["form"] not in {"factory", "query"}:
        yield "Dtypes", ", ".join(DTYPES[category] for category in row["categories"])
        yield "Derivatives", derivatives(row)
    if row["view"]:
        yield "Memory", "the result is a view of the argument, where that is possible"
    name, ways = row["python"]["name"], []
    if "method" in row["methods"] and "function" in row["methods"]:
        ways.append(f"``x.{name}(...)``")
    if row["inplace"]:
        ways.append(f"in place ``x.{name}_(...)``")
    if row["out"]:
        ways.append("``out=``")
    if ways:
        yield "Also as", ", ".join(ways)
    if row["batch"] in {"loop", "dynamic"}:
        yield (
            "Under vmap",
            "once for each sample" if row["batch"] == "loop" else "refused: samples might differ in shape",
        )
    if row["autocast"]:
        yield "Autocast", AUTOCAST[row["autocast"]]


def derivatives(row):
    """What can be differentiated, in words."""
    if row["form"] == "non_differentiable" or row["result_rule"] == "Bool":
        return "none"
    if row["form"] == "not_implemented":
        return f"not implemented: {row['reason']}"
    linear = row["formulas"].get("linear")
    if linear:
        return f"any order, both modes; linear in {', '.join(f'``{name}``' for name in linear)}"
    return "any order, both modes"


def add_facts(app, what, name, obj, options, lines):
    """Append to a docstring what the row says."""
    found = rows_by_path().get(name)
    if not found or what not in {"function", "method"} or inspect.isclass(obj):
        return
    row = found[0]
    added = ["", ".. rubric:: At a glance", ""]
    for label, text in facts(row):
        added += [f":{label}: {text}"]
    added.append("")
    shown = formulas(row)
    if shown:
        equations = r" \\[4pt] ".join(shown)
        added += [".. rubric:: Mathematics", "", ".. math::", "   :no-wrap:", ""]
        added += [rf"   \begin{{align*}} {equations} \end{{align*}}", ""]
    picture = plot(row, name)
    if picture:
        added += [
            f".. image:: /generated/plots/{picture.name}",
            "   :class: drawn",
            f"   :alt: {name} and its derivative",
            "",
        ]
    lines += added


def plot(row, name):
    """The picture of an elementwise function of one number, or None."""
    tensors = [argument for argument in row["arguments"] if argument["type"] in {"Tensor", "Operand"}]
    needed = [argument for argument in row["arguments"] if argument["default"] is None]
    numeric = "floating" in row["categories"] and row["result_rule"] not in {"Bool", "Complex"}
    if not (row["elementwise"] and len(tensors) == len(needed) == 1 and numeric and shown_domain(row)):
        return None
    low, high = shown_domain(row)
    x = wg.linspace(low, high, 801, dtype=wg.float64).requires_grad_()
    y = function_of(row)(x)
    path = PLOTS / f"{name}.svg"
    figure, axes = plt.subplots(figsize=(5, 2.6), layout="constrained")
    at = x.detach().numpy()
    axes.axhline(0, color="0.6", linewidth=0.6)
    axes.plot(at, y.detach().numpy(), color="#3b82c4", label=row["python"]["name"])
    if y.requires_grad:
        (slope,) = wg.autograd.grad(y.sum(), x)
        axes.plot(at, slope.numpy(), color="#e8853a", linestyle="--", linewidth=1.2, label="derivative")
    axes.legend(frameon=False, labelcolor="0.5", fontsize=8)
    axes.tick_params(colors="0.5", labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color("0.5")
    PLOTS.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "path.simplify": True}):
        figure.savefig(path, transparent=True, metadata={"Date": None})
    plt.close(figure)
    return path


def shown_domain(row):
    """The interval of a plot: that in which the row is tested."""
    domain = row["domain"]
    if isinstance(domain, dict):
        return None
    return domain or PLOT_RANGE


def setup(app):
    """Register with Sphinx."""
    app.connect("autodoc-process-docstring", add_facts, priority=600)  # behind napoleon, which knows no such sections
    return {"parallel_read_safe": True}
