"""Products with the partial Jacobians of F(x, p), where x itself may depend on p."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert

from ...autograd import enable_grad
from .._products import pulled

Tensors = list[Any]
Residual = Callable[[Tensors, Tensors], Tensors]


def _cut(tensors: Tensors, connected: bool) -> Tensors:
    """Return aliases to differentiate with respect to: what they were computed from does not count, for now.

    Derivatives of the products still reach the originals if they are `connected`.
    """
    cut = []
    for tensor in tensors:
        if connected and tensor.requires_grad:
            cut.append(tensor.view_as(tensor))
        elif tensor.is_floating_point() or tensor.is_complex():
            cut.append(tensor.detach().requires_grad_())
        else:
            cut.append(tensor)
    return cut


def _evaluated(residual: Residual, x: Tensors, p: Tensors, by_x: bool, connected: bool) -> tuple[Tensors, Tensors]:
    x, p = _cut(x, connected), _cut(p, connected)
    return residual(x, p), [t for t in (x if by_x else p) if t.requires_grad]


def pull(residual: Residual, x: Tensors, p: Tensors, weights: Tensors, by_x: bool) -> Tensors:
    """Return weights times the Jacobian by x, or by p: zeros for members without derivative."""
    connected = wengert.is_grad_enabled()
    with enable_grad():
        outputs, targets = _evaluated(residual, x, p, by_x, connected)
        products = iter(pulled(outputs, targets, weights, connected))
    given = x if by_x else p
    return [next(products) if t.is_floating_point() or t.is_complex() else wengert.zeros_like(t) for t in given]


def push(residual: Residual, x: Tensors, p: Tensors, tangents: Tensors, by_x: bool) -> Tensors:
    """Return the Jacobian by x, or by p, times tangents; by two backward passes, so independent of dual levels."""
    connected = wengert.is_grad_enabled()
    given = x if by_x else p
    tangents = [t for t, v in zip(tangents, given, strict=True) if v.is_floating_point() or v.is_complex()]
    with enable_grad():
        outputs, targets = _evaluated(residual, x, p, by_x, connected)
        weights = [wengert.zeros_like(output, requires_grad=True) for output in outputs]
        return pulled(pulled(outputs, targets, weights, True), weights, tangents, connected)
