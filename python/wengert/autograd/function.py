"""Custom Functions; see `wengert.autograd._custom_function`."""

from ._custom_function.context import FunctionCtx
from ._custom_function.function import BackwardCFunction, Function, FunctionMeta
from ._custom_function.legacy import InplaceFunction, NestedIOFunction
from ._custom_function.once_differentiable import once_differentiable

# The name of the context's methods before it became a class of its own.
_ContextMethodMixin = FunctionCtx

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "NestedIOFunction",
    "_ContextMethodMixin",
    "once_differentiable",
]
