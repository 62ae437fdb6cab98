"""Pooling: rows of the table that return places too, and what chooses among them; sizes that are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert import _C

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d",
    "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d",
    "max_pool1d", "max_pool2d", "max_pool3d",
]  # fmt: skip
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


def _kept(input: Any, output_size: Any, n: int) -> Any:
    """Return the sizes, with those of `input` for None."""
    if not isinstance(output_size, (tuple, list)):
        output_size = (output_size,) * n
    if None not in output_size:
        return output_size
    return [given if wanted is None else wanted for wanted, given in zip(output_size, input.shape[-n:], strict=True)]


def _adaptive(kind: str, n: int) -> Callable[..., Any]:
    plain = getattr(_rows, f"adaptive_{kind}_pool{n}d")
    if kind == "max":
        with_places = getattr(_rows, f"adaptive_max_pool{n}d_with_indices")

        def pool(input: Any, output_size: Any, return_indices: bool = False) -> Any:
            return (with_places if return_indices else plain)(input, _kept(input, output_size, n))
    else:

        def pool(input: Any, output_size: Any) -> Any:  # type: ignore[misc]
            return plain(input, _kept(input, output_size, n))

    parameter = """
    return_indices : bool, default False
        Whether to return as well where in its plane each maximum stands."""
    pool.__name__ = pool.__qualname__ = f"adaptive_{kind}_pool{n}d"
    what = "Maxima" if kind == "max" else "Means"
    pool.__doc__ = f"""{what} over windows that divide the last dimensions ({n}) into parts.

    Parameters
    ----------
    input : Tensor
        [N, C, ...] or [C, ...]
    output_size : int or sequence of int or None
        The number of parts; None keeps a size.{parameter if kind == "max" else ""}

    Returns
    -------
    Tensor{" or pair of Tensor" if kind == "max" else ""}
    """
    return pool


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = (_adaptive("avg", n) for n in (1, 2, 3))
adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = (_adaptive("max", n) for n in (1, 2, 3))
