"""Copies of tensors that outlive the process or the graph: pickle and deepcopy."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from wengert import _C
from wengert._C import Tensor

from ._overrides import DisableTorchFunctionSubclass


def _span(tensor: Any) -> np.ndarray[Any, Any]:
    """Return a copy of the memory from the first to the last element, gaps included; bfloat16 as int16."""
    if tensor.dtype == _C.bfloat16:  # which NumPy lacks
        tensor = tensor.detach().view(_C.int16)
    if tensor.numel() == 0 or tensor.is_meta:
        nothing: np.ndarray[Any, Any] = _C.empty(0, dtype=tensor.dtype, device="cpu").numpy()
        return nothing
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    flat = tensor.detach().as_strided((last + 1,), (1,), tensor.storage_offset())
    copied: np.ndarray[Any, Any] = flat.cpu().numpy().copy()
    return copied


def rebuild_tensor(
    cls: Any,
    memory: np.ndarray[Any, Any],
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    requires_grad: bool,
    attributes: dict[str, Any],
    device: Any = "cpu",
    dtype: Any = None,
) -> Any:
    """Make the tensor that `reduce_ex` took apart, on memory of its own."""
    values = _C.from_numpy(memory) if dtype is None else _C.from_numpy(memory).view(dtype)
    if _C.device(device).type == "meta":
        tensor = _C.empty_strided(shape, strides, dtype=values.dtype, device=device)
    else:
        tensor = values.clone().to(device).as_strided(shape, strides).detach()
    if cls is not Tensor:
        tensor = Tensor._make_subclass(cls, tensor)
    tensor.requires_grad_(requires_grad)
    tensor.__dict__.update(attributes)
    return tensor


def _geometry(tensor: Any) -> tuple[Any, ...]:
    return tuple(tensor.shape), tuple(tensor.stride()), tensor.storage_offset(), tensor.dtype, str(tensor.device)


def rebuild_wrapper(cls: Any, geometry: tuple[Any, ...], requires_grad: bool, attributes: dict[str, Any]) -> Any:
    """Make an object without memory, whose class keeps its elements in attributes."""
    size, strides, offset, dtype, device = geometry
    tensor = Tensor._make_wrapper_subclass(
        cls, size, strides, offset, dtype=dtype, device=device, requires_grad=requires_grad
    )
    tensor.__dict__.update(attributes)
    return tensor


def reduce_ex(self: Any, protocol: int) -> Any:
    """Take the tensor apart for pickle: values, strides, requires_grad and attributes; neither `.grad` nor hooks."""
    from .autograd._hooks import warn_if_has_hooks  # autograd needs this module's Tensor methods first

    with DisableTorchFunctionSubclass():
        warn_if_has_hooks(self)
        if _C._is_without_memory(self):
            return rebuild_wrapper, (type(self), _geometry(self), self.requires_grad, dict(self.__dict__))
        layout = tuple(self.shape), tuple(self.stride())
        where: tuple[Any, ...] = () if self.is_cpu else (str(self.device),)
        if self.dtype == _C.bfloat16:
            where = (str(self.device), self.dtype)
        return rebuild_tensor, (type(self), _span(self), *layout, self.requires_grad, dict(self.__dict__), *where)


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
    with DisableTorchFunctionSubclass():
        if _C._is_without_memory(self):
            result = rebuild_wrapper(type(self), _geometry(self), self.requires_grad, {})
        else:
            result = rebuild_tensor(
                type(self), _span(self), tuple(self.shape), tuple(self.stride()), self.requires_grad, {}, self.device,
                self.dtype,
            )  # fmt: skip
        memo[id(self)] = result
        if self.grad is not None:
            result.grad = copy.deepcopy(self.grad, memo)
        result.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return result
