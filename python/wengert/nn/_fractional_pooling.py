"""Fractional max pooling (Graham, 2015): maxima over windows that stand at random, nearly equal distances.

A composition: positions of all windows are computed, their elements gathered, and the largest taken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert
from wengert._C import Tensor

__all__ = [
    "fractional_max_pool2d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
]  # fmt: skip


def _sizes(value: Any, n: int) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * n


def _starts(sample: Tensor, length: int, count: int, window: int) -> Tensor:
    """Return where windows begin: [N, C, count] for samples [N, C] between 0 and 1."""
    last = sample.new_full((*sample.shape, 1), length - window, dtype=wengert.int64)
    if count == 1:
        return last
    step = (length - window) / (count - 1)
    first = sample.unsqueeze(-1)
    starts = ((first + wengert.arange(count - 1, device=sample.device)) * step).long() - (first * step).long()
    return wengert.cat([starts, last], -1)


def _pooled(input: Tensor, kernel: tuple[int, ...], out: tuple[int, ...], samples: Tensor) -> tuple[Tensor, Tensor]:
    """Return the maxima of [N, C, ...], and where in its plane each stands."""
    n = len(kernel)
    space = input.shape[2:]
    for length, window, count in zip(space, kernel, out, strict=True):
        if count < 1 or count + window - 1 > length:
            raise RuntimeError(
                f"fractional_max_pool{n}d: {count} windows of {window} elements do not fit into {length} elements"
            )
    # The position of each element of each window, [N, C, *out, *kernel], dimension by dimension.
    place: Any = 0
    for d, (length, window, count) in enumerate(zip(space, kernel, out, strict=True)):
        sample = samples[..., n - 1 - d if n == 2 else d]  # PyTorch draws the width of images first
        within = wengert.arange(window, device=input.device)
        along = _starts(sample, length, count, window).unsqueeze(-1) + within
        shape = [*along.shape[:2], *(1,) * (2 * n)]
        shape[2 + d], shape[2 + n + d] = count, window
        place = place * length + along.reshape(shape)
    place = place.flatten(2 + n)
    windows = input.flatten(2).gather(2, place.flatten(2)).reshape(place.shape)
    values, chosen = windows.max(-1)
    return values, place.gather(-1, chosen.unsqueeze(-1)).squeeze(-1)


def _fractional(n: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    name = f"fractional_max_pool{n}d"

    def with_indices(
        input: Tensor,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        batched = input.ndim == n + 2
        given = input if batched else input.unsqueeze(0)
        if output_size is None:
            ratios = _sizes(output_ratio, n)
            output_size = [int(length * r) for length, r in zip(given.shape[2:], ratios, strict=True)]
        samples = _random_samples
        if samples is None:
            samples = wengert.rand(*given.shape[:2], n, dtype=input.dtype, device=input.device)
        values, places = _pooled(given, _sizes(kernel_size, n), _sizes(output_size, n), samples)
        return (values, places) if batched else (values.squeeze(0), places.squeeze(0))

    def pool(
        input: Tensor,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        result = with_indices(input, kernel_size, output_size, output_ratio, return_indices, _random_samples)
        return result if return_indices else result[0]

    text = f"""Maxima over windows at random, nearly equal distances in the last dimensions ({n}).

    Parameters
    ----------
    input : Tensor
        [N, C, ...] or [C, ...]
    kernel_size : int or sequence of int
        The windows' size.
    output_size : int or sequence of int, optional
        How many windows there are.
    output_ratio : float or sequence of float, optional
        How many there are as a share of the input's size; one of both is given.
    return_indices : bool, default False
        Whether to return as well where in its plane each maximum stands.

    Returns
    -------
    """
    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = text + "Tensor or pair of Tensor\n    "
    with_indices.__name__ = with_indices.__qualname__ = f"{name}_with_indices"
    with_indices.__doc__ = text + "pair of Tensor\n    "
    return pool, with_indices


fractional_max_pool2d, fractional_max_pool2d_with_indices = _fractional(2)
fractional_max_pool3d, fractional_max_pool3d_with_indices = _fractional(3)
