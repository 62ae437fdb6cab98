"""Tensors in einops: importing this module makes them known to `einops.rearrange`, `reduce`, `repeat`, `einsum`.

einops finds the classes of its backends when it meets a type that it does not know, so it is enough that this one is
there. `einops.array_api` needs nothing: its functions use the array API standard, see `wengert.array_api`.

    >>> import wengert as wg
    >>> import wengert.utils.einops
    >>> import einops
    >>> einops.rearrange(wg.arange(6), "(rows columns) -> columns rows", rows=2)
    tensor([[0, 3],
            [1, 4],
            [2, 5]])
"""

from __future__ import annotations

from typing import Any

import numpy as np
from einops._backends import AbstractBackend

import wengert

_REDUCTIONS = {"min": "amin", "max": "amax"}


class WengertBackend(AbstractBackend):
    """What einops asks of tensors."""

    framework_name = "wengert"

    def is_appropriate_type(self, tensor: Any) -> bool:
        return isinstance(tensor, wengert.Tensor)

    def from_numpy(self, x: Any) -> Any:
        return wengert.as_tensor(x)

    def to_numpy(self, x: Any) -> Any:
        return np.asarray(x.detach())

    def arange(self, start: int, stop: int) -> Any:
        return wengert.arange(start, stop)

    def reduce(self, x: Any, operation: str, axes: Any) -> Any:
        return getattr(wengert, _REDUCTIONS.get(operation, operation))(x, tuple(axes))

    def transpose(self, x: Any, axes: Any) -> Any:
        return wengert.permute(x, tuple(axes))

    def stack_on_zeroth_dimension(self, tensors: Any) -> Any:
        return wengert.stack(tensors)

    def add_axis(self, x: Any, new_position: int) -> Any:
        return wengert.unsqueeze(x, new_position)

    def add_axes(self, x: Any, n_axes: int, pos2len: dict[int, int]) -> Any:
        sizes = [-1] * n_axes
        for position, length in pos2len.items():
            x = wengert.unsqueeze(x, position)
            sizes[position] = length
        return x.expand(sizes)

    def tile(self, x: Any, repeats: Any) -> Any:
        return wengert.tile(x, tuple(repeats))

    def concat(self, tensors: Any, axis: int) -> Any:
        return wengert.cat(tensors, axis)

    def is_float_type(self, x: Any) -> bool:
        return bool(x.is_floating_point())

    def einsum(self, pattern: str, *x: Any) -> Any:
        return wengert.einsum(pattern, *x)
