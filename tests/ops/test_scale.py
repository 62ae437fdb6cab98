"""Gradients and tangents scale with the data as values do: no squares of magnitudes that overflow or vanish on the way.

Where a result is homogeneous in an argument, f(s x) = s^d f(x), its derivatives are too: of degree d - 1 in this
argument, and of degree d in others on which d does not depend. It may be so for large x only, where an `eps` or a bound
no longer counts, or for small ones, as tanh(x) is x. Whether it is shows in float64 between 2^40 and 2^60, and between
2^-60 and 2^-40. Then it must hold at 2^498 and 2^-498, about 1e150 and 1e-150, and in float32 at 2^83 and 2^-83 (1e25,
1e-25), as far as the result and its derivatives are normal numbers. Powers of two change no digit, so little more than
rounding errors of the algorithm is allowed. The same is asked of all arguments together, where results are homogeneous
at all scales: products of arguments may leave the range of numbers before they meet a bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.ops.operations import DIFFERENTIABLE, Case, Operation, case
from wengert.autograd import forward_ad, grad

BASE, BESIDE, FAR = 40, 42, 60  # exponents where float64 shows what is homogeneous; and their negatives


@dataclass
class Precision:
    dtype: Any
    exponent: int  # where it must still hold
    low: float  # normal numbers
    high: float
    tolerance: float


FLOAT64 = Precision(wg.float64, 498, 1e-290, 1e290, 1e-8)
FLOAT32 = Precision(wg.float32, 83, 1e-33, 1e33, 2e-3)


@dataclass
class Part:
    """Something that should scale by s^degree: a value, a tangent or a gradient."""

    name: str
    array: np.ndarray
    degree: float

    def scaled(self, exponent: int) -> np.ndarray:
        with np.errstate(over="ignore"):
            return self.array * 2.0 ** (self.degree * exponent)

    def agrees(self, found: Part, exponent: int, precision: Precision) -> bool:
        """Within the tolerance of the largest element; True where that is no normal number."""
        if abs(self.degree * exponent) > 1000:
            return True
        expected = self.scaled(exponent)
        size = float(np.max(np.abs(expected), initial=0.0))
        if not precision.low < size < precision.high:
            return True
        return bool(np.all(np.abs(found.array - expected) <= precision.tolerance * size))


@dataclass
class Scaled:
    """A case where some of its arguments are multiplied by powers of two, and one of its results."""

    case: Case
    arguments: list[int]
    result: int = 0

    def tensors(self, exponent: int) -> list[Any]:
        return [t * 2.0**exponent if i in self.arguments else t for i, t in enumerate(self.case.tensors)]

    def value(self, exponent: int) -> float:
        return scalars(self.case, self.tensors(exponent))[self.result].item()

    def degree(self, sign: int) -> float | None:
        """d, where values at large scales, or small ones, are as s^d."""
        try:
            base, beside, far = (self.value(sign * e) for e in (BASE, BESIDE, FAR))
            opposite = self.value(-sign * BASE) if len(self.arguments) > 1 else None
        except RuntimeError:  # not defined at all scales, as what must be a probability
            return None
        if base == 0 or not all(math.isfinite(v) for v in (base, beside, far)) or far / base <= 0:
            return None
        d = math.log2(far / base) / (sign * (FAR - BASE))
        d = round(2 * d) / 2 if abs(2 * d - round(2 * d)) < 1e-6 else d

        def holds(value: float, exponent: int) -> bool:
            power = d * sign * (exponent - BASE)
            return abs(power) < 1000 and math.isclose(value, base * 2.0**power, rel_tol=1e-10)

        return d if holds(beside, BESIDE) and (opposite is None or holds(opposite, -BASE)) else None

    def parts(self, exponent: int, d: float) -> list[Part]:
        """Value, the tangent along a direction of the scaled arguments, and gradients."""
        leaves = [x.detach().clone().requires_grad_() for x in self.tensors(exponent)]
        y = scalars(self.case, leaves)[self.result]
        grads = grad(y, leaves, allow_unused=True, materialize_grads=True)
        with forward_ad.dual_level():
            duals = [
                forward_ad.make_dual(x.detach(), weights(x, 7)) if i in self.arguments else x
                for i, x in enumerate(leaves)
            ]
            t = forward_ad.unpack_dual(scalars(self.case, duals)[self.result]).tangent
        found = [Part("value", np.array(y.item()), d), Part("tangent", np.array(0.0 if t is None else t.item()), d - 1)]
        for i, ((name, *_), g) in enumerate(zip(self.case.paths, grads, strict=True)):
            found.append(Part(f"gradient of {name}", g.numpy(), d - 1 if i in self.arguments else d))
        return found

    def names(self) -> str:
        return ", ".join(self.case.paths[i][0] for i in self.arguments)


def weights(like: Any, k: int) -> Any:
    shape = tuple(like.shape)
    return wg.tensor(np.cos(np.arange(int(np.prod(shape))) + 1.0 + k).reshape(shape), dtype=wg.float64).to(like.dtype)


def scalars(c: Case, xs: list[Any]) -> list[Any]:
    """A number for each result."""
    results = [o for o in c.function(*xs) if o.dtype.is_floating_point or o.dtype.is_complex]
    products = [o * weights(o, k) for k, o in enumerate(results)]
    return [(p.real if p.dtype.is_complex else p).sum() for p in products]


def homogeneous(exact: Scaled, sign: int, d: float) -> list[bool]:
    """Which parts scale with their degree."""
    base, beside, far = (exact.parts(sign * e, d) for e in (BASE, BESIDE, FAR))
    return [
        p.agrees(q, sign * (BESIDE - BASE), FLOAT64) and p.agrees(r, sign * (FAR - BASE), FLOAT64)
        for p, q, r in zip(base, beside, far, strict=True)
    ]


def failures(exact: Scaled, rounded: Scaled, precision: Precision) -> Iterator[str]:
    """`exact` is the case in float64, where it shows what is homogeneous."""
    for sign in (1, -1):
        d = exact.degree(sign)
        if d is None:
            continue
        base, wanted = rounded.parts(sign * BASE, d), homogeneous(exact, sign, d)
        end, way = sign * precision.exponent, sign * (precision.exponent - BASE)
        if abs(d * way) > 1000 or not precision.low < abs(base[0].scaled(way)) < precision.high:
            continue
        for part, found, holds in zip(base, rounded.parts(end, d), wanted, strict=True):
            if holds and not part.agrees(found, way, precision):
                yield (
                    f"{part.name} where {exact.names()} * 2^{end}, of degree {part.degree:g}: "
                    f"{found.array} instead of {part.scaled(way)}"
                )


def cases(operation: Operation, dtype: Any) -> Iterator[Scaled]:
    """Each argument alone, and all together."""

    def convert(array: np.ndarray) -> Any:
        t = wg.tensor(array)
        return t.to(dtype) if t.dtype == wg.float64 else t

    for sample in operation.samples():
        c = case(operation, sample, convert)
        n = len(c.paths)
        for arguments in [[i] for i in range(n)] + ([list(range(n))] if n > 1 else []):
            for result in range(len(scalars(c, c.tensors))):
                yield Scaled(c, arguments, result)


@pytest.mark.parametrize("precision", [FLOAT64, FLOAT32], ids=["float64", "float32"])
@pytest.mark.parametrize("operation", DIFFERENTIABLE, ids=repr)
def test_derivatives_scale_with_the_data(operation: Operation, precision: Precision) -> None:
    if "scale" in operation.entry["exempt"]:
        pytest.skip(operation.entry["exempt"]["scale"])
    pairs = zip(cases(operation, wg.float64), cases(operation, precision.dtype), strict=True)
    found = [f for exact, rounded in pairs for f in failures(exact, rounded, precision)]
    assert not found, "\n".join(found)
