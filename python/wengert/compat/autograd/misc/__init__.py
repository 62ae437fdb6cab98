"""Nests of arrays as vectors, optimisers of them, fixed points."""

from __future__ import annotations

from .flatten import flatten as flatten
