"""The tests of the table are tested: each kind of wrong formula is caught by one of them.

A wrong operation is a row's entry with a custom Function in place of the operation; each class below gets one thing
wrong of `x * x * y`, which the right one shows to be the only reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.ops import test_batching, test_derivatives, test_layouts, test_scale
from tests.ops.operations import OPERATIONS, Operation
from wengert.autograd import Function


def conj(t: Any) -> Any:
    return t.conj() if t.dtype.is_complex else t


def fitted(g: Any, t: Any) -> Any:
    """Sums where t was broadcast."""
    return g.sum_to_size(t.shape)


class Right(Function):
    """x * x * y"""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        return x * x * y

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @classmethod
    def partials(cls, x: Any, y: Any) -> tuple[Any, Any]:
        return 2 * x * y, x * x

    @classmethod
    def backward(cls, ctx: Any, g: Any) -> Any:
        x, y = ctx.saved_tensors
        of_x, of_y = cls.partials(x, y)
        return fitted(g * conj(of_x), x), fitted(g * conj(of_y), y)

    @classmethod
    def jvp(cls, ctx: Any, x_t: Any, y_t: Any) -> Any:
        x, y = ctx.saved_tensors
        of_x, of_y = cls.partials(x, y)
        return x_t * of_x + y_t * of_y


class WrongReverse(Right):
    @classmethod
    def backward(cls, ctx: Any, g: Any) -> Any:
        gx, gy = Right.backward.__func__(cls, ctx, g)
        return gx * 1.01, gy


class WrongForward(Right):
    @classmethod
    def jvp(cls, ctx: Any, x_t: Any, y_t: Any) -> Any:
        x, y = ctx.saved_tensors
        return x_t * (2 * x * y) - y_t * (x * x)


class ForgottenTangent(Right):
    @classmethod
    def jvp(cls, ctx: Any, x_t: Any, y_t: Any) -> Any:
        x, y = ctx.saved_tensors
        return x_t * (2 * x * y) + 0 * y_t


class NotConjugated(Right):
    """Right for real numbers."""

    @classmethod
    def backward(cls, ctx: Any, g: Any) -> Any:
        x, y = ctx.saved_tensors
        return fitted(g * 2 * x * y, x), fitted(g * x * x, y)


class ConjugatedTangent(Right):
    @classmethod
    def jvp(cls, ctx: Any, x_t: Any, y_t: Any) -> Any:
        x, y = ctx.saved_tensors
        return x_t * conj(2 * x * y) + y_t * conj(x * x)


class NotReduced(Right):
    """Right where nothing was broadcast: of a sum over broadcast elements it takes the first."""

    @classmethod
    def backward(cls, ctx: Any, g: Any) -> Any:
        x, y = ctx.saved_tensors

        def first(t: Any, like: Any) -> Any:
            while t.dim() > like.dim():
                t = t.select(0, 0)
            for d, size in enumerate(like.shape):
                t = t.narrow(d, 0, size)
            return t

        return first(g * conj(2 * x * y), x), first(g * conj(x * x), y)


class ThroughCubes(Right):
    """Right but for magnitudes whose cubes overflow or vanish."""

    @classmethod
    def partials(cls, x: Any, y: Any) -> tuple[Any, Any]:
        return 2 * x * (y * y * y / (y * y)), x * x


class Detached(Right):
    """Right once: the second derivative misses a term."""

    @classmethod
    def partials(cls, x: Any, y: Any) -> tuple[Any, Any]:
        return 2 * x * y.detach(), x * x


class WrongWhenRecorded(Right):
    """The derivative that is computed in one pass is right, the recorded one is another."""

    @classmethod
    def partials(cls, x: Any, y: Any) -> tuple[Any, Any]:
        return 2 * x * y * (1 + 1e-9 * wg.is_grad_enabled()), x * x


class OfContiguousGradients(Right):
    """Reads a gradient as if it were dense."""

    @classmethod
    def backward(cls, ctx: Any, g: Any) -> Any:
        if not g.is_contiguous():
            g = g.as_strided(g.shape, g.stride(), 0) * 0
        return Right.backward.__func__(cls, ctx, g)


class WrongThird(Right):
    """First and second derivatives are right, the third is not."""

    @classmethod
    def partials(cls, x: Any, y: Any) -> tuple[Any, Any]:
        lost = (x.detach() - x) ** 2  # 0, with the second derivative 2
        return (2 * x + lost) * y, x * x


@dataclass(frozen=True)
class Wrong(Operation):
    """A row that computes with one of the classes."""

    cls: Any = None

    @property
    def function(self) -> Callable[..., Any]:  # type: ignore[override]
        return lambda self_, other: self.cls.apply(self_, other)

    def __repr__(self) -> str:
        return "mul"


def wrong(cls: Any) -> Wrong:
    entry = next(o.entry for o in OPERATIONS if o.name == "mul")
    arguments = [{**a, "type": "Tensor"} for a in entry["arguments"]]
    return Wrong({**entry, "arguments": arguments, "form": "explicit"}, cls)


def second_derivatives(operation: Operation) -> None:
    for mode in test_derivatives.MODES:
        test_derivatives.test_second_derivatives_agree(operation, mode)


PROPERTIES: dict[str, Callable[[Operation], None]] = {
    "gradcheck": test_derivatives.test_gradcheck,
    "gradgradcheck": test_derivatives.test_gradgradcheck,
    "complex gradcheck": test_derivatives.test_gradcheck_of_complex_numbers,
    "complex gradgradcheck": test_derivatives.test_gradgradcheck_of_complex_numbers,
    "forward is reverse": test_derivatives.test_forward_agrees_with_reverse,
    "modes": second_derivatives,
    "third order": test_derivatives.test_third_order,
    "fused is recorded": test_derivatives.test_fused_derivative_equals_recorded_one,
    "cotangents": test_layouts.test_layout_of_cotangents,
    "scale": lambda operation: test_scale.test_derivatives_scale_with_the_data(operation, test_scale.FLOAT64),
}

# What notices it, and what cannot.
CAUGHT = [
    (WrongReverse, {"gradcheck", "complex gradcheck", "forward is reverse"}, set()),
    (WrongForward, {"gradcheck", "complex gradcheck", "forward is reverse"}, {"third order", "cotangents"}),
    (ForgottenTangent, {"gradcheck", "forward is reverse"}, {"third order", "cotangents"}),
    (NotConjugated, {"complex gradcheck"}, {"gradcheck", "modes"}),
    (ConjugatedTangent, {"complex gradcheck"}, {"gradcheck", "modes"}),
    (NotReduced, {"gradcheck", "forward is reverse"}, {"cotangents"}),
    (ThroughCubes, {"scale"}, {"gradcheck", "gradgradcheck"}),
    (Detached, {"gradgradcheck", "complex gradgradcheck"}, {"gradcheck"}),
    (WrongWhenRecorded, {"fused is recorded"}, {"gradcheck"}),
    (OfContiguousGradients, {"cotangents"}, {"third order"}),
    (WrongThird, {"third order"}, {"gradcheck", "gradgradcheck"}),
]


@pytest.mark.parametrize("name", PROPERTIES)
def test_right_formulas_pass(name: str) -> None:
    PROPERTIES[name](wrong(Right))


@pytest.mark.parametrize(("cls", "name"), [(c, n) for c, names, _ in CAUGHT for n in sorted(names)])
def test_wrong_formulas_are_caught(cls: Any, name: str) -> None:
    with pytest.raises((AssertionError, RuntimeError)):
        PROPERTIES[name](wrong(cls))


@pytest.mark.parametrize(("cls", "name"), [(c, n) for c, _, names in CAUGHT for n in sorted(names)])
def test_by_nothing_but_its_fault(cls: Any, name: str) -> None:
    """Elsewhere it is right: what catches it is the property that it lacks."""
    PROPERTIES[name](wrong(cls))


def test_wrong_batches_are_caught() -> None:
    class WrongBatch(Right):
        generate_vmap_rule = False

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any, y: Any) -> Any:
            x, y = (t if d is None else t.movedim(d, 0) for t, d in zip((x, y), in_dims, strict=True))
            return x * x * y, 0  # right if both are mapped and have one rank

    operation = wrong(WrongBatch)
    with pytest.raises((AssertionError, RuntimeError)):
        test_batching.check(operation, {"self": np.ones((2, 3)), "other": np.arange(3.0)})
