"""Arithmetic operations of a call, from the shapes of its arguments; a product with a sum counts two."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

Shapes = Sequence[Any]


def count_flops(name: str, shapes: Shapes, concrete: Sequence[Any]) -> int:
    """Return the number of operations, 0 where it is not counted."""
    formula = FORMULAS.get(name)
    try:
        return formula(shapes, concrete) if formula else 0
    except (IndexError, TypeError, ZeroDivisionError):  # arguments that the formula does not cover
        return 0


def _product(a: int, b: int) -> Callable[[Shapes, Sequence[Any]], int]:
    """For matrices at positions a and b: [..., m, k] times [..., k, n]."""
    return lambda shapes, _: 2 * math.prod(shapes[a]) * shapes[b][-1]


def _elementwise(shapes: Shapes, _: Sequence[Any]) -> int:
    return max(math.prod(shapes[0]), math.prod(shapes[1]))


def _convolution(shapes: Shapes, concrete: Sequence[Any]) -> int:
    """(input, weight, bias, stride, padding, dilation, ...); each output sums over the weight of its channel."""
    image, weight = shapes[0], shapes[1]
    stride, padding, dilation = (concrete[i] for i in (3, 4, 5))
    outputs = [
        (size + 2 * p - d * (k - 1) - 1) // s + 1
        for size, k, s, p, d in zip(image[2:], weight[2:], stride, padding, dilation, strict=True)
    ]
    return int(2 * image[0] * math.prod(outputs) * math.prod(weight))


FORMULAS: dict[str, Callable[[Shapes, Sequence[Any]], int]] = {
    "aten::mm": _product(0, 1),
    "aten::bmm": _product(0, 1),
    "aten::matmul_batched": _product(0, 1),
    "aten::addmm": _product(1, 2),
    "aten::baddbmm": _product(1, 2),
    "aten::conv1d": _convolution,
    "aten::conv2d": _convolution,
    "aten::conv3d": _convolution,
    "aten::mul": _elementwise,
    "aten::mul_": _elementwise,
    "aten::add": _elementwise,
    "aten::add_": _elementwise,
}
