"""`ArrayBox`, by the path at which autograd has it."""

from __future__ import annotations

from .._boxes import ArrayBox as ArrayBox
