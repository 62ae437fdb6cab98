"""Nests of arrays as vectors."""

from __future__ import annotations

from .flatten import flatten as flatten
