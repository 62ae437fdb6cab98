"""``torch.compiler``: nothing is compiled, so everything that marks functions for it leaves them as they are."""

from __future__ import annotations

from typing import Any

from . import compile as compile
from .jit import _mark

allow_in_graph = disable = assume_constant_result = substitute_in_graph = _mark


def is_compiling() -> bool:
    """Return False: Python runs the function."""
    return False


is_dynamo_compiling = is_exporting = is_compiling


def reset() -> None:
    """Do nothing."""


def cudagraph_mark_step_begin() -> None:
    """Do nothing."""


def set_stance(stance: Any = "default", **options: Any) -> None:
    """Do nothing."""
