"""Checking derivatives; see `wengert.autograd._gradcheck`."""

import importlib as _importlib
import typing as _typing

from ._gradcheck._errors import GradcheckError
from ._gradcheck._gradcheck import gradcheck
from ._gradcheck._gradgradcheck import gradgradcheck

if _typing.TYPE_CHECKING:
    from ._gradcheck._legacy import (
        get_analytical_jacobian,
        get_numerical_jacobian,
        get_numerical_jacobian_wrt_specific_input,
    )
else:

    def __getattr__(name: str) -> _typing.Any:
        if name in __all__:  # the others are here
            return getattr(_importlib.import_module("wengert.autograd._gradcheck._legacy"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "GradcheckError",
    "get_analytical_jacobian",
    "get_numerical_jacobian",
    "get_numerical_jacobian_wrt_specific_input",
    "gradcheck",
    "gradgradcheck",
]
