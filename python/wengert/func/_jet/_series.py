"""Power series with coefficients that are computed when first asked for.

A coefficient is a tensor, a number, or None for zero. Recurrences refer to earlier coefficients of the series that they
define, which laziness makes safe to write down.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert

Coefficient = Any


class Series:
    """Coefficients c[0], c[1], ... of a power series."""

    __slots__ = ("_known", "_rule")

    def __init__(self, known: list[Coefficient], rule: Callable[[int], Coefficient]) -> None:
        self._known = known
        self._rule = rule

    def __getitem__(self, order: int) -> Coefficient:
        while len(self._known) <= order:
            self._known.append(self._rule(len(self._known)))
        return self._known[order]


def first(value: Any) -> Coefficient:
    """Return the value of a series at the point; anything else is its own value."""
    return value[0] if isinstance(value, Series) else value


def constant(value: Coefficient) -> Series:
    return Series([value], lambda _: None)


def plus(a: Coefficient, b: Coefficient) -> Coefficient:
    return b if a is None else a if b is None else a + b


def negated(a: Any) -> Any:
    if isinstance(a, Series):
        return Series([], lambda k: negated(a[k]))
    return None if a is None else -a


def add(a: Any, b: Any) -> Any:
    if not isinstance(a, Series) and not isinstance(b, Series):
        return plus(a, b)
    if not isinstance(a, Series):
        a, b = b, a
    if not isinstance(b, Series):
        return a if b is None else Series([plus(a[0], b)], lambda k: a[k])
    return Series([], lambda k: plus(a[k], b[k]))


def product(a: Any, b: Any, multiply: Callable[[Any, Any], Any] = lambda a, b: a * b) -> Any:
    """Return a product, by any bilinear operation: the convolution of coefficients."""
    if a is None or b is None:
        return None

    def term(x: Coefficient, y: Coefficient) -> Coefficient:
        return None if x is None or y is None else multiply(x, y)

    if not isinstance(a, Series) and not isinstance(b, Series):
        return term(a, b)
    if not isinstance(b, Series):
        return Series([], lambda k: term(a[k], b))
    if not isinstance(a, Series):
        return Series([], lambda k: term(a, b[k]))

    def rule(k: int) -> Coefficient:
        total = None
        for j in range(k + 1):
            total = plus(total, term(a[j], b[k - j]))
        return total

    return Series([], rule)


def quotient(a: Any, b: Any) -> Any:
    """Return a / b: multiplied by b, each coefficient must give that of a."""
    if a is None:
        return None
    if not isinstance(b, Series):
        return Series([], lambda k: None if a[k] is None else a[k] / b) if isinstance(a, Series) else a / b
    result: Series

    def rule(k: int) -> Coefficient:
        total = a[k] if isinstance(a, Series) else a if k == 0 else None
        for j in range(1, k + 1):
            if b[j] is not None and result[k - j] is not None:
                total = plus(total, -(b[j] * result[k - j]))
        return None if total is None else total / b[0]

    result = Series([], rule)
    return result


def power(a: Any, exponent: Any) -> Any:
    """Return a ** exponent for an exponent that does not vary."""
    if not isinstance(a, Series):
        return a**exponent
    if isinstance(exponent, (int, float)) and float(exponent).is_integer() and 0 <= exponent <= 64:
        return _whole_power(a, int(exponent))
    result: Series

    def rule(k: int) -> Coefficient:  # from a y' = exponent a' y
        total = None
        for j in range(1, k + 1):
            if a[j] is not None and result[k - j] is not None:
                total = plus(total, (exponent * j - (k - j)) * (a[j] * result[k - j]))
        return None if total is None else total / (k * a[0])

    result = Series([a[0] ** exponent], rule)
    return result


def _whole_power(a: Series, exponent: int) -> Any:
    if exponent == 0:
        return constant(wengert.ones_like(a[0]) if isinstance(a[0], wengert.Tensor) else 1.0)
    result = a
    for bit in bin(exponent)[3:]:
        result = product(result, result)
        if bit == "1":
            result = product(result, a)
    return result


def derivative(a: Any) -> Any:
    """Return the series of the derivative along the curve; None if there is none."""
    if not isinstance(a, Series):
        return None
    return Series([], lambda k: None if a[k + 1] is None else (k + 1) * a[k + 1])


def coefficient(a: Any, order: int) -> Coefficient:
    return a[order] if isinstance(a, Series) else a if order == 0 else None


def chosen(mask: Any, a: Any, b: Any) -> Any:
    """Return a where a mask holds and b elsewhere."""

    def pick(x: Coefficient, y: Coefficient) -> Coefficient:
        if x is None and y is None:
            return None
        if not isinstance(x, wengert.Tensor) and not isinstance(y, wengert.Tensor):
            x = wengert.tensor(
                x or 0, dtype=wengert.float64
            )  # a number has no dtype: that of the result is put on later
        return wengert.where(mask, 0.0 if x is None else x, 0.0 if y is None else y)

    if not isinstance(a, Series) and not isinstance(b, Series):
        return pick(a, b)
    return Series([], lambda k: pick(coefficient(a, k), coefficient(b, k)))


def mapped(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return a function that is linear in all arguments together, applied to the coefficients of each order."""

    def apply(k: int) -> Coefficient:
        terms = [coefficient(a, k) for a in arguments]
        if all(term is None for term in terms):
            return None
        filled = [wengert.zeros_like(first(a)) if t is None else t for a, t in zip(arguments, terms, strict=True)]
        return function(*filled)

    return Series([], apply)
