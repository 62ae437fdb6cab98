"""Custom Functions; see `wengert.autograd._function`."""

from ._function import BackwardCFunction, Function, FunctionMeta
from ._function_context import FunctionCtx
from ._function_legacy import InplaceFunction, NestedIOFunction
from ._once_differentiable import once_differentiable

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
