"""Large arguments like small ones: the same range, the same structure of matrices, more elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Shape = tuple[int, ...]
Grow = Callable[[Shape], Shape]

ROW = 64  # elements of the rows of the layout "rows"
# Numbers that say how long a dimension is, or how many there are of something.
LENGTHS = frozenset({"size", "sizes", "input_sizes", "normalized_shape", "split_sizes", "length"})
COUNTS = frozenset({"num_classes", "steps"})
ASCENDING = frozenset({"sorted_sequence", "boundaries", "bins"})
FACTORS = frozenset({"LU", "LU_data"})  # of which the lower triangle has ones on its diagonal, not what stands there


def array_like(rng: np.random.Generator, name: str, array: np.ndarray, shape: Shape) -> np.ndarray:
    """Random numbers with what matters of `array`: its type, range, and structure as a matrix.

    Parameters
    ----------
    rng : numpy.random.Generator
    name : str
        Of the argument: some must ascend.
    array : numpy.ndarray
    shape : tuple of int

    Returns
    -------
    numpy.ndarray
    """
    if array.size == 0 or array.dtype.kind in "biu" or np.all(array == np.round(array.real)):
        values = array.ravel() if array.size else np.zeros(1, array.dtype)
        made = rng.choice(values, shape)
    else:
        made = between(rng, array, shape)
        if len(shape) > 1 and shape[-1] == shape[-2] > 1 and array.ndim > 1 and array.shape[-1] == array.shape[-2]:
            made = structured(made, array)
            if name in FACTORS:  # else solutions overflow
                made = np.triu(made) + np.tril(made, -1) / shape[-1]
    return np.sort(made) if name in ASCENDING else made


def between(rng: np.random.Generator, array: np.ndarray, shape: Shape) -> np.ndarray:
    """Uniform between the extremes of `array`, part by part if it is complex."""
    if array.dtype.kind == "c":
        return between(rng, array.real, shape) + 1j * between(rng, array.imag, shape)
    low, high = float(array.min()), float(array.max())
    return np.asarray(rng.uniform(low, high if high > low else low + 0.1 * abs(low), shape))


def structured(made: np.ndarray, small: np.ndarray) -> np.ndarray:
    """Triangular, symmetric, positive definite or with a large diagonal, where the small matrix is."""
    first, n = small.reshape(-1, *small.shape[-2:])[0], made.shape[-1]
    adjoint = np.conj(np.swapaxes(made, -2, -1))
    if np.allclose(first, np.tril(first)) or np.allclose(first, np.triu(first)):
        made = (np.tril if first[-1, 0] else np.triu)(made) / n
        return np.asarray(made + np.eye(n))
    made = (made + adjoint) / 2 if np.allclose(first, np.conj(first.T)) else made
    diagonal, others = np.abs(np.diagonal(first)), np.abs(first - np.diag(np.diagonal(first)))
    return made + n * np.eye(n) if diagonal.min() > others.max() else made


def largest(arguments: Mapping[str, Any]) -> Shape:
    """The shape of the largest array."""
    return max((a.shape for a in arrays_in(arguments)), key=math.prod, default=())


def arrays_in(arguments: Mapping[str, Any]) -> list[np.ndarray]:
    """All arrays, those in lists too."""
    values = [v for value in arguments.values() for v in (value if isinstance(value, list) else [value])]
    return [v for v in values if isinstance(v, np.ndarray)]


def all_dimensions(shape: Shape, elements: int) -> Grow | None:
    """Multiply every dimension by one number; those of 1 stay, so that broadcasts remain what they are."""
    axes = sum(d > 1 for d in shape)
    if not axes:
        return None
    factor = (elements / math.prod(shape)) ** (1 / axes)
    return lambda s: tuple(d if d < 2 else max(2, round(d * factor)) for d in s)


def many_rows(shape: Shape, elements: int) -> Grow | None:
    """Make the last dimension 64 long, and the others share the rest."""
    leading = [d for d in shape[:-1] if d > 1]
    if not leading or shape[-1] < 2:
        return None
    factor = (elements / ROW / math.prod(leading)) ** (1 / len(leading))
    rank, last = len(shape), shape[-1]

    def grow(s: Shape) -> Shape:
        if len(s) == rank:
            return (*(d if d < 2 else max(2, round(d * factor)) for d in s[:-1]), ROW if s[-1] == last else s[-1])
        return (ROW,) if s == (last,) else s

    return grow


def batch(shape: Shape, elements: int) -> Grow | None:
    """Put one more dimension in front of each."""
    if len(shape) < 2:
        return None
    count = max(1, round(elements / math.prod(shape)))
    return lambda s: (count, *s) if len(s) > 1 else s


LAYOUTS = {"grown": all_dimensions, "rows": many_rows, "batch": batch}


def grown(arguments: Mapping[str, Any], layout: str, elements: int, rng: np.random.Generator) -> dict[str, Any] | None:
    """The arguments with arrays of about `elements` elements; None where the layout does not apply.

    Parameters
    ----------
    arguments : mapping
        Of a sample.
    layout : str
        One of `LAYOUTS`.
    elements : int
        Of the largest array.
    rng : numpy.random.Generator
    """
    shape = largest(arguments)
    if not arrays_in(arguments):
        return counted(arguments, elements) if layout == "grown" else None
    grow = LAYOUTS[layout](shape or (2,), elements)
    if grow is None:
        return None

    def one(name: str, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            if not shape and not value.shape:  # a sample of numbers alone
                return array_like(rng, name, value, grow((2,)))
            return array_like(rng, name, value, grow(value.shape)) if value.shape else value
        if isinstance(value, list) and value and all(v is None or isinstance(v, np.ndarray) for v in value):
            return [None if v is None else one(name, v) for v in value]
        if name in LENGTHS | COUNTS and layout != "batch":
            return list(grow(tuple(value))) if isinstance(value, list) else grow((value,))[0] if value else value
        return value

    return {name: one(name, value) for name, value in arguments.items()}


def counted(arguments: Mapping[str, Any], elements: int) -> dict[str, Any] | None:
    """Of an operation that takes no tensors: a size, a count or an end."""
    for name in ("size", "end", "steps", "n", "window_length"):
        value = arguments.get(name)
        if isinstance(value, list):
            return {**arguments, name: [elements]}
        if isinstance(value, (int, float)) and value:
            return {**arguments, name: round(math.sqrt(elements)) if name == "n" else elements}
    return None
