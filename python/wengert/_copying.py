"""Copies of tensors that outlive the process or the graph: pickle and deepcopy."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from wengert import _C
from wengert._C import Tensor


def _memory_order(tensor: Any) -> tuple[int, ...]:
    """Return the axes from the slowest to the fastest in memory; the natural order where there are gaps."""
    order = tuple(sorted(range(tensor.ndim), key=tensor.stride, reverse=True))
    dense = tensor.detach().numpy().transpose(order).flags.c_contiguous
    return order if dense else tuple(range(tensor.ndim))


def rebuild_tensor(
    cls: Any, array: np.ndarray[Any, Any], order: tuple[int, ...], requires_grad: bool, attributes: dict[str, Any]
) -> Any:
    """Make the tensor that `reduce_ex` took apart; axis i of `array` is axis ``order[i]`` of the tensor."""
    tensor = _C.from_numpy(array.transpose(np.argsort(order)) if order else array)
    if cls is not Tensor:
        tensor = Tensor._make_subclass(cls, tensor)  # type: ignore[attr-defined]
    tensor.requires_grad_(requires_grad)
    tensor.__dict__.update(attributes)
    return tensor


def reduce_ex(self: Any, protocol: int) -> Any:
    """Take the tensor apart for pickle: values, strides, requires_grad and attributes; neither `.grad` nor hooks."""
    from .autograd._hooks import warn_if_has_hooks  # autograd needs this module's Tensor methods first

    disabled = _C._set_overrides_disabled(True)
    try:
        warn_if_has_hooks(self)
        order = _memory_order(self)
        array = self.detach().numpy().transpose(order).copy()
        return rebuild_tensor, (type(self), array, order, self.requires_grad, dict(self.__dict__))
    finally:
        _C._set_overrides_disabled(disabled)


def deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    """Copy a leaf: values, requires_grad, `.grad` and attributes."""
    if id(self) in memo:
        return memo[id(self)]
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  "
            "If you were attempting to deepcopy a module, this may be because of a tensor that an operation computed: "
            "use x.detach().clone(), or x.clone() to stay in the graph."
        )
    disabled = _C._set_overrides_disabled(True)
    try:
        result = self.detach().clone()
        if type(self) is not Tensor:
            result = Tensor._make_subclass(type(self), result)  # type: ignore[attr-defined]
        result.requires_grad_(self.requires_grad)
        memo[id(self)] = result
        if self.grad is not None:
            result.grad = copy.deepcopy(self.grad, memo)
        result.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return result
    finally:
        _C._set_overrides_disabled(disabled)
