"""`gradient`: derivatives of functions that are given by samples, by finite differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import wengert
from wengert._C import Tensor


def gradient(
    input: Tensor, *, spacing: Any = None, dim: int | Sequence[int] | None = None, edge_order: int = 1
) -> list[Tensor]:
    """The derivatives of a function along dimensions of its samples.

    Inside, differences of second order of accuracy, also where the distances of the points vary; at the edges one-sided
    ones.

    Parameters
    ----------
    input : Tensor
        The values.
    spacing : number, or sequence of numbers or Tensors
        The distance of points, one for all dimensions or one for each; or the points themselves, a vector for each.
    dim : int or sequence of int, optional
        Along which dimensions; along all by default.
    edge_order : {1, 2}
        The order of accuracy at the edges.

    Returns
    -------
    list of Tensor
        One derivative for each dimension, in the shape of `input`.

    Raises
    ------
    RuntimeError
        If a dimension has too few points, or `spacing` does not fit `dim`.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.gradient(wg.tensor([0.0, 1.0, 4.0, 9.0]))
    [tensor([1., 2., 4., 5.])]
    >>> wg.gradient(wg.tensor([0.0, 1.0, 9.0]), spacing=[wg.tensor([0.0, 1.0, 3.0])], edge_order=2)
    [tensor([0., 2., 6.])]
    """
    dims = _dims(input, dim)
    spacings = _spacings(1 if spacing is None else spacing, len(dims))
    if edge_order not in (1, 2):
        raise RuntimeError(f"wengert.gradient only supports edge_order=1 and edge_order=2, got {edge_order}.")
    if not (input.is_floating_point() or input.is_complex()):
        input = input.to(wengert.get_default_dtype())
    for along in dims:
        if input.shape[along] < edge_order + 1:
            raise RuntimeError(
                f"wengert.gradient expected each dimension size to be at least edge_order+1 = {edge_order + 1}, got "
                f"{tuple(input.shape)}"
            )
    return [_along(input, along, distance, edge_order) for along, distance in zip(dims, spacings, strict=True)]


def _dims(input: Tensor, dim: Any) -> list[int]:
    dims = list(range(input.ndim)) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    for d in dims:
        if not -input.ndim <= d < input.ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-input.ndim}, {input.ndim - 1}], but got {d})"
            )
    dims = [d % input.ndim for d in dims]
    if len(set(dims)) < len(dims):
        raise RuntimeError(f"wengert.gradient: dim {dim} appears multiple times in the list of dims")
    return dims


def _spacings(spacing: Any, count: int) -> list[Any]:
    if (isinstance(spacing, Tensor) and spacing.ndim) or not isinstance(spacing, (list, tuple)):
        spacing = [spacing] * (1 if isinstance(spacing, Tensor) and spacing.ndim else count)
    if len(spacing) != count:
        raise RuntimeError(
            f"wengert.gradient expected spacing to be unspecified, a scalar or a list of length {count} (one for each "
            f"dimension), but got {len(spacing)}"
        )
    return list(spacing)


def _along(values: Any, dim: int, spacing: Any, edge_order: int) -> Any:
    n = values.shape[dim]

    def part(t: Any, start: int, end: int) -> Any:
        return t.narrow(dim, start, end - start)

    if isinstance(spacing, Tensor) and spacing.ndim:
        if spacing.shape != (n,):
            raise RuntimeError(
                f"wengert.gradient expected the coordinates of dimension {dim} to have shape ({n},), got "
                f"{tuple(spacing.shape)}"
            )
        shape = [1] * values.ndim
        shape[dim] = n
        points = spacing.reshape(shape)
    else:
        points = None
    steps = spacing if points is None else part(points, 1, n) - part(points, 0, n - 1)
    slopes = (part(values, 1, n) - part(values, 0, n - 1)) / steps  # between neighbours
    if n == 2:
        return wengert.cat([slopes, slopes], dim)
    before, after = part(slopes, 0, n - 2), part(slopes, 1, n - 1)
    if points is None:
        inner = (before + after) / 2
        if edge_order == 1:
            first, last = part(slopes, 0, 1), part(slopes, n - 2, n - 1)
        else:
            first = (3 * part(slopes, 0, 1) - part(slopes, 1, 2)) / 2
            last = (3 * part(slopes, n - 2, n - 1) - part(slopes, n - 3, n - 2)) / 2
    else:
        h, k = part(steps, 0, n - 2), part(steps, 1, n - 1)
        inner = (k * before + h * after) / (h + k)
        first, last = part(slopes, 0, 1), part(slopes, n - 2, n - 1)
        if edge_order == 2:  # the slope of the parabola through three points at the outermost one
            first = first + part(h, 0, 1) * (first - part(slopes, 1, 2)) / (part(h, 0, 1) + part(k, 0, 1))
            at = n - 3
            last = last + part(k, at, at + 1) * (last - part(slopes, at, at + 1)) / (
                part(h, at, at + 1) + part(k, at, at + 1)
            )
    return wengert.cat([first, inner, last], dim)
