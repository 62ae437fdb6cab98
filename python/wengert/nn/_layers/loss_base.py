"""What losses share: two inputs, a reduction, weights that are buffers.

Most losses begin with the constants of `_Reduced` or `_WeightedReduced`; `_Loss` and `_WeightedLoss`, from which
programs derive losses of their own, are made with the same ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

from wengert._C import Tensor

from .function_layer import FunctionLayer, layer


def _reduction_of_old(size_average: bool | None, reduce: bool | None) -> str:
    """Return the reduction that two old arguments mean."""
    reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.", stacklevel=4
    )
    return reduction


@layer
class _Reduced(FunctionLayer):
    _passed: ClassVar[tuple[str, ...] | None] = ("reduction",)
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


@layer
class _WeightedReduced(FunctionLayer):
    _passed: ClassVar[tuple[str, ...] | None] = ("weight", "reduction")
    weight: Tensor | None = None
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class _Loss(FunctionLayer):
    """A loss of an output and its target; tensors among its constants are buffers."""

    _constants, _defaults = _Reduced._constants, _Reduced._defaults
    reduction: str

    def _register(self) -> None:
        held = self.__dict__
        size_average, reduce = held.pop("size_average", None), held.pop("reduce", None)
        if size_average is not None or reduce is not None:
            self.reduction = _reduction_of_old(size_average, reduce)
        for name in ("weight", "pos_weight"):
            if name in self._constants:
                self.register_buffer(name, held.pop(name))

    @classmethod
    def _made_forward(cls) -> Callable[..., Any]:
        function, get = cls._function, cls._values

        def forward(self: Any, input: Any, target: Any) -> Any:
            return function(input, target, *get(self))

        return forward


class _WeightedLoss(_Loss):
    """A loss with a weight for each class or element."""

    _constants, _defaults = _WeightedReduced._constants, _WeightedReduced._defaults
