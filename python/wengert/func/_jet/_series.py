"""Power series with coefficients that are computed when first asked for.

A coefficient is a tensor, or None for zero. Recurrences refer to earlier coefficients of the series that they define,
which laziness makes safe to write down.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Coefficient = Any


class Series:
    """Coefficients c[0], c[1], ... of a power series."""

    __slots__ = ("_known", "_rule")

    def __init__(self, known: list[Coefficient], rule: Callable[[int], Coefficient]) -> None:
        self._known = known
        self._rule = rule

    def __getitem__(self, order: int) -> Coefficient:
        self.up_to(order)
        return self._known[order]

    def up_to(self, order: int) -> None:
        """Compute the coefficients up to an order."""
        while len(self._known) <= order:
            self._known.append(self._rule(len(self._known)))


def coefficient(a: Any, order: int) -> Coefficient:
    """Return one coefficient of a series, or of a constant."""
    return a[order] if isinstance(a, Series) else a if order == 0 else None


def plus(a: Coefficient, b: Coefficient) -> Coefficient:
    """Return a sum."""
    return b if a is None else a if b is None else a + b


def product(a: Any, b: Any, multiply: Callable[[Any, Any], Any]) -> Series:
    """Return a product, by any bilinear operation: the convolution of coefficients."""

    def rule(k: int) -> Coefficient:
        total = None
        for j in range(k + 1):
            x, y = coefficient(a, j), coefficient(b, k - j)
            if x is not None and y is not None:
                total = plus(total, multiply(x, y))
        return total

    return Series([], rule)


def derivative(a: Series) -> Series:
    """Return the series of the derivative along the curve."""
    return Series([], lambda k: None if a[k + 1] is None else (k + 1) * a[k + 1])
