"""Sphinx configuration; `nox -s docs` builds into docs/_build/html.

Four kinds of pages: `learn` (lessons, in order), `howto` (one task each), `reference` (lookup), `explain` (why and how
it works); beside them `gallery` (from examples/), `coming_from`, performance and errors. Texts for those who change
the library itself are in `internals`, which only `explain` links to. Pages of operations, of examples and of the
performance are written before Sphinx reads any, by `_ext`.

`-t quick` makes the pages of single functions for one category only, for looking at the others;
those that are left out are warnings.
"""

import os
import sys
from pathlib import Path

import wengert

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "_ext")]

project = "Wengert"
author = copyright = "The Wengert developers"  # Sphinx's name
version = release = wengert.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "essays",
    "gallery",
    "mathematics",
    "pictures",
    "reference",
    "semantics_table",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
suppress_warnings = ["ref.python"]  # types in docstrings are found in several modules: Node

html_theme = "pydata_sphinx_theme"
html_title = "Wengert"
html_static_path = ["_static"]
html_css_files = ["wengert.css"]
html_favicon = "_static/logo.svg"
html_theme_options = {
    "logo": {"image_light": "_static/logo.svg", "image_dark": "_static/logo.svg", "text": "Wengert"},
    "collapse_navigation": True,  # or each page carries a list of all functions
    "navigation_depth": 3,
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "icon_links": [
        {"name": "Source", "url": "https://github.com/wengert-dev/wengert", "icon": "fa-brands fa-github"},
    ],
}
html_sidebars = {page: [] for page in ("index", "installation", "differences", "performance", "errors")}
html_show_sourcelink = False
html_copy_source = False

# Other projects' inventories come over the network, so only where the site is published.
intersphinx_mapping = {}
if "READTHEDOCS" in os.environ:
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "torch": ("https://docs.pytorch.org/docs/stable", None),
    }

napoleon_use_ivar = True  # attributes are members too, which have entries of their own
napoleon_google_docstring = False
autosummary_generate = ["generated/wengert_trigonometric.rst"] if tags.has("quick") else True  # noqa: F821  # Sphinx's own
autosummary_imported_members = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # signatures have them

copybutton_prompt_text = r">>> |\.\.\. |\$ "  # what is copied can be run
copybutton_prompt_is_regexp = True
