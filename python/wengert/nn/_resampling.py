"""Pooling by norms, the inverse of max pooling, and older names of `interpolate`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert import _C
from wengert._C import Tensor

_rows = _C._nn_functional


def _tuple(value: Any, n: int) -> tuple[int, ...]:
    return (value,) * n if isinstance(value, int) else tuple(value)


def _lp_pool(n: int) -> Callable[..., Any]:
    average = getattr(_rows, f"avg_pool{n}d")

    def lp_pool(input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
        size = 1
        for k in _tuple(kernel_size, n):
            size *= k
        mean = average(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
        return (mean.sign() * mean.abs() * size).pow(1.0 / norm_type)

    lp_pool.__name__ = lp_pool.__qualname__ = f"lp_pool{n}d"
    lp_pool.__doc__ = f"""Roots of sums of powers over windows in the last dimensions ({n}).

    Parameters
    ----------
    input : Tensor
        [N, C, ...] or [C, ...]
    norm_type : float
        The power.
    kernel_size : int or sequence of int
        The windows' size.
    stride : int or sequence of int, optional
        Their distance; `kernel_size` by default.
    ceil_mode : bool, default False
        Whether a last, incomplete window counts.

    Returns
    -------
    Tensor
    """
    return lp_pool


def _max_unpool(n: int) -> Callable[..., Any]:
    def max_unpool(
        input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
    ) -> Any:
        kernel, pad = _tuple(kernel_size, n), _tuple(padding, n)
        steps = kernel if stride is None else _tuple(stride, n)
        lead, spatial = tuple(input.shape[:-n]), tuple(input.shape[-n:])
        sizes = tuple((s - 1) * d - 2 * p + k for s, d, p, k in zip(spatial, steps, pad, kernel, strict=True))
        if output_size is not None:
            wanted = tuple(output_size)[-n:]
            for size, given, step in zip(sizes, wanted, steps, strict=True):
                if not size - step < given < size + step:
                    raise ValueError(f"invalid output_size {output_size}: it must be within {steps} of {sizes}")
            sizes = wanted
        count = 1
        for size in sizes:
            count *= size
        every = _C._unbatched(indices)  # inside vmap: those of all samples
        if every.numel() and not 0 <= int(every.min()) <= int(every.max()) < count:
            raise RuntimeError(f"Found an invalid max index: {int(every.max())} for output of size {sizes}")
        plane = _C.zeros(*lead, count, dtype=input.dtype)
        return plane.scatter(-1, indices.flatten(-n), input.flatten(-n)).reshape(*lead, *sizes)

    max_unpool.__name__ = max_unpool.__qualname__ = f"max_unpool{n}d"
    max_unpool.__doc__ = f"""Puts maxima back to where `max_pool{n}d` found them, with zeros elsewhere.

    Parameters
    ----------
    input : Tensor
        The maxima.
    indices : Tensor
        Where they stood, from ``max_pool{n}d(..., return_indices=True)``.
    kernel_size, stride, padding
        As those of the pooling.
    output_size : sequence of int, optional
        The size before it, which several sizes of windows leave open.

    Returns
    -------
    Tensor
    """
    return max_unpool


lp_pool1d, lp_pool2d, lp_pool3d = map(_lp_pool, (1, 2, 3))
max_unpool1d, max_unpool2d, max_unpool3d = map(_max_unpool, (1, 2, 3))


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """See `interpolate`."""
    out: Tensor = _rows.interpolate(input, size, scale_factor, mode, align_corners)
    return out


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """See `interpolate`, with the nearest element."""
    out: Tensor = _rows.interpolate(input, size, scale_factor, "nearest")
    return out


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """See `interpolate`, bilinear with aligned corners."""
    out: Tensor = _rows.interpolate(input, size, scale_factor, "bilinear", True)
    return out
