"""Sets of numbers."""

from __future__ import annotations

from typing import Any

from .constraint import Constraint


class Real(Constraint):
    """Every number but NaN."""

    def check(self, value: Any) -> Any:
        return value == value


class Boolean(Constraint):
    """0 and 1."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)


class GreaterThan(Constraint):
    """Numbers above a bound."""

    _bounds = ("lower_bound",)

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound

    def check(self, value: Any) -> Any:
        return self.lower_bound < value


class GreaterThanEq(GreaterThan):
    """Numbers from a bound on."""

    def check(self, value: Any) -> Any:
        return self.lower_bound <= value


class LessThan(Constraint):
    """Numbers below a bound."""

    _bounds = ("upper_bound",)

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        return value < self.upper_bound


class Interval(Constraint):
    """Numbers between two bounds, with both."""

    _bounds = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class HalfOpenInterval(Interval):
    """Numbers between two bounds, with the lower one."""

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value < self.upper_bound)


class IntegerInterval(Interval):
    """Integers between two bounds, with both."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & super().check(value)


class IntegerGreaterThan(GreaterThan):
    """Integers from a bound on."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (self.lower_bound <= value)
