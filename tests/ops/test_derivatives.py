"""Derivatives of every operation: reverse and forward mode and their combinations, to third order.

One test for each property and row of the table. References are finite differences for first derivatives; beyond them
the modes are held against each other, and third derivatives against differences of second ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.ops.operations import DIFFERENTIABLE, Case, Operation, cases, scalarized
from wengert.autograd import forward_ad, grad, gradcheck, gradgradcheck

COMPLEX = [o for o in DIFFERENTIABLE if o.allows_complex]
each = pytest.mark.parametrize("operation", DIFFERENTIABLE, ids=repr)
each_complex = pytest.mark.parametrize("operation", COMPLEX, ids=repr)


def directions(c: Case, k: int = 0) -> list[Any]:
    return [direction(t, 0.7 + k + i) for i, t in enumerate(c.tensors)]


def direction(t: Any, phase: float) -> Any:
    angles = np.arange(t.numel()).reshape(t.shape) * 1.3 + phase
    return wg.tensor(np.sin(angles) + 1j * np.cos(angles * 0.9) if t.dtype.is_complex else np.sin(angles))


def inner(xs: Any, ys: Any) -> Any:
    """The real inner product: of a gradient and a direction it is the change along that."""
    products = [x.conj() * y for x, y in zip(xs, ys, strict=True) if x is not None]
    return sum(((p.real if p.dtype.is_complex else p).sum() for p in products), wg.zeros((), dtype=wg.float64))


def gradients(c: Case, xs: list[Any], *, create_graph: bool = False) -> list[Any]:
    y = scalarized(c, *xs)
    if not y.requires_grad:
        return [wg.zeros_like(x) for x in xs]
    return list(grad(y, xs, create_graph=create_graph, allow_unused=True, materialize_grads=True))


def tangent(value: Any, like: Any = None) -> Any:
    t = forward_ad.unpack_dual(value).tangent
    return wg.zeros_like(value if like is None else like) if t is None else t


def close(a: Any, b: Any, rtol: float = 1e-9, atol: float = 1e-11) -> None:
    for x, y in zip(a, b, strict=True):
        np.testing.assert_allclose(x.detach().numpy(), y.detach().numpy(), rtol=rtol, atol=atol)


@each
def test_gradcheck(operation: Operation) -> None:
    for c in cases(operation):
        assert gradcheck(c.function, tuple(c.leaves()), check_forward_ad=True)


@each
def test_gradgradcheck(operation: Operation) -> None:
    for c in cases(operation):
        assert gradgradcheck(c.function, tuple(c.leaves()), check_fwd_over_rev=True, fast_mode=len(c.paths) > 2)


@each_complex
def test_gradcheck_of_complex_numbers(operation: Operation) -> None:
    for c in cases(operation, is_complex=True):
        assert gradcheck(c.function, tuple(c.leaves()), check_forward_ad=True)


@each_complex
def test_gradgradcheck_of_complex_numbers(operation: Operation) -> None:
    for c in list(cases(operation, is_complex=True))[:2]:
        assert gradgradcheck(c.function, tuple(c.leaves()), check_fwd_over_rev=True, fast_mode=True)


@each
def test_forward_agrees_with_reverse(operation: Operation) -> None:
    """<gradient, v> = tangent along v."""
    for c in cases(operation):
        v = directions(c)
        with forward_ad.dual_level():
            y = scalarized(c, *map(forward_ad.make_dual, c.tensors, v))
            forward = tangent(y)
        close([inner(gradients(c, c.leaves()), v)], [forward])


def hessian_products(c: Case, mode: str) -> list[Any] | Any:
    """H v, or v' H v where the mode gives only numbers."""
    v = directions(c)
    if mode == "rev-over-rev":
        xs = c.leaves()
        product = inner(gradients(c, xs, create_graph=True), v)
        return list(grad(product, xs, allow_unused=True, materialize_grads=True)) if product.requires_grad else None
    if mode == "fwd-over-rev":
        xs = c.leaves()
        with forward_ad.dual_level():
            duals = [forward_ad.make_dual(x, t) for x, t in zip(xs, v, strict=True)]
            return [tangent(g, x) for g, x in zip(gradients(c, duals, create_graph=True), xs, strict=True)]
    if mode == "rev-over-fwd":
        xs = c.leaves()
        with forward_ad.dual_level():
            y = tangent(scalarized(c, *(forward_ad.make_dual(x, t) for x, t in zip(xs, v, strict=True))))
            if not y.requires_grad:
                return [wg.zeros_like(x) for x in xs]
            return list(grad(y, xs, allow_unused=True, materialize_grads=True))
    with forward_ad.dual_level():
        outer = [forward_ad.make_dual(x, t) for x, t in zip(c.tensors, v, strict=True)]
        with forward_ad.dual_level():
            y = tangent(scalarized(c, *(forward_ad.make_dual(x, t) for x, t in zip(outer, v, strict=True))))
        return tangent(y)


MODES = ("fwd-over-rev", "rev-over-fwd", "fwd-over-fwd")


def check_modes(c: Case, modes: Sequence[str]) -> None:
    reference = hessian_products(c, "rev-over-rev") or [wg.zeros_like(t) for t in c.tensors]
    for mode in modes:
        product = hessian_products(c, mode)
        if mode == "fwd-over-fwd":
            close([product], [inner(reference, directions(c))])
        else:
            close(product, reference)


@each
@pytest.mark.parametrize("mode", MODES)
def test_second_derivatives_agree(operation: Operation, mode: str) -> None:
    for c in cases(operation):
        check_modes(c, [mode])


@each_complex
def test_second_derivatives_of_complex_numbers_agree(operation: Operation) -> None:
    for c in islice(cases(operation, is_complex=True), 2):
        check_modes(c, MODES)


@each
def test_third_order(operation: Operation) -> None:
    check_third_order(next(cases(operation)))


@each_complex
def test_third_order_of_complex_numbers(operation: Operation) -> None:
    check_third_order(next(cases(operation, is_complex=True)))


def check_third_order(c: Case) -> None:
    """d/dx of v' H v, against central differences of v' H v."""
    v, w = directions(c), directions(c, 1)

    def curvature(xs: list[Any], create_graph: bool) -> Any:
        first = inner(gradients(c, xs, create_graph=True), v)
        if not first.requires_grad:
            return first
        second = grad(first, xs, create_graph=create_graph, allow_unused=True, materialize_grads=True)
        return inner(second, v)

    xs = c.leaves()
    y = curvature(xs, True)
    third = (
        grad(y, xs, allow_unused=True, materialize_grads=True) if y.requires_grad else [wg.zeros_like(x) for x in xs]
    )
    h = 1e-5
    shifted = [
        curvature([(t + s * h * d).detach().requires_grad_() for t, d in zip(c.tensors, w, strict=True)], False)
        for s in (1, -1)
    ]
    np.testing.assert_allclose(
        inner(third, w).item(), ((shifted[0] - shifted[1]) / (2 * h)).item(), rtol=1e-4, atol=1e-5
    )


@each
def test_fused_derivative_equals_recorded_one(operation: Operation) -> None:
    """What backward computes in one pass, and what it computes when it is recorded itself."""
    for c in cases(operation):
        xs = c.leaves()
        tolerance = {"rtol": 1e-13, "atol": 1e-300} if operation.elementwise else {"rtol": 1e-9, "atol": 1e-12}
        close(gradients(c, xs), gradients(c, xs, create_graph=True), **tolerance)


def without_fraction(c: Case, name: str) -> tuple[Case, Case] | None:
    """The case with whole numbers as one operand: of dtype int64, and of the dtype of the others."""
    whole = c.values[name].round().to(wg.int64)
    paths = [p for p in c.paths if p[0] != name]
    return tuple(replace(c, values={**c.values, name: v}, paths=paths) for v in (whole, whole.to(wg.float64)))


@pytest.mark.parametrize("operation", [o for o in DIFFERENTIABLE if o.form == "elementwise"], ids=repr)
def test_whole_numbers_beside_float64(operation: Operation) -> None:
    """Derivatives are computed in the dtype of the gradient, also by the formulas that are recorded."""
    for c in cases(operation):
        for name in {n for n, _ in c.paths} if len(c.paths) > 1 else ():
            integral, floating = without_fraction(c, name)
            for create_graph in (False, True):
                actual, expected = (gradients(x, x.leaves(), create_graph=create_graph) for x in (integral, floating))
                close(actual, expected, rtol=1e-13, atol=1e-300)
            tangents = []
            for x in (integral, floating):
                with forward_ad.dual_level():
                    duals = map(forward_ad.make_dual, x.tensors, directions(x))
                    tangents.append(tangent(scalarized(x, *duals)))
            close(tangents[:1], tangents[1:], rtol=1e-13)


@pytest.mark.parametrize("operation", [o for o in DIFFERENTIABLE if o.form != "compose"], ids=repr)
def test_node(operation: Operation) -> None:
    """Samples reach this row, if also another overload of its name, and nodes are those that the table names."""
    overloads = {name for o in DIFFERENTIABLE if o.python == operation.python for name in o.node_names}
    nodes = set()
    for c in cases(operation):
        xs = c.leaves()
        raw = replace(c, sample=replace(c.sample, unique=None)).function(*xs)
        # A conversion to what the tensor is already returns it as it is.
        outputs = [o for o in raw if o.requires_grad and not any(o is x for x in xs)]
        nodes |= {o.grad_fn.name() for o in outputs}
    assert nodes & set(operation.node_names) or operation.entry["name"] in ("to_dtype", "on_device", "sum_to_size")
    assert nodes <= overloads
