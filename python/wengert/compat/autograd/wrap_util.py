"""`unary_to_nary`, by the path at which autograd has it."""

from __future__ import annotations

from .differential_operators import unary_to_nary as unary_to_nary
