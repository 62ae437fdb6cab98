"""Regions in which variables are valid: where parameters of distributions may lie, and what distributions may give.

Those that need no argument are objects (``constraints.positive``), others are made (``constraints.interval(0, 1)``).
"""

from __future__ import annotations

from ._constraints import arrays as _arrays
from ._constraints import constraint as _constraint
from ._constraints import numbers as _numbers
from ._constraints.constraint import Constraint, MixtureSameFamilyConstraint, dependent_property, is_dependent

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property",
    "greater_than", "greater_than_eq", "half_open_interval", "independent", "integer_interval", "interval",
    "is_dependent", "less_than", "lower_cholesky", "lower_triangular", "multinomial", "nonnegative",
    "nonnegative_integer", "one_hot", "positive", "positive_definite", "positive_integer", "positive_semidefinite",
    "real", "real_vector", "simplex", "square", "stack", "symmetric", "unit_interval",
]  # fmt: skip

dependent = _constraint.Dependent()
independent = _constraint.IndependentConstraint
cat, stack = _constraint.Cat, _constraint.Stack

real, boolean = _numbers.Real(), _numbers.Boolean()
greater_than, greater_than_eq, less_than = _numbers.GreaterThan, _numbers.GreaterThanEq, _numbers.LessThan
interval, half_open_interval = _numbers.Interval, _numbers.HalfOpenInterval
integer_interval = _numbers.IntegerInterval
positive, nonnegative = greater_than(0.0), greater_than_eq(0.0)
positive_integer, nonnegative_integer = _numbers.IntegerGreaterThan(1), _numbers.IntegerGreaterThan(0)
unit_interval = interval(0.0, 1.0)

real_vector = independent(real, 1)
simplex, one_hot, multinomial = _arrays.Simplex(), _arrays.OneHot(), _arrays.Multinomial
lower_triangular, lower_cholesky = _arrays.LowerTriangular(), _arrays.LowerCholesky()
corr_cholesky = _arrays.CorrCholesky()
square, symmetric = _arrays.Square(), _arrays.Symmetric()
positive_semidefinite, positive_definite = _arrays.PositiveSemidefinite(), _arrays.PositiveDefinite()
