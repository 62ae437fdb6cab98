"""Dimensions that become one, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import wengert
from wengert._C import Tensor

from .._layers.function_layer import OneInput, layer
from .._module import Module

__all__ = ["Flatten", "Unflatten"]


@layer
class Flatten(OneInput):
    """Several dimensions as one; by default all but the first.

    Parameters
    ----------
    start_dim : int, default 1
    end_dim : int, default -1

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.Flatten()(wg.ones(32, 1, 5, 5)).shape
    wengert.Size([32, 25])
    """

    _function = wengert.flatten
    _shown = "start_dim={start_dim}, end_dim={end_dim}"
    start_dim: int = 1
    end_dim: int = -1


class Unflatten(Module):
    """One dimension as several.

    Parameters
    ----------
    dim : int
    unflattened_size : sequence of int
        Their lengths; one of them may be -1.

    Raises
    ------
    TypeError
        If `unflattened_size` has other things than integers.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.Unflatten(1, (2, 5))(wg.ones(3, 10)).shape
    wengert.Size([3, 2, 5])
    """

    def __init__(self, dim: int, unflattened_size: Sequence[Any]) -> None:
        super().__init__()
        if not isinstance(unflattened_size, Sequence):
            raise TypeError(
                f"unflattened_size must be a tuple of ints, but found type {type(unflattened_size).__name__}"
            )
        for position, length in enumerate(unflattened_size):
            if not isinstance(length, int):
                raise TypeError(
                    f"unflattened_size must be tuple of ints, but found element of type {type(length).__name__} at pos "
                    f"{position}"
                )
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """Give the dimension its new lengths."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """Return the constants as they are printed."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
