"""Sphinx configuration; `nox -s docs` builds into docs/_build/html."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "_ext")]

project = "Wengert"
author = "The Wengert developers"
version = release = installed_version("wengert")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "essays",
    "semantics_table",
]
exclude_patterns = ["_build"]
html_theme = "alabaster"
html_theme_options = {"description": "PyTorch's autograd, rebuilt small and fast", "page_width": "1100px"}

autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_google_docstring = False
