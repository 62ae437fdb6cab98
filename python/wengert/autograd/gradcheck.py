"""Checking derivatives; see `wengert.autograd._gradcheck`."""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from ._gradcheck._errors import GradcheckError
from ._gradcheck._gradcheck import gradcheck
from ._gradcheck._gradgradcheck import gradgradcheck

if _TYPE_CHECKING:
    from ._gradcheck._legacy import (
        get_analytical_jacobian,
        get_numerical_jacobian,
        get_numerical_jacobian_wrt_specific_input,
    )

__all__ = [
    "GradcheckError",
    "get_analytical_jacobian",
    "get_numerical_jacobian",
    "get_numerical_jacobian_wrt_specific_input",
    "gradcheck",
    "gradgradcheck",
]


def __getattr__(name: str) -> _Any:
    if name in __all__:  # the others are here
        return getattr(_importlib.import_module("wengert.autograd._gradcheck._legacy"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
