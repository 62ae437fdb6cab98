"""Patterns of linear nodes, found by applying them.

A backward node is a linear map from cotangents to gradients, and so is its transpose, which differentiating the map
gives. Most linear operations are *functional* in one of the two directions: each element of the output of the map is a
multiple of at most one element of its input. Views, indexing, expansion and padding are so in one direction, sums,
means and scattering in the other. A map of this kind is read off a handful of products: ones give the factors, digits
of the position give the position, and random numbers prove the result. Small maps of any kind are read off column by
column; cumulative sums and other large maps stay unexplained.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

import wengert

from ...autograd import enable_grad, grad
from .._nodes import applied

_DIGIT = 1024  # exact in every floating-point dtype but the half ones
_SMALL = 512  # the most products for a map without structure


class _Map(NamedTuple):
    """A map of flat arrays, linear over the real numbers."""

    apply: Callable[[Any], Any]
    size: int
    directions: tuple[complex, ...]

    def reached(self, unit: Any) -> Any:
        """Return which outputs differ from 0 where the elements of `unit` do."""
        return np.logical_or.reduce([self.apply(direction * unit) != 0 for direction in self.directions])


def probed(node: Any, which: int, inputs: Sequence[int]) -> Iterator[Any]:
    """Yield the pattern for each of these inputs: keys (see `Join`), a sparse matrix, or None if none was found."""
    return (_pattern(*_maps(node, which, index)) for index in inputs)


def _maps(node: Any, which: int, index: int) -> tuple[_Map, _Map]:
    """Return the map from cotangents of the result to gradients of one input, and its transpose."""
    metadata = node._input_metadata
    result = metadata[which]
    edge, number = node.next_functions[index]
    given = edge._input_metadata[number]

    def call(cotangent: Any, create_graph: bool) -> Any:
        return applied(node, which, cotangent, [index], create_graph)[0]

    def backward(values: Any) -> Any:
        gradient = call(_probe(values, result), False)
        size = math.prod(given.shape)
        return np.zeros(size) if gradient is None else gradient.detach().numpy().reshape(-1)

    def forward(values: Any) -> Any:
        with enable_grad():
            cotangent = wengert.zeros(tuple(result.shape), dtype=result.dtype, requires_grad=True)
            gradient = call(cotangent, True)
            size = math.prod(result.shape)
            if gradient is None or not gradient.requires_grad:
                return np.zeros(size)
            (product,) = grad(gradient, cotangent, _probe(values, gradient), allow_unused=True)
        return np.zeros(size) if product is None else product.detach().numpy().reshape(-1)

    return (
        _Map(backward, math.prod(result.shape), _directions(result)),
        _Map(forward, math.prod(given.shape), _directions(given)),
    )


def _probe(values: Any, like: Any) -> Any:
    return wengert.tensor(values.reshape(tuple(like.shape)), dtype=like.dtype)


def _directions(metadata: Any) -> tuple[complex, ...]:
    """Return the directions in which one element may move: two of a complex one, and a map may see one of them only."""
    return (1, 1j) if metadata.dtype.is_complex else (1,)


def _pattern(backward: _Map, forward: _Map) -> Any:
    results, inputs = backward.size, forward.size
    sources = functional(backward)
    if sources is not None:
        return np.arange(results), sources, results
    sources = functional(forward)
    if sources is not None:
        return sources, np.arange(inputs), inputs
    if min(results, inputs) > _SMALL:
        return None
    if results <= inputs:
        return scipy.sparse.csr_array(np.stack([backward.reached(unit) for unit in np.eye(results)]))
    return scipy.sparse.csr_array(np.stack([forward.reached(unit) for unit in np.eye(inputs)], 1))


def functional(map: _Map) -> Any:
    """Return which element each output of the map is a multiple of, -1 if it is always 0; None if some is of more."""
    found: Any = None
    for direction in map.directions:
        sources = _functional(lambda values, d=direction: map.apply(d * values), map.size)
        if sources is None:
            return None
        if found is None:
            found = sources
        elif np.any((found != sources) & (found >= 0) & (sources >= 0)):
            return None
        else:
            found = np.maximum(found, sources)
    return found


def _functional(apply: Any, size: int) -> Any:
    if size == 0:
        return np.full(len(apply(np.zeros(0))), -1)
    factors = apply(np.ones(size))
    used = factors != 0
    safe = np.where(used, factors, 1)
    sources = np.zeros(len(factors), np.intp)
    positions, weight = np.arange(size), 1
    while weight < size:
        digits = apply((positions // weight % _DIGIT).astype(np.float64)) / safe
        sources += weight * np.rint(np.clip(digits.real, 0, _DIGIT - 1)).astype(np.intp)
        weight *= _DIGIT
    sources = np.minimum(sources, size - 1)
    noise = np.random.default_rng(0).uniform(1, 2, size) * np.where(np.arange(size) % 2, -1, 1)
    seen = apply(noise)
    tolerance = 1e-4 if seen.dtype.itemsize // (1 + np.iscomplexobj(seen)) < 8 else 1e-9
    expected = np.where(used, factors * noise[sources], 0)
    if not np.all(np.abs(seen - expected) <= tolerance * np.abs(np.where(used, factors, 0))):
        return None
    return np.where(used, sources, -1)
