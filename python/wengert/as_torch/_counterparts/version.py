"""The version of PyTorch whose names and semantics these are, as packages compare it."""

from __future__ import annotations

__version__ = "2.13.0+wengert"
cuda = None
hip = None
xpu = None
debug = False
git_version = ""
