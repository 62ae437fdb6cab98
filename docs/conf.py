"""Sphinx configuration; `nox -s docs` builds into docs/_build/html."""

import sys
from pathlib import Path

import wengert

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "_ext")]

project = "Wengert"
author = "The Wengert developers"
version = release = wengert.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx_design",
    "essays",
    "reference",
    "semantics_table",
]
exclude_patterns = ["_build"]
html_theme = "pydata_sphinx_theme"
html_title = "Wengert"
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "installation": [], "differences": []}
html_show_sourcelink = False
copyright = "The Wengert developers"

suppress_warnings = ["ref.python"]  # types in docstrings are found in several modules: Node

napoleon_use_ivar = True  # attributes are members too, which have entries of their own
autosummary_generate = True
templates_path = ["_templates"]
autosummary_imported_members = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # signatures have them
napoleon_google_docstring = False
