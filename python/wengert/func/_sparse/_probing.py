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
from typing import Any

import numpy as np
import scipy.sparse

import wengert

from ...autograd import enable_grad, grad
from .._nodes import applied

_DIGIT = 1024  # exact in every floating-point dtype but the half ones
_SMALL = 512  # the most products for a map without structure

Map = Callable[[Any], Any]  # flat array -> flat array


def probed(node: Any, which: int, inputs: Sequence[int]) -> Iterator[Any]:
    """Yield the pattern for each of these inputs: keys (see `Join`), a sparse matrix, or None if none was found."""
    return (_pattern(*_maps(node, which, index)) for index in inputs)


def _maps(node: Any, which: int, index: int) -> tuple[Map, Map, int, int]:
    """Return the map from cotangents of the result to gradients of one input, its transpose, and their sizes."""
    metadata = node._input_metadata
    result = metadata[which]
    edge, number = node.next_functions[index]
    given = edge._input_metadata[number]

    def call(cotangent: Any, create_graph: bool) -> Any:
        return applied(node, which, cotangent, [index], create_graph)[0]

    def backward(values: Any) -> Any:
        gradient = call(wengert.tensor(values.reshape(tuple(result.shape)), dtype=result.dtype), False)
        size = math.prod(given.shape)
        return np.zeros(size) if gradient is None else gradient.detach().numpy().reshape(-1)

    def forward(values: Any) -> Any:
        with enable_grad():
            cotangent = wengert.zeros(tuple(result.shape), dtype=result.dtype, requires_grad=True)
            gradient = call(cotangent, True)
            size = math.prod(result.shape)
            if gradient is None or not gradient.requires_grad:
                return np.zeros(size)
            seed = wengert.tensor(values.reshape(tuple(given.shape)), dtype=gradient.dtype)
            (product,) = grad(gradient, cotangent, seed, allow_unused=True)
        return np.zeros(size) if product is None else product.detach().numpy().reshape(-1)

    return backward, forward, math.prod(result.shape), math.prod(given.shape)


def _pattern(backward: Map, forward: Map, results: int, inputs: int) -> Any:
    sources = functional(backward, results)
    if sources is not None:
        return np.arange(results), sources, results
    sources = functional(forward, inputs)
    if sources is not None:
        return sources, np.arange(inputs), inputs
    if min(results, inputs) > _SMALL:
        return None
    if results <= inputs:
        return scipy.sparse.csr_array(np.stack([backward(unit) != 0 for unit in np.eye(results)]))
    return scipy.sparse.csr_array(np.stack([forward(unit) != 0 for unit in np.eye(inputs)], 1))


def functional(apply: Map, size: int) -> Any:
    """Return which element each output of the map is a multiple of, -1 if it is always 0; None if some is of more."""
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
