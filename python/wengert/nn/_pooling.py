"""Max pooling: rows of the table that return places too, and what chooses among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert import _C

_rows = _C._nn_functional


def _max_pool(n: int) -> Callable[..., Any]:
    plain = getattr(_rows, f"max_pool{n}d")
    with_places = getattr(_rows, f"max_pool{n}d_with_indices")

    def max_pool(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        function = with_places if return_indices else plain
        return function(input, kernel_size, stride, padding, dilation, ceil_mode)

    max_pool.__name__ = max_pool.__qualname__ = f"max_pool{n}d"
    max_pool.__doc__ = f"""Maxima over windows in the last dimensions ({n}).

    Parameters
    ----------
    input : Tensor
        [N, C, ...] or [C, ...]
    kernel_size : int or sequence of int
        The windows' size.
    stride : int or sequence of int, optional
        Their distance; `kernel_size` by default.
    padding : int or sequence of int, default 0
        How much -inf to add on both sides.
    dilation : int or sequence of int, default 1
        The distance of elements in a window.
    ceil_mode : bool, default False
        Whether a last, incomplete window counts.
    return_indices : bool, default False
        Whether to return as well where in its plane each maximum stands.

    Returns
    -------
    Tensor or pair of Tensor
    """
    return max_pool


max_pool1d, max_pool2d, max_pool3d = map(_max_pool, (1, 2, 3))
