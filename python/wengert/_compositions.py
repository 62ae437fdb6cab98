"""Operations whose number of results, or whose arguments, no row of the table can describe. They are made of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from wengert import _C
from wengert._C import Tensor

_rows = _C._private


def _chosen(results: Sequence[Tensor], return_inverse: bool, return_counts: bool) -> Any:
    values, inverse, counts = results
    chosen = [values, *([inverse] if return_inverse else []), *([counts] if return_counts else [])]
    return values if len(chosen) == 1 else tuple(chosen)


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The distinct elements of a tensor, or its distinct slices along a dimension.

    Parameters
    ----------
    input : Tensor
    sorted : bool, default True
        Accepted for compatibility; results are always in ascending order.
    return_inverse : bool, default False
        Whether to return as well where in the result each element of `input` is.
    return_counts : bool, default False
        Whether to return as well how often each one occurs.
    dim : int, optional
        Along which to compare slices; elements are compared without it.

    Returns
    -------
    Tensor or tuple of Tensor

    Examples
    --------
    >>> import wengert as wg
    >>> wg.unique(wg.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    if dim is None:
        results = _rows.unique_of(input, sorted, return_inverse, return_counts)
    else:
        results = _rows.unique_along(input, dim, sorted, return_inverse, return_counts)
    return _chosen(results, return_inverse, return_counts)


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The elements of a tensor, or its slices along a dimension, without those that equal the one before.

    Parameters
    ----------
    input : Tensor
    return_inverse : bool, default False
        Whether to return as well where in the result each element of `input` is.
    return_counts : bool, default False
        Whether to return as well how long each run is.
    dim : int, optional
        Along which to compare slices; the elements of the flattened tensor are compared without it.

    Returns
    -------
    Tensor or tuple of Tensor

    Examples
    --------
    >>> import wengert as wg
    >>> wg.unique_consecutive(wg.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    results = _rows.unique_consecutive_of(input, return_inverse, return_counts, dim)
    return _chosen(results, return_inverse, return_counts)


def tensordot(a: Tensor, b: Tensor, dims: int | Sequence[Any] | Tensor = 2, *, axes: Any = None) -> Tensor:
    """Sums of products over dimensions of two tensors.

    Parameters
    ----------
    a, b : Tensor
    dims : int or pair of sequences of int
        How many of the last dimensions of `a` and the first ones of `b`, or which ones of each.
    axes : int or pair of sequences of int, optional
        NumPy's name of `dims`.

    Returns
    -------
    Tensor
        The remaining dimensions of `a`, then those of `b`.

    Raises
    ------
    RuntimeError
        If the two lists differ in length, or the sizes of paired dimensions.

    Examples
    --------
    >>> import wengert as wg
    >>> a, b = wg.ones(2, 3), wg.ones(3, 2)
    >>> wg.tensordot(a, b, dims=([1, 0], [0, 1]))
    tensor(6.)
    """
    given = dims if axes is None else axes
    pair: Any = given.tolist() if isinstance(given, Tensor) else given
    if isinstance(pair, int):
        return _C.tensordot(a, b, pair)
    of_a, of_b = ([d] if isinstance(d, int) else list(d) for d in pair)
    result: Tensor = _rows.tensordot_along(a, b, of_a, of_b)
    return result


class HistogramDD(NamedTuple):
    """What `histogramdd` returns.

    Attributes
    ----------
    hist : Tensor
        Counts, or sums of weights.
    bin_edges : tuple of Tensor
        The edges along each coordinate.
    """

    hist: Tensor
    bin_edges: tuple[Tensor, ...]


def _edges(points: Tensor, count: int, bounds: Sequence[float] | None) -> Tensor:
    """Return the edges of equal intervals over `bounds`, or over the data."""
    if bounds is None:
        bounds = [float(points.min()), float(points.max())] if points.numel() else [0.0, 1.0]
    low, high = bounds
    if low == high:
        low, high = low - 0.5, high + 0.5
    out: Tensor = _C.linspace(low, high, count + 1, dtype=points.dtype)
    return out


def histogramdd(
    input: Tensor,
    bins: int | Sequence[int] | Sequence[Tensor],
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> HistogramDD:
    """How many points lie in each box of a grid.

    Parameters
    ----------
    input : Tensor
        Points, whose coordinates are the last dimension.
    bins : int, sequence of int or sequence of Tensor
        The number of intervals along all coordinates or each, or their edges.
    range : sequence of float, optional
        The least and the greatest value of each coordinate in turn; those of the data by default.
    weight : Tensor, optional
        What each point counts.
    density : bool, default False
        Whether to divide by the sum and the volumes, so that the histogram integrates to 1.

    Returns
    -------
    HistogramDD
        Counts, and the edges along each coordinate. The last interval of each is closed.

    Raises
    ------
    RuntimeError
        If `bins` or `range` do not fit the number of coordinates.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.histogramdd(wg.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 2.0]]), bins=[2, 2]).hist
    tensor([[0., 1.],
            [1., 1.]])
    """
    count = input.shape[-1]
    given: Any = [bins] * count if isinstance(bins, int) else list(bins)
    if len(given) != count or (range is not None and len(range) != 2 * count):
        raise RuntimeError(
            f"wengert.histogramdd(): expected bins for each of the {count} coordinates and two numbers of range, got "
            f"{len(given)} bins" + ("" if range is None else f" and {len(range)} numbers")
        )
    edges = [
        item
        if isinstance(item, Tensor)
        else _edges(input[..., i], item, None if range is None else range[2 * i : 2 * i + 2])
        for i, item in enumerate(given)
    ]
    return HistogramDD(_rows.histogramdd_of(input, edges, weight, density), tuple(edges))


def broadcast_shapes(*shapes: int | Sequence[int]) -> Any:
    """The shape that tensors of several shapes have in common.

    Parameters
    ----------
    *shapes : int or sequence of int
        An int is the shape of a vector.

    Returns
    -------
    Size

    Raises
    ------
    RuntimeError
        If they do not broadcast.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.broadcast_shapes((2,), (3, 1))
    wengert.Size([3, 2])
    """
    # One number, seen in each shape: PyTorch's rules and errors are those of `expand`.
    seen = [_C.zeros(()).expand([shape] if isinstance(shape, int) else list(shape)) for shape in shapes]
    return _C.broadcast_tensors(seen)[0].shape if seen else _C.zeros(()).shape


def polygamma_(self: Tensor, n: int) -> Tensor:
    """Replace each element by the derivative of order `n` of the digamma function there, in place.

    Parameters
    ----------
    n : int

    Returns
    -------
    Tensor
        `self`
    """
    return self.copy_(_C.polygamma(n, self.clone()))


def resize_as_(self: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """Change the shape to that of another tensor, in place; see `resize_`.

    Parameters
    ----------
    the_template : Tensor

    Returns
    -------
    Tensor
        `self`
    """
    out: Tensor = self.resize_(the_template.shape)
    return out


METHODS = (polygamma_, resize_as_, unique, unique_consecutive)
