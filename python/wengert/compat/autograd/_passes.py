"""`make_vjp` and `make_jvp`: a function of one argument, an array or a nest of lists, tuples and dicts of them.

`wengert.func` differentiates the function of the tensors inside, so these nest as its transforms do. The convention of
complex derivatives is autograd's: a cotangent pairs with a tangent without conjugation, so those of the tensors are the
conjugates of what goes in and comes out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert
from wengert.utils import _pytree as tree

from ._boxes import ArrayBox, boxed, isbox, tensor


class _Depth(threading.local):
    """How many functions are being differentiated around what runs; outside of them all, there are no boxes."""

    value = 0


_depth = _Depth()


class _OfTensors:
    """A function of nests of arrays as one of tensors; it remembers how its result is nested."""

    def __init__(self, fun: Callable[[Any], Any], x: Any, box: Callable[[Any], Any]) -> None:
        self._fun, self._box = fun, box
        self.leaves, self.structure = tree.tree_flatten(x)
        self.starts = tuple(tensor(leaf) for leaf in self.leaves)
        self._of_result: Any = None

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        _depth.value += 1
        try:
            result = self._fun(tree.tree_unflatten([self._box(value) for value in values], self.structure))
        finally:
            _depth.value -= 1
        ends, self._of_result = tree.tree_flatten(result)
        return tuple(tensor(end) for end in ends)

    def result(self, values: Any) -> Any:
        return tree.tree_unflatten([_released(value) for value in values], self._of_result)


def _released(value: Any) -> Any:
    return boxed(value if _depth.value else value.detach())


def make_vjp(fun: Callable[[Any], Any], x: Any) -> tuple[Callable[[Any], Any], Any]:
    """Return the function from cotangents of the result to those of `x`, and the result."""
    function = _OfTensors(fun, x, ArrayBox)
    results, pull = wengert.func.vjp(function, *function.starts)

    def vjp(g: Any) -> Any:
        given = zip(tree.tree_flatten(g)[0], results, strict=True)
        grads = pull(tuple(wengert.conj(_of_type(tensor(part), end)).resolve_conj() for part, end in given))
        found = [_out(grad, leaf) for grad, leaf in zip(grads, function.leaves, strict=True)]
        return tree.tree_unflatten(found, function.structure)

    return vjp, function.result(results)


def _of_type(cotangent: Any, end: Any) -> Any:
    """Return a cotangent in the type and the shape of a result."""
    value = cotangent.real if cotangent.is_complex() and not end.is_complex() else cotangent
    return value.to(end.dtype).expand(end.shape)


def _out(grad: Any, leaf: Any) -> Any:
    result = _released(wengert.conj(grad).resolve_conj())
    return np.asarray(result) if isinstance(leaf, np.ndarray) and not isbox(result) else result


def make_jvp(fun: Callable[[Any], Any], x: Any) -> Callable[[Any], tuple[Any, Any]]:
    """Return the function from a tangent of `x` to the result and its tangent."""
    function = _OfTensors(fun, x, boxed)

    def jvp(v: Any) -> tuple[Any, Any]:
        given = zip(tree.tree_flatten(v)[0], function.starts, strict=True)
        tangents = tuple(_of_type(tensor(part), start) for part, start in given)
        results, slopes = wengert.func.jvp(function, function.starts, tangents)
        return function.result(results), function.result(slopes)

    return jvp
