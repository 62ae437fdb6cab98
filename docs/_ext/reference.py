"""Writes the pages of operations from the table, before Sphinx reads any: a page for each category, with a list from
which autosummary makes a page for each function.

What is not in the table (creation, transforms, autograd, ...) is listed by hand in docs/**/*.rst.
A public name of the package that stands on no page is a warning, so that `nox -s docs` fails.
"""

import importlib
import re
import shutil
import types
from collections import defaultdict
from pathlib import Path

import yaml
from sphinx.util import logging

from wengert._table import rows

logger = logging.getLogger(__name__)
DOCS = Path(__file__).resolve().parents[1]

# Namespaces whose functions have one page; those of the others have one for each file of the table.
ONE_PAGE = {"linalg", "fft", "special"}
# Functions of these namespaces that no row stands for, by category.
WRITTEN_IN_PYTHON = {
    ("nn.functional", "classification"): ["triplet_margin_with_distance_loss"],
    ("linalg", "linalg"): ["LinAlgError"],
    ("", "linalg"): ["lobpcg", "lu", "pca_lowrank", "svd_lowrank"],
    ("nn.functional", "attention"): ["multi_head_attention_forward"],
    ("nn.functional", "pooling"): [
        "fractional_max_pool2d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d",
        "fractional_max_pool3d_with_indices",
    ],
    ("", "random"): ["poisson"],
    ("", "rearranging"): ["unique", "unique_consecutive"],
    ("", "views"): ["broadcast_shapes"],
    ("", "scans"): ["histogramdd"],
    ("", "arithmetic"): ["gradient"],
}  # fmt: skip
# Public modules of which every name must stand on a page.
COMPLETE = ["", "linalg", "special", "fft", "nn.functional", "nn", "autograd", "autograd.graph", "autograd.functional",
            "autograd.forward_ad", "func", "func.implicit", "optim", "optim.lr_scheduler", "optim.swa_utils",
            "utils.data", "distributions", "utils.pytree", "utils.safetensors", "optimize",
            "profiler", "distributed", "distributed.nn.functional", "distributed.optim", "nn.parallel",
            "testing", "random", "sim", "accelerator", "amp", "as_torch", "as_autograd"]  # fmt: skip
# Aliases and old names, which have no page of their own.
WITHOUT_PAGE = re.compile(
    r"[A-Z]\w+Tensor|bool|u?int\d+|(b?float|complex)\d+|half|double|float|int|long|short|cfloat|cdouble|Variable|variable|NestedIOFunction|e|pi|inf|nan|newaxis"
    r"|annotations|Any|Iterator|Tensor"
)


def qualified(namespace, name):
    return ".".join(filter(None, ("wengert", namespace, name)))


def functions_by_category():
    """The functions of each category, in the order of the table, and the methods that are no functions."""
    functions, methods = defaultdict(dict), {}

    def add(namespace, family, name):
        functions[(namespace, namespace if namespace in ONE_PAGE else family)][name] = None

    for row in rows():
        where, name, family = row["python"]["namespace"], row["python"]["name"], row["family"]
        if where == "private":
            continue
        if "function" not in row["methods"]:
            methods[name] = None
            continue
        add(where, family, name)
        for alias in row["python"]["aliases"]:
            namespace, _, own = alias.rpartition(".")
            add(namespace or where, family, own)
    for key, names in WRITTEN_IN_PYTHON.items():
        functions[key] |= dict.fromkeys(names)
    return {key: list(names) for key, names in functions.items()}, list(methods)


def page_name(namespace, family):
    return f"{namespace.replace('.', '_') or 'wengert'}_{family}"


def autosummary(names):
    lines = "\n".join(f"   {name}" for name in names)
    return f".. autosummary::\n   :toctree: functions\n   :nosignatures:\n\n{lines}\n"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_pages(app, config):
    """Write docs/generated/<category>.rst and the page of methods."""
    functions, methods = functions_by_category()
    shutil.rmtree(DOCS / "generated", ignore_errors=True)  # with the pages of functions that are gone
    listed = set()
    for (namespace, family), names in functions.items():
        head = yaml.safe_load((DOCS.parent / "ops" / f"{family}.yaml").read_text())
        title, text = head["title"], head.get("summary", "")
        listed |= {qualified(namespace, name) for name in names}
        shown = (
            f"{title}\n{'=' * len(title)}\n\n{text}\n\n.. currentmodule:: {qualified(namespace, '').rstrip('.')}\n\n"
        )
        write(
            DOCS / "generated" / f"{page_name(namespace, family)}.rst",
            shown + autosummary(sorted(names, key=str.lower)),
        )
    title = "Methods that are no functions"
    note = "Every function whose first argument is ``input`` is a method too; names that end in ``_`` write in place."
    text = autosummary([f"Tensor.{name}" for name in sorted(methods)])
    write(
        DOCS / "generated" / "tensor_methods.rst",
        f"{title}\n{'=' * len(title)}\n\n{note}\n\n.. currentmodule:: wengert\n\n{text}",
    )
    complain_of_missing(listed)


def complain_of_missing(listed):
    """Warn of public names that stand on no page."""
    pages = [page for page in sorted(DOCS.rglob("*.rst")) if "generated" not in page.parts]
    written = "\n".join(path.read_text() for path in pages)
    words = set(re.findall(r"^ {3}(?:~)?([\w.]+)$", written, re.MULTILINE))
    for module in COMPLETE:
        found = importlib.import_module(qualified(module, "").rstrip("."))
        for name in getattr(found, "__all__", None) or dir(found):
            value = getattr(found, name)
            full = qualified(module, name)
            known = full in listed or name in words
            known |= not module and qualified("nn.functional", name) in listed  # its second spelling
            if known or name.startswith("_") or isinstance(value, types.ModuleType) or WITHOUT_PAGE.fullmatch(name):
                continue
            logger.warning("%s stands on no page: list it in docs/reference, or in docs/_ext/reference.py", full)


def without_first_words(app, what, name, obj, options, lines):
    """Leave out what docstrings of the core begin with where Sphinx has not read it as a signature."""
    while lines and re.match(rf"{re.escape(name.rpartition('.')[2])}\(.*\)$", lines[0]):
        del lines[0]


def setup(app):
    """Register with Sphinx."""
    app.connect("config-inited", write_pages)  # before Sphinx looks for documents
    app.connect("autodoc-process-docstring", without_first_words)
    return {"parallel_read_safe": True}
